package report

import (
	_ "embed"
	"io"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
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
func Audit(w io.Writer, r *audit.Report, paint output.Paint) error {
	return output.Layout{Paint: paint, Indent: "  ", FaintHeads: true}.Execute(w, auditTemplate, template.FuncMap{
		"octets":   words.Octets,
		"number":   func(i int) int { return i + 1 },
		"sections": func() []section.Section { return r.Sections(maxRows) },
	}, r)
}
