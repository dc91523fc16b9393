package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/evidence"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed refusals.txt
var refusalsTemplate string

//go:embed evidence.txt
var evidenceTemplate string

// Refusals writes which requests Caddy refused, as text.
func Refusals(w io.Writer, r *evidence.Refusals, paint Paint) error {
	return Layout{Paint: paint, Indent: "  ", Heads: faint}.Execute(w, refusalsTemplate, template.FuncMap{
		"summary": func() string { return refusalsSummary(r) }, "outcome": outcome, "place": placeOf,
		"why": func(q *evidence.Request) string { return why(q, r.Sources) },
	}, r)
}

// Evidence writes what the logs have of one crawler, as text.
func Evidence(w io.Writer, v *evidence.Evidence) error {
	return Layout{Indent: "  "}.Execute(w, evidenceTemplate, template.FuncMap{"place": placeOf}, v)
}

// refusalsSummary returns the first line.
func refusalsSummary(r *evidence.Refusals) string {
	text := fmt.Sprintf("Caddy refused %s of %s", words.Count(r.Refused), words.Plural(r.Requests, "request", "requests"))
	if len(r.Hosts) > 0 {
		text += " for " + words.List(r.Hosts, 5)
	}
	if r.WouldRefuse > 0 {
		text += fmt.Sprintf(", and would have refused %s more without mode monitor", words.Count(r.WouldRefuse))
	}
	if r.Requests == 0 && r.Narrow {
		text = "The log has no such request at that time"
	}
	return text + "."
}

// placeOf returns the line that decided.
func placeOf(d *verdict.Decision) string {
	if d.Line == 0 {
		return cmp.Or(d.Rule, "-")
	}
	text := fmt.Sprintf("line %d of %s", d.Line, cmp.Or(d.File, "the configuration"))
	if d.Rule != "" {
		text += ": " + d.Rule
	}
	return text
}

// outcome says what happened to a request.
func outcome(r *evidence.Request) string {
	switch d := r.Robots; {
	case d == nil:
		return fmt.Sprintf("status %d, not by the robots handler", r.Status)
	case strings.HasPrefix(d.Action, "would_"):
		return fmt.Sprintf("status %d; without mode monitor, it would have been refused", r.Status)
	case d.Action == judge.Pass.String():
		return fmt.Sprintf("the robots handler let it pass, status %d", r.Status)
	}
	return fmt.Sprintf("refused with %d", r.Status)
}

// why returns the decision on a request. sources are the versions of robots.txt that are known.
func why(r *evidence.Request, sources []audit.Source) string {
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
