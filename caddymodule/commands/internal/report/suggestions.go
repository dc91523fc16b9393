package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed suggestions.txt
var suggestionsTemplate string

// Suggestions writes the suggestions of an audit as a Caddyfile: a site with a robots
// block.
func Suggestions(w io.Writer, r *audit.Report) error {
	return cli.Layout{}.Execute(w, suggestionsTemplate, template.FuncMap{
		"all": func() string { return audit.Saved{Sum: r.Suggested.Whole}.Words() },
		"asks": func() bool {
			return slices.ContainsFunc(r.Suggestions, func(s audit.Suggestion) bool { return s.Asks })
		},
		"directives": func() string { return indented("\t\t", directives(r.Suggestions, nil)) },
	}, r)
}

// Commented returns the notes and suggestions as comments in a block that has lines, "" without any: r
// may be nil.
func Commented(r *audit.Report, lines []string) string {
	if r == nil {
		return ""
	}
	notes := "\n\t# The log suggests these lines. To use one, remove the # at the start of its lines.\n"
	for _, note := range r.Suggested.Notes {
		notes += "\t# " + cli.Visible(note) + "\n"
	}
	return notes + indented("\t#", directives(r.Suggestions, lines))
}

// indented returns a text with a prefix before each line.
func indented(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + line)
	}
	return b.String()
}

// directive is a suggested line, with what it would have saved as a comment before it.
type directive struct{ why, head, body string }

// directives returns the suggested lines. Those of a step that takes one line are one, also with one
// that is given.
func directives(list []audit.Suggestion, given []string) string {
	var all []directive
	at := make(map[string]int) // index in all of the line of such a step
	for i := range list {
		s := &list[i]
		d := directive{why: fmt.Sprintf("# %d. Saves %s, from %s addresses.\n# It %s.\n", i+1, s.Words(), words.Count(s.Addresses),
			cli.Visible(s.Why))}
		d.head, d.body, _ = strings.Cut(strings.TrimSuffix(s.Text, "\n}"), " {\n")
		before, known := at[s.Kind]
		if s.Once && known {
			all[before].join(&d, s.Kind)
			continue
		}
		at[s.Kind] = len(all)
		i := slices.IndexFunc(given, func(line string) bool { return strings.HasPrefix(line, s.Kind+" ") })
		if s.Once && i >= 0 {
			all = append(all, directive{why: "# In place of " + given[i] + " above:\n", head: given[i]})
			all[at[s.Kind]].join(&d, s.Kind)
			continue
		}
		all = append(all, d)
	}
	var b strings.Builder
	for _, d := range all {
		b.WriteString(d.why + d.head)
		if d.body != "" {
			b.WriteString(" {\n" + strings.TrimSuffix(d.body, "\n") + "\n}")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// join adds another line of a step.
func (d *directive) join(other *directive, name string) {
	d.head += strings.TrimPrefix(other.head, name)
	if other.body == "" {
		d.why += other.why
		return
	}
	d.body = strings.TrimPrefix(d.body+"\n", "\n") + indented("\t", other.why) + other.body
}
