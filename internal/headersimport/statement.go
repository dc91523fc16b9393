package headersimport

import (
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/headers"
)

// statement is one line of a configuration that sets directives for crawlers.
type statement struct {
	line       int
	scope      scope
	tags       []headers.Tag
	exceptions []exception
}

// exception is a part of a statement's scope in which it does not apply.
type exception struct {
	scope scope
	// partial: the exception is only for a part of the scope, or under a condition.
	partial bool
	// contested: the statement may still apply in a part of the scope.
	contested bool
	what      string // name for messages, such as "location /public/ (line 9)"
}

// convert adds the rules for a statement, or a problem if rules can't express
// it.
func (s *Site) convert(st statement, index indexNames) {
	if st.scope.unknown != "" {
		s.problem(st.line, "not converted: %s", st.scope.unknown)
		return
	}
	within := slices.DeleteFunc(slices.Clone(st.exceptions), func(e exception) bool { return !e.scope.overlaps(st.scope) })
	for _, e := range within {
		if !e.partial && !e.contested && e.scope.covers(st.scope) {
			return // the server never sends it
		}
	}
	patterns := st.scope.patterns
	if len(within) > 0 {
		but, why := negatedPattern(st.scope, within, index)
		if why != "" {
			s.problem(st.line, "not converted: %s", why)
			return
		}
		patterns = []headers.Setting{but}
	}
	for _, p := range patterns {
		if name := index.in(p); name != "" && !p.Not {
			s.problem(st.line, "converted only for the URL of the file; for the URL of a folder, the server sends %s too, but this rule does not apply there", name)
			break
		}
	}
	for _, t := range st.tags {
		for _, r := range patterns {
			r.Crawler, r.Directives = t.Crawler, t.Directives
			if err := r.Validate(); err != nil {
				s.problem(st.line, "%v", err)
				return
			}
			s.addRule(st.line, r)
		}
	}
}

// addRule adds a rule unless the same rule exists.
func (s *Site) addRule(line int, r headers.Setting) {
	if !slices.ContainsFunc(s.Rules, func(i Rule) bool { return i.Rule == r }) {
		s.Rules = append(s.Rules, Rule{line, r})
	}
}

// negatedPattern returns a pattern for all requests of the scope whole except
// the exceptions. If there is no such pattern, it returns the reason.
func negatedPattern(whole scope, exceptions []exception, index indexNames) (headers.Setting, string) {
	first := exceptions[0]
	if !whole.isEverything() {
		return headers.Setting{}, fmt.Sprintf("%s applies to a part of these requests and sends something else", first.what)
	}
	for _, e := range exceptions {
		switch {
		case e.scope.unknown != "" || e.partial || e.contested:
			return headers.Setting{}, fmt.Sprintf("it is not sent for some requests of %s, and no pattern can select these", e.what)
		case !slices.Equal(e.scope.patterns, first.scope.patterns):
			return headers.Setting{}, fmt.Sprintf("it is sent neither for %s nor for %s, and a rule can exclude only one pattern", first.what, e.what)
		case len(e.scope.patterns) != 1:
			return headers.Setting{}, fmt.Sprintf("it is not sent for %s, which needs several patterns, and a rule can exclude only one", e.what)
		}
	}
	p := first.scope.patterns[0]
	if name := index.in(p); name != "" {
		return headers.Setting{}, fmt.Sprintf("it is not sent for %s, which also answers the URL of a folder with the file %s", first.what, name)
	}
	p.Not = true
	return p, ""
}
