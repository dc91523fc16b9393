package page

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/section"
	"github.com/caddy-robots/caddy-robots/internal/visible"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed page.html
var markup string

//go:embed page.css
var style string

// maxRows is the largest number of rows of a table in the page. The JSON report has all.
const maxRows = 500

// maxText is the largest length of a text, in runes.
const maxText = 400

// view is the data of the template.
type view struct {
	*audit.Report
	Title    string
	Sections []section.Section
}

// Write writes the report as an HTML page. The only error is that of w.
func Write(w io.Writer, r *audit.Report) error {
	tmpl := template.Must(template.New("page").Funcs(template.FuncMap{
		"policy": func() string { return policy },
		"style":  func() template.CSS { return template.CSS(style) },
		"split":  func(s string) []string { return strings.Split(s, "\n") },
		"text":   strange,
	}).Parse(markup))
	var hosts []string
	for _, h := range r.Hosts {
		hosts = append(hosts, strange(h.Name))
	}
	buf := bufio.NewWriterSize(w, 64<<10)
	if err := tmpl.Execute(buf, view{r, cmp.Or(words.List(hosts, 3), "Access log"), r.Sections(maxRows)}); err != nil {
		return err
	}
	return buf.Flush()
}

// policy is the Content-Security-Policy of the page. It allows the style of the page, and
// the icon in its data: URL.
var policy = "default-src 'none'; style-src " + hash(style) + "; img-src data:; base-uri 'none'; form-action 'none'"

// hash returns the source expression that allows an inline style.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// strange returns text that a stranger may have written, cut after maxText runes, with
// escapes in place of invisible characters. The template escapes the rest.
func strange(s string) string {
	text := []rune(visible.Text(s))
	if len(text) > maxText {
		return string(text[:maxText]) + "…"
	}
	return string(text)
}
