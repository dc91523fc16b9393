package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/section"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed audit.txt
var auditTemplate string

// maxRows is the largest number of rows of a table.
const maxRows = 40

// Audit writes the report of an audit as text. It escapes control characters from
// logs and robots.txt files.
func Audit(w io.Writer, r *audit.Report, paint cli.Paint) error {
	return cli.Layout{Paint: paint, Indent: "  ", FaintHeads: true}.Execute(w, auditTemplate, template.FuncMap{
		"octets":   words.Octets,
		"number":   func(i int) int { return i + 1 },
		"sections": func() []section.Section { return r.Sections(maxRows) },
	}, r)
}

// Forbidden writes a request that a rule forbade as a line of text.
func Forbidden(w io.Writer, r *audit.Request) error {
	_, err := fmt.Fprintln(w, cli.Visible(fmt.Sprintf("%s  %s  %s  %s %s%s  %d  %s: %s  %s", cmp.Or(r.Time, "(no time)"), r.Client, r.Robots.Verified,
		r.Method, r.Host, r.Target, r.Status, r.Robots.Action, r.Robots.Place(), r.Agent)))
	return err
}
