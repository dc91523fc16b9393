package headers

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxRules bounds the rules that are compiled into one Rules.
	MaxRules = 10_000
	// MaxRegexps bounds those that have to be run on every request, some 50 ns
	// each: regular expressions that don't stand for a few literals.
	MaxRegexps = 1_000
)

// Rules finds the rules that match a response. Patterns of file names and
// paths are found through tables, so that a thousand cost little more than
// one; only regular expressions that don't stand for a few literals, patterns
// that begin and end with a wildcard and negated rules are compared one by one.
//
// A Rules does not change and is safe for concurrent use.
type Rules struct {
	rules []compiled
	said  []said // general ones first, then those of one crawler together
	paths bool   // some rule looks at the path

	names    trie // globs by their literal beginning, exact names among them
	suffixes trie // globs by their literal end
	filed    []filedGlob
	globs    []filedGlob // those with neither
	regexps  []int32
	prefixes trie // paths by their literal beginning
	inPaths  []int32
	negated  []int32 // of names and paths

	types    map[string][]int32 // by media type; by top-level type and "/*"
	statuses [600][]int32       // by status, classes spread
	notIn    []int32            // negated ones of types and statuses

	response, mediaType bool // some rule looks at either, at the media type
}

// said is what one rule or several say. A Match holds what is said rather than
// the rules that say it, so that a thousand rules that say the same cost it no
// more than one.
type said struct {
	Tag
	only  bool   // to the crawler alone
	value string // the header value
}

// filedGlob is what the tables of names have: a glob and its rule.
type filedGlob struct {
	*glob
	rule int32
}

// compiled is a rule as it is used.
type compiled struct {
	Rule
	pattern pattern
	says    int32 // index into Rules.said
}

// Compile compiles rules, which stay in their order. The error names the rule
// by its index.
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
	says := r.say(rules)
	var t tables
	for i, rule := range rules {
		p, err := rule.pattern()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		id := int32(i)
		r.rules[i] = compiled{rule, p, says[i]}
		if rule.Not {
			r.fileNegated(id, p)
			continue
		}
		switch p := p.(type) {
		case *glob:
			t.addGlob(r, filedGlob{p, id})
		case *nameRegexp:
			if p.globs == nil {
				r.regexps = append(r.regexps, id)
			}
			for _, g := range p.globs {
				t.addGlob(r, filedGlob{g, id})
			}
		case *pathGlob:
			r.paths = true
			if p.prefix != "" {
				t.prefixes = append(t.prefixes, trieKey{p.prefix, false, id})
			} else {
				r.inPaths = append(r.inPaths, id)
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

// say fills r.said, and returns what each rule says: general tags first, then
// those of each crawler, in the order in which the rules name them.
func (r *Rules) say(rules []Rule) []int32 {
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
		r.said = append(r.said, said{tag, rule.Only, tag.String()})
		at[k] = int32(i)
	}
	says := make([]int32, len(rules))
	for i, k := range keys {
		says[i] = at[k]
	}
	return says
}

// tables are the keys of the tries to be.
type tables struct{ names, suffixes, prefixes []trieKey }

// addGlob files a glob under the longer of its literal ends.
func (t *tables) addGlob(r *Rules, g filedGlob) {
	at := int32(len(r.filed))
	switch {
	case g.literal:
		t.names = append(t.names, trieKey{g.prefix, true, at})
	case len(g.prefix) > len(g.suffix):
		t.names = append(t.names, trieKey{g.prefix, false, at})
	case g.suffix != "" || g.ends:
		t.suffixes = append(t.suffixes, trieKey{g.suffix, false, at})
	default:
		r.globs = append(r.globs, g)
		return
	}
	r.filed = append(r.filed, g)
}

// fileNegated files a negated rule.
func (r *Rules) fileNegated(id int32, p pattern) {
	switch p.(type) {
	case mediaType, statusRange:
		r.notIn = append(r.notIn, id)
		_, typed := p.(mediaType)
		r.response, r.mediaType = true, r.mediaType || typed
		return
	case *pathGlob:
		r.paths = true
	}
	r.negated = append(r.negated, id)
}

// NeedsResponse reports whether any rule looks at the media type or the
// status, so that Apply has something to add to an empty Match.
func (r *Rules) NeedsResponse() bool { return r != nil && r.response }

// NeedsMediaType reports whether any rule looks at the media type.
func (r *Rules) NeedsMediaType() bool { return r != nil && r.mediaType }

// Empty reports whether there is no rule.
func (r *Rules) Empty() bool { return r == nil || len(r.rules) == 0 }
