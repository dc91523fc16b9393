package headers

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxRules is the most rules that Compile accepts.
	MaxRules = 10_000
	// MaxRegexps is the most regular expressions that must be run on every
	// request; each takes about 50 ns. Expressions that are equivalent to a few
	// literals do not count.
	MaxRegexps = 1_000
)

// Rules is a compiled list of rules. It finds patterns of file names and paths
// through tables, so that a thousand take little more time than one. Only three
// kinds are compared one by one: regular expressions that are not equivalent to
// a few literals, patterns that begin and end with a wildcard, and negated
// rules.
//
// A Rules does not change and is safe for concurrent use.
type Rules struct {
	rules  []compiled
	values []headerValue // general ones first, then those of one crawler together
	paths  bool          // some rule is for paths

	names          trie // globs by their literal prefix, including exact names
	suffixes       trie // globs by their literal suffix
	indexed        []indexedGlob
	otherGlobs     []indexedGlob // globs with neither
	regexps        []int32
	prefixes       trie // paths by their literal prefix
	otherPaths     []int32
	negatedRequest []int32 // of names and paths

	types           map[string][]int32 // by media type; by top-level type and "/*"
	statuses        [600][]int32       // by status; a class is in all its statuses
	negatedResponse []int32            // negated rules for types and statuses

	response, mediaType bool // some rule needs the media type or the status; the media type
}

// said is a header value that one or several rules add. A Match holds these
// values and not the rules, so that a thousand rules with the same value take
// no more space than one.
type headerValue struct {
	Tag
	only  bool   // to the crawler alone
	value string // the header value
}

// indexedGlob is what the tables of names have: a glob and its rule.
type indexedGlob struct {
	*glob
	rule int32
}

// compiled is a rule as it is used.
type compiled struct {
	Rule
	pattern pattern
	value   int32 // index into Rules.said
}

// Compile compiles rules and keeps their order. An error contains the index of
// the invalid rule.
func Compile(rules []Rule) (*Rules, error) {
	if len(rules) > MaxRules {
		return nil, fmt.Errorf("%d rules, %d are allowed", len(rules), MaxRules)
	}
	r := &Rules{rules: make([]compiled, len(rules)), types: map[string][]int32{}}
	for i, rule := range rules {
		if err := rule.Validate(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
	}
	valueOf := r.collectValues(rules)
	var t tables
	for i, rule := range rules {
		p, err := rule.pattern()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		id := int32(i)
		r.rules[i] = compiled{rule, p, valueOf[i]}
		if rule.Not {
			r.addNegated(id, p)
			continue
		}
		switch p := p.(type) {
		case *glob:
			t.addGlob(r, indexedGlob{p, id})
		case *nameRegexp:
			if p.globs == nil {
				r.regexps = append(r.regexps, id)
			}
			for _, g := range p.globs {
				t.addGlob(r, indexedGlob{g, id})
			}
		case *pathGlob:
			r.paths = true
			if p.prefix != "" {
				t.prefixes = append(t.prefixes, trieKey{p.prefix, false, id})
			} else {
				r.otherPaths = append(r.otherPaths, id)
			}
		case mediaType:
			key := p.top + "/" + p.sub
			r.types[key] = append(r.types[key], id)
			r.response, r.mediaType = true, true
		case statusRange:
			for s := p.status; s == p.status || p.class && s < p.status+100; s++ {
				r.statuses[s] = append(r.statuses[s], id)
			}
			r.response = true
		}
	}
	if len(r.regexps) > MaxRegexps {
		return nil, fmt.Errorf("%d regular expressions have to be run on every request, %d are allowed; patterns such as *.pdf cost nothing", len(r.regexps), MaxRegexps)
	}
	r.names, r.suffixes, r.prefixes = newTrie(t.names), newBackTrie(t.suffixes), newTrie(t.prefixes)
	return r, nil
}

// collectValues fills r.said, and returns for each rule the index of its value. Values
// for all crawlers come first, then those for each crawler, in the order of the
// rules.
func (r *Rules) collectValues(rules []Rule) []int32 {
	type key struct {
		crawler    int
		only       bool
		directives Directives
	}
	crawlers := map[string]int{"": 0}
	first := map[key]int{} // rule
	keys := make([]key, len(rules))
	var order []key
	for i, rule := range rules {
		name := strings.ToLower(rule.Crawler)
		if _, known := crawlers[name]; !known {
			crawlers[name] = len(crawlers)
		}
		keys[i] = key{crawlers[name], rule.Only, rule.Directives}
		if _, known := first[keys[i]]; !known {
			first[keys[i]] = i
			order = append(order, keys[i])
		}
	}
	slices.SortStableFunc(order, func(a, b key) int { return a.crawler - b.crawler })
	at := make(map[key]int32, len(order))
	for i, k := range order {
		rule := &rules[first[k]]
		tag := Tag{rule.Crawler, rule.Directives}
		r.values = append(r.values, headerValue{tag, rule.Only, tag.String()})
		at[k] = int32(i)
	}
	valueOf := make([]int32, len(rules))
	for i, k := range keys {
		valueOf[i] = at[k]
	}
	return valueOf
}

// tables are the keys of the tries to be.
type tables struct{ names, suffixes, prefixes []trieKey }

// addGlob adds a glob to a table, under its literal prefix or suffix: the
// longer one.
func (t *tables) addGlob(r *Rules, g indexedGlob) {
	at := int32(len(r.indexed))
	switch {
	case g.literal:
		t.names = append(t.names, trieKey{g.prefix, true, at})
	case len(g.prefix) > len(g.suffix):
		t.names = append(t.names, trieKey{g.prefix, false, at})
	case g.suffix != "" || g.oneStar:
		t.suffixes = append(t.suffixes, trieKey{g.suffix, false, at})
	default:
		r.otherGlobs = append(r.otherGlobs, g)
		return
	}
	r.indexed = append(r.indexed, g)
}

// addNegated adds a negated rule to its list.
func (r *Rules) addNegated(id int32, p pattern) {
	switch p.(type) {
	case mediaType, statusRange:
		r.negatedResponse = append(r.negatedResponse, id)
		_, typed := p.(mediaType)
		r.response, r.mediaType = true, r.mediaType || typed
		return
	case *pathGlob:
		r.paths = true
	}
	r.negatedRequest = append(r.negatedRequest, id)
}

// NeedsResponse reports whether any rule depends on the media type or the
// status. If so, Apply may add directives even for an empty Match.
func (r *Rules) NeedsResponse() bool { return r != nil && r.response }

// NeedsMediaType reports whether any rule depends on the media type.
func (r *Rules) NeedsMediaType() bool { return r != nil && r.mediaType }

// Empty reports whether there are no rules.
func (r *Rules) Empty() bool { return r == nil || len(r.rules) == 0 }
