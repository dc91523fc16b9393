package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed suggestions.txt
var suggestionsTemplate string

// Suggestions writes the suggestions of an audit as a Caddyfile: a site with a robots
// block.
func Suggestions(w io.Writer, r *audit.Report) error {
	return output.Layout{}.Execute(w, suggestionsTemplate, template.FuncMap{
		"sum": sum,
		"all": func() string { return sum(audit.Saved{Sum: r.Suggested.Whole}) },
		"any": func(kind string) bool {
			return slices.ContainsFunc(r.Suggestions, func(s audit.Suggestion) bool { return s.Kind == kind })
		},
		"directives": func() string {
			b := &commented{prefix: "\t\t"}
			b.directives(r.Suggestions)
			return b.String()
		},
	}, r)
}

// Commented returns the suggestions as comments in a robots block, "" without any.
func Commented(r *audit.Report) string {
	b := &commented{prefix: "\t#"}
	if len(r.Suggestions) > 0 {
		b.WriteString("\n\t# The log suggests these lines. To use one, remove the # at the start of its lines.\n")
		b.directives(r.Suggestions)
	}
	return b.String()
}

// commented collects lines with comments.
type commented struct {
	strings.Builder
	prefix string // before each line
}

// comment adds a line of a comment.
func (b *commented) comment(text string) { fmt.Fprintf(b, "%s# %s\n", b.prefix, output.Visible(text)) }

// lines adds the lines of a text.
func (b *commented) lines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(b, "%s%s\n", b.prefix, line)
	}
}

// reason adds what a suggestion would have saved, and why it was made.
func (b *commented) reason(i int, s audit.Suggestion) {
	b.comment(fmt.Sprintf("%d. Saves %s. Sure: %s, by %s addresses.", i+1, sum(s.Saved), s.Sure, words.Count(int64(s.Addresses))))
	b.comment(fmt.Sprintf("It %s.", s.Why))
}

// directives adds the subdirectives: first one policy with the statements of all
// suggested ones, then the limits and challenge. What a preset saves is said before the policy, and
// what a statement saves before the statement.
func (b *commented) directives(list []audit.Suggestion) {
	head := "policy"
	statements := &commented{prefix: b.prefix + "\t"}
	for i, s := range list {
		if s.Kind != "policy" {
			continue
		}
		first, rest, _ := strings.Cut(s.Text, "\n")
		if preset := strings.TrimPrefix(first, "policy "); preset != "{" {
			head += " " + preset
			b.reason(i, s)
			continue
		}
		statements.reason(i, s)
		statements.lines(strings.TrimSpace(strings.TrimSuffix(rest, "}")))
	}
	switch {
	case statements.Len() > 0:
		b.lines(head + " {")
		b.WriteString(statements.String())
		b.lines("}")
	case head != "policy":
		b.lines(head)
	}
	for i, s := range list {
		if s.Kind == "limit" || s.Kind == "challenge" {
			b.reason(i, s)
			b.lines(s.Text)
		}
	}
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
