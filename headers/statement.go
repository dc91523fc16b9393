package headers

import (
	"fmt"
	"slices"
)

// statement is one line of a configuration that sets directives for crawlers.
type statement struct {
	line       int
	scope      scope
	tags       []Tag
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
func (s *ImportedSite) convert(st statement, index indexNames) {
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
		patterns = []Setting{but}
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
func (s *ImportedSite) addRule(line int, r Setting) {
	if !slices.ContainsFunc(s.Rules, func(i ImportedRule) bool { return i.Rule == r }) {
		s.Rules = append(s.Rules, ImportedRule{line, r})
	}
}

// negatedPattern returns a pattern for all requests of the scope whole except
// the exceptions. If there is no such pattern, it returns the reason.
func negatedPattern(whole scope, exceptions []exception, index indexNames) (Setting, string) {
	first := exceptions[0]
	if !whole.isEverything() {
		return Setting{}, fmt.Sprintf("%s applies to a part of these requests and sends something else", first.what)
	}
	for _, e := range exceptions {
		switch {
		case e.scope.unknown != "" || e.partial || e.contested:
			return Setting{}, fmt.Sprintf("it is not sent for some requests of %s, and no pattern can select these", e.what)
		case !slices.Equal(e.scope.patterns, first.scope.patterns):
			return Setting{}, fmt.Sprintf("it is sent neither for %s nor for %s, and a rule can exclude only one pattern", first.what, e.what)
		case len(e.scope.patterns) != 1:
			return Setting{}, fmt.Sprintf("it is not sent for %s, which needs several patterns, and a rule can exclude only one", e.what)
		}
	}
	p := first.scope.patterns[0]
	if name := index.in(p); name != "" {
		return Setting{}, fmt.Sprintf("it is not sent for %s, which also answers the URL of a folder with the file %s", first.what, name)
	}
	p.Not = true
	return p, ""
}

// parseTags parses an X-Robots-Tag value. It returns an error for an unknown
// directive, a wrong value or a contradiction.
func parseTags(value string) ([]Tag, error) {
	var tags []Tag
	l := list{rest: value}
	for {
		it, more := l.next()
		if !more {
			break
		}
		if it.crawler != "" && nearValued(it.crawler) != "" {
			return nil, unknownDirective(it.crawler)
		}
		one, err := it.directive()
		if err != nil {
			return nil, err
		}
		if n := len(tags); n == 0 || tags[n-1].Crawler != it.crawler {
			tags = append(tags, Tag{Crawler: it.crawler})
		}
		last := &tags[len(tags)-1]
		last.Directives = last.Directives.join(one)
	}
	if len(tags) == 0 {
		return nil, Directives{}.Validate()
	}
	for _, t := range tags {
		if err := t.Validate(); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// imply reports whether, for each crawler in tags, the directives in there
// imply those in tags.
func imply(there, tags []Tag) bool {
	x := indexTags(there)
	return !slices.ContainsFunc(tags, func(t Tag) bool {
		return !t.Directives.without(x.forCrawler(t.Crawler)).Empty()
	})
}
