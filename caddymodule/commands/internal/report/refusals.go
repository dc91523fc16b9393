package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/decided"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

//go:embed refusals.txt
var refusalsTemplate string

// Refusals writes which requests Caddy refused, as text.
func Refusals(w io.Writer, r *decided.Refusals, paint output.Paint) error {
	return output.Layout{Paint: paint, Indent: "  ", FaintHeads: true}.Execute(w, refusalsTemplate, template.FuncMap{
		"why": func(q *decided.Request) string { return why(q, r.Sources) },
	}, r)
}

// Forbidden writes a request that a rule forbade as a line of text.
func Forbidden(w io.Writer, r *decided.Request) error {
	_, err := fmt.Fprintln(w, output.Visible(fmt.Sprintf("%s  %s  %s  %s %s%s  %d  %s: %s  %s", cmp.Or(r.Time, "(no time)"), r.Client, r.Robots.Verified,
		r.Method, r.Host, r.Target, r.Status, r.Robots.Action, r.Robots.Place(), r.Agent)))
	return err
}

// why returns the decision on a request. sources are the versions of robots.txt that are known.
func why(r *decided.Request, sources []audit.Source) string {
	if r.Robots == nil {
		return "The robots handler of the site took " + r.Agent + " for a browser or app, or did not get this request. Another handler decided."
	}
	text := (&verdict.Check{Decision: *r.Robots}).Text()
	if r.Robots.Version != "" && r.Robots.GraceEnds == "" {
		text += ", version " + r.Robots.Version
		if i := slices.IndexFunc(sources, func(s audit.Source) bool { return s.Tag == r.Robots.Version }); i >= 0 {
			text += " (" + sources[i].Name + ")"
		}
	}
	return text
}
