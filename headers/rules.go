package headers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxSettings is the maximal number of rules that Compile accepts.
const maxSettings = 512

// Table is a compiled list of rules. It compares a request with one rule after the
// other: a rule takes some nanoseconds, a regular expression about 50.
//
// Table does not change and is safe for concurrent use.
type Table struct {
	rules               []compiled // rules for all crawlers first, then grouped by crawler
	hasPaths            bool       // some rule is for paths
	response, mediaType bool       // some rule needs the media type or the status; the media type
}

// compiled is a compiled rule.
type compiled struct {
	pattern   pattern
	ofRequest bool   // the pattern is one for names or paths
	value     string // of the header
	Setting
}

func (c *compiled) tag() Tag { return Tag{c.Crawler, c.Directives} }

// Compile compiles rules. It returns an error for an invalid rule, with its index
// from 0, and for too many rules.
func Compile(rules []Setting) (*Table, error) {
	if len(rules) > maxSettings {
		return nil, fmt.Errorf("%d rules; at most %d are allowed", len(rules), maxSettings)
	}
	r := &Table{rules: make([]compiled, len(rules))}
	crawlers := map[string]int{"": 0}
	for i, rule := range rules {
		p, err := rule.compile()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		c := compiled{pattern: p, Setting: rule}
		c.value = c.tag().String()
		switch p.(type) {
		case mediaType:
			r.response, r.mediaType = true, true
		case statusRange:
			r.response = true
		case *pathGlob:
			c.ofRequest, r.hasPaths = true, true
		case *nameGlob, *regexp.Regexp:
			c.ofRequest = true
		}
		r.rules[i] = c
		name := strings.ToLower(rule.Crawler)
		if _, known := crawlers[name]; !known {
			crawlers[name] = len(crawlers)
		}
	}
	slices.SortStableFunc(r.rules, func(a, b compiled) int {
		return crawlers[strings.ToLower(a.Crawler)] - crawlers[strings.ToLower(b.Crawler)]
	})
	return r, nil
}

// NeedsResponse reports whether any rule depends on the media type or the
// status. If so, Apply may add directives even if the Match is Empty.
func (r *Table) NeedsResponse() bool { return r != nil && r.response }

// NeedsMediaType reports whether any rule depends on the media type.
func (r *Table) NeedsMediaType() bool { return r != nil && r.mediaType }
