package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed page.html
var markup string

//go:embed page.css
var style string

//go:embed page.js
var script string

// Write writes the report as an HTML page. The only error is that of w.
func Write(w io.Writer, r *audit.Report) error {
	v := newView(r)
	tmpl := template.Must(template.New("page").Funcs(template.FuncMap{
		"policy":      func() string { return policy },
		"style":       func() template.CSS { return template.CSS(style) },
		"script":      func() template.JS { return template.JS(script) },
		"count":       words.Count[int64],
		"has":         slices.Contains[[]string],
		"octets":      words.Octets,
		"split":       func(s string) []string { return strings.Split(s, "\n") },
		"plural":      words.Plural[int64],
		"lines":       words.Plural[int],
		"name":        func(s string) template.HTML { return strange(maxName, s) },
		"text":        func(s string) template.HTML { return strange(maxText, s) },
		"plain":       func(s string) string { return plain(maxName, s) },
		"moment":      moment,
		"seconds":     words.Seconds,
		"shares":      Shares,
		"cut":         func(list []cost.Client) []cost.Client { return list[:min(len(list), maxLineAgents)] },
		"short":       words.Short,
		"share":       share,
		"estimated":   func(figure string) bool { return slices.Contains(r.Estimates, figure) },
		"label":       label,
		"kind":        kind,
		"errors":      errors,
		"allowed":     allowed,
		"refused":     refused,
		"requests":    requests,
		"bars":        bars,
		"part":        func(kind string, n int64) part { return part{kind, n} },
		"paceBar":     paceBar,
		"paceTicks":   paceTicks,
		"allowedPace": func() string { return percent(logarithmic(1), 1) },
		"where":       where,
		"place":       v.places.of,
	}).Parse(markup))
	buf := bufio.NewWriterSize(w, 64<<10)
	if err := tmpl.Execute(buf, v); err != nil {
		return err
	}
	return buf.Flush()
}

// policy is the Content-Security-Policy of the page. It allows the script and the style
// of the page, and the icon in its data: URL.
var policy = "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
	"; img-src data:; base-uri 'none'; form-action 'none'"

// hash returns the source expression that allows an inline script or style.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
