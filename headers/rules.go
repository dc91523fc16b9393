package headers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/nameglob"
)

const (
	// maxSettings is the maximal number of rules that Compile accepts.
	maxSettings = 10_000
	// maxRegexps is the maximal number of regular expressions that must be run
	// on every request; each takes about 50 ns. Regular expressions that are
	// equivalent to a few literals do not count.
	maxRegexps = 1_000
)

// Table is a compiled list of rules. It finds patterns for file names and paths
// in tables, so that a thousand rules take little more time than one. Match
// compares only three kinds of rules one by one: regular expressions that are
// not equivalent to a few literals, patterns that start and end with a
// wildcard, and negated rules.
//
// Table does not change and is safe for concurrent use.
type Table struct {
	rules    []compiled
	values   []headerValue // values for all crawlers first, then grouped by crawler
	hasPaths bool          // some rule is for paths

	names    map[string][]int32 // exact names
	prefixes literals           // other globs by their literal prefix or
	suffixes literals           // suffix, whichever is longer
	paths    literals           // paths by their literal prefix
	others   []int32            // other rules for names and paths: without a literal, or negated

	types           map[mediaType][]int32
	statuses        map[int][]int32 // by status; a class is in all its statuses
	negatedResponse []int32         // negated rules for types and statuses

	response, mediaType bool // some rule needs the media type or the status; the media type
}

// headerValue is a value of X-Robots-Tag that one or more rules add. A Match
// holds these values and not the rules, so that a thousand rules with the same
// value take no more space than one.
type headerValue struct {
	Tag
	only  bool   // it is sent only to the crawler
	value string // the tag as text
}

// compiled is a compiled rule.
type compiled struct {
	pattern pattern
	value   int32 // index into Table.values
	Setting
}

// Compile compiles rules and keeps their order. It returns an error for an
// invalid rule, with its index from 0, and for too many rules or regular
// expressions.
func Compile(rules []Setting) (*Table, error) {
	if len(rules) > maxSettings {
		return nil, fmt.Errorf("%d rules; at most %d are allowed", len(rules), maxSettings)
	}
	r := &Table{rules: make([]compiled, len(rules)), names: map[string][]int32{}, types: map[mediaType][]int32{}, statuses: map[int][]int32{}}
	valueOf := r.collectValues(rules)
	regexps := 0
	for i, rule := range rules {
		p, err := rule.compile()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		id := int32(i)
		r.rules[i] = compiled{p, valueOf[i], rule}
		if rule.Not {
			r.addNegated(id, p)
			continue
		}
		switch p := p.(type) {
		case *nameglob.Glob:
			r.addGlob(p, id)
		case *nameRegexp:
			if p.globs == nil {
				regexps++
				r.others = append(r.others, id)
			}
			for _, g := range p.globs {
				r.addGlob(g, id)
			}
		case *pathGlob:
			r.hasPaths = true
			if p.prefix != "" {
				r.paths.add(p.prefix, id)
			} else {
				r.others = append(r.others, id)
			}
		case mediaType:
			r.types[p] = append(r.types[p], id)
			r.response, r.mediaType = true, true
		case statusRange:
			for s := p.status; s == p.status || p.class && s < p.status+100; s++ {
				r.statuses[s] = append(r.statuses[s], id)
			}
			r.response = true
		}
	}
	if regexps > maxRegexps {
		return nil, fmt.Errorf("%d regular expressions must be run on every request; at most %d are allowed; patterns such as *.pdf do not count",
			regexps, maxRegexps)
	}
	return r, nil
}

// collectValues sets r.values, and returns the index of its value for each
// rule. Values for all crawlers are first, then the values for each crawler, in
// the order of the rules.
func (r *Table) collectValues(rules []Setting) []int32 {
	type key struct {
		crawler    string
		only       bool
		directives Directives
	}
	crawlers := map[string]int{"": 0}
	order := make([]int, len(rules))
	keys := make([]key, len(rules))
	for i, rule := range rules {
		order[i], keys[i] = i, key{strings.ToLower(rule.Crawler), rule.Only, rule.Directives}
		if _, known := crawlers[keys[i].crawler]; !known {
			crawlers[keys[i].crawler] = len(crawlers)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return crawlers[keys[a].crawler] - crawlers[keys[b].crawler] })
	at := map[key]int32{}
	valueOf := make([]int32, len(rules))
	for _, i := range order {
		value, known := at[keys[i]]
		if !known {
			value = int32(len(r.values))
			at[keys[i]] = value
			tag := Tag{rules[i].Crawler, rules[i].Directives}
			r.values = append(r.values, headerValue{tag, rules[i].Only, tag.String()})
		}
		valueOf[i] = value
	}
	return valueOf
}

// addGlob adds a glob of a rule to the table in which Match finds it.
func (r *Table) addGlob(g *nameglob.Glob, id int32) {
	switch {
	case g.Literal:
		r.names[g.Prefix] = append(r.names[g.Prefix], id)
	case len(g.Prefix) > len(g.Suffix):
		r.prefixes.add(g.Prefix, id)
	case g.Suffix != "" || g.OneStar:
		r.suffixes.add(g.Suffix, id)
	default:
		r.others = append(r.others, id)
	}
}

// addNegated adds a negated rule to the list for its kind.
func (r *Table) addNegated(id int32, p pattern) {
	switch p.(type) {
	case mediaType, statusRange:
		r.negatedResponse = append(r.negatedResponse, id)
		_, typed := p.(mediaType)
		r.response, r.mediaType = true, r.mediaType || typed
		return
	case *pathGlob:
		r.hasPaths = true
	}
	r.others = append(r.others, id)
}

// NeedsResponse reports whether any rule depends on the media type or the
// status. If so, Apply may add directives even if the Match is Empty.
func (r *Table) NeedsResponse() bool { return r != nil && r.response }

// NeedsMediaType reports whether any rule depends on the media type.
func (r *Table) NeedsMediaType() bool { return r != nil && r.mediaType }
