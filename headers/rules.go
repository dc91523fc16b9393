package headers

import "fmt"

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
	paths bool // some rule looks at the path

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
	response bool
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
	value   string // the header value
}

// Compile compiles rules, which stay in their order. The error names the rule
// by its index.
func Compile(rules []Rule) (*Rules, error) {
	if len(rules) > MaxRules {
		return nil, fmt.Errorf("%d rules, %d are allowed", len(rules), MaxRules)
	}
	r := &Rules{rules: make([]compiled, len(rules)), types: map[string][]int32{}}
	var t tables
	for i, rule := range rules {
		if err := rule.Validate(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		p, err := rule.pattern()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		id := int32(i)
		r.rules[i] = compiled{rule, p, Tag{rule.Crawler, rule.Directives}.String()}
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
			r.response = true
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
		r.response = true
		return
	case *pathGlob:
		r.paths = true
	}
	r.negated = append(r.negated, id)
}

// NeedsResponse reports whether any rule looks at the media type or the
// status, so that Apply has something to add to an empty Match.
func (r *Rules) NeedsResponse() bool { return r != nil && r.response }

// Empty reports whether there is no rule.
func (r *Rules) Empty() bool { return r == nil || len(r.rules) == 0 }

// Match finds the rules of file names and paths that match a request. target
// is the path and query as requested, percent-encoded, before any rewrite; it
// may be in absolute form. The file name is compared as a server would look
// for it, percent-decoded once and without dot segments, a path in its
// RFC 9309 form and in that one: a rule that matches either applies.
func (r *Rules) Match(target string) Match {
	m := Match{rules: r}
	if r == nil || len(r.rules) == 0 {
		return m
	}
	v, b := read(target, r.paths)
	m.matchName(r, v.name)
	if r.paths {
		m.matchPath(r, v.target)
		if v.served != "" && v.served != v.target {
			m.matchPath(r, v.served)
		}
	}
	for _, id := range r.negated {
		if !r.rules[id].matches(&v) {
			m.add(id)
		}
	}
	b.release()
	return m
}

// matches reports whether the pattern of a name or path matches.
func (c *compiled) matches(v *views) bool {
	switch p := c.pattern.(type) {
	case *glob:
		return p.match(v.name)
	case *nameRegexp:
		return p.match(v.name)
	case *pathGlob:
		return p.match(v.target) || v.served != "" && p.match(v.served)
	}
	return false
}

func (m *Match) matchName(r *Rules, name string) {
	for n, rest, found := r.names.enter(name); found; n, rest, found = r.names.descend(n, rest) {
		for _, at := range n.ids {
			m.addGlob(&r.filed[at], name)
		}
		if rest == "" {
			for _, at := range n.whole {
				m.add(r.filed[at].rule)
			}
		}
	}
	for n, rest, found := r.suffixes.enterBack(name); found; n, rest, found = r.suffixes.descendBack(n, rest) {
		for _, at := range n.ids {
			m.addGlob(&r.filed[at], name)
		}
	}
	for i := range r.globs {
		m.addGlob(&r.globs[i], name)
	}
	for _, id := range r.regexps {
		m.addIf(id, r.rules[id].pattern.(*nameRegexp).match(name))
	}
}

func (m *Match) addGlob(g *filedGlob, name string) { m.addIf(g.rule, g.match(name)) }

func (m *Match) matchPath(r *Rules, target string) {
	for n, rest, found := r.prefixes.enter(target); found; n, rest, found = r.prefixes.descend(n, rest) {
		for _, id := range n.ids {
			m.addIf(id, r.rules[id].pattern.(*pathGlob).match(target))
		}
	}
	for _, id := range r.inPaths {
		m.addIf(id, r.rules[id].pattern.(*pathGlob).match(target))
	}
}
