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
		"sum": sum,
		"all": func() string { return sum(audit.Saved{Sum: r.Suggested.Whole}) },
		"any": func(kind string) bool {
			return slices.ContainsFunc(r.Suggestions, func(s audit.Suggestion) bool { return s.Kind == kind })
		},
		"directives": func() string { return indented("\t\t", directives(r.Suggestions)) },
	}, r)
}

// Commented returns the suggestions as comments in a robots block, "" without any.
func Commented(r *audit.Report) string {
	if len(r.Suggestions) == 0 {
		return ""
	}
	return "\n\t# The log suggests these lines. To use one, remove the # at the start of its lines.\n" + indented("\t#", directives(r.Suggestions))
}

// indented returns a text with a prefix before each line.
func indented(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + line)
	}
	return b.String()
}

// directives returns the subdirectives: first one policy with the statements of all
// suggested ones, then the limits and challenge. Each has what it would have saved before it.
func directives(list []audit.Suggestion) string {
	head, presets, statements, others := "policy", "", "", ""
	for i, s := range list {
		why := fmt.Sprintf("# %d. Saves %s. Sure: %s, by %s addresses.\n# It %s.\n", i+1, sum(s.Saved), s.Sure, words.Count(int64(s.Addresses)),
			cli.Visible(s.Why))
		first, rest, _ := strings.Cut(s.Text, "\n")
		switch preset, isPolicy := strings.CutPrefix(first, "policy "); {
		case !isPolicy:
			others += why + s.Text + "\n"
		case preset == "{":
			statements += why + strings.TrimSpace(strings.TrimSuffix(rest, "}")) + "\n"
		default:
			head += " " + preset
			presets += why
		}
	}
	switch {
	case statements != "":
		head += " {\n" + indented("\t", statements) + "}\n"
	case presets != "":
		head += "\n"
	default:
		head = ""
	}
	return presets + head + others
}

// sum returns what a change saves in words.
func sum(s audit.Saved) string {
	text := words.Plural(s.Requests, "request", "requests") + ", " + words.Octets(s.Octets)
	if s.Seconds > 0 {
		text += ", " + words.Seconds(s.Seconds)
	}
	if s.Share > 0 {
		text += fmt.Sprintf(" (%.0f %%)", 100*s.Share)
	}
	return text
}
