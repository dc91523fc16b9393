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
	// sometimes: only for a part of the scope, or under a condition.
	partial bool
	// contested: something else may decide in a part of the scope.
	contested bool
	what      string // for the operator, such as "location /public/ (line 9)"
}

// convert converts a statement to rules, or to a problem if rules can't express
// it.
func (s *ImportedSite) convert(st statement, index indexNames) {
	if st.scope.unknown != "" {
		s.problem(st.line, "not converted: %s", st.scope.unknown)
		return
	}
	within := slices.DeleteFunc(slices.Clone(st.exceptions), func(e exception) bool { return !e.scope.overlaps(st.scope) })
	for _, e := range within {
		if !e.partial && !e.contested && e.scope.covers(st.scope) {
			return // never sent
		}
	}
	patterns := st.scope.patterns
	if len(within) > 0 {
		but, why := negatedPattern(st.scope, within, index)
		if why != "" {
			s.problem(st.line, "not converted: %s", why)
			return
		}
		patterns = []Rule{but}
	}
	for _, p := range patterns {
		if name := index.in(p); name != "" && !p.Not {
			s.problem(st.line, "converted for the file's own URL; the URL of a folder that is answered with %s is not included", name)
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
func (s *ImportedSite) addRule(line int, r Rule) {
	if !slices.ContainsFunc(s.Rules, func(i ImportedRule) bool { return i.Rule == r }) {
		s.Rules = append(s.Rules, ImportedRule{line, r})
	}
}

// negatedPattern returns a pattern for everything except the exceptions, or the reason
// why there is no such pattern.
func negatedPattern(whole scope, exceptions []exception, index indexNames) (Rule, string) {
	first := exceptions[0]
	if !whole.isEverything() {
		return Rule{}, fmt.Sprintf("a part of these requests falls under %s, where something else is sent", first.what)
	}
	for _, e := range exceptions {
		switch {
		case e.scope.unknown != "" || e.partial || e.contested:
			return Rule{}, fmt.Sprintf("it is not sent with some requests that fall under %s, and no pattern says which", e.what)
		case !slices.Equal(e.scope.patterns, first.scope.patterns):
			return Rule{}, fmt.Sprintf("it is sent neither under %s nor under %s, and a rule excludes one pattern only", first.what, e.what)
		case len(e.scope.patterns) != 1:
			return Rule{}, fmt.Sprintf("it is not sent under %s, and a rule excludes one pattern only", e.what)
		}
	}
	p := first.scope.patterns[0]
	if name := index.in(p); name != "" {
		return Rule{}, fmt.Sprintf("it is not sent under %s, which also answers the URL of a folder with %s", first.what, name)
	}
	p.Not = true
	return p, ""
}

// parseTags reads an X-Robots-Tag value strictly.
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

// imply reports whether the directives in there already include those of tags,
// for every crawler.
func imply(there, tags []Tag) bool {
	x := indexTags(there)
	return !slices.ContainsFunc(tags, func(t Tag) bool {
		return !t.Directives.without(x.forCrawler(t.Crawler)).Empty()
	})
}
