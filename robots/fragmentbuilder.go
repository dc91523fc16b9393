package robots

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// fewEdges is the maximal number of edges of a beginning that are compared one
// by one.
const fewEdges = 6

// indexBuilder builds a fragmentIndex.
type indexBuilder struct {
	*fragmentIndex
	all   []int32 // the symbols of all rules
	rules []builtRule
}

// builtRule is a rule that is to be put into the tree.
type builtRule struct {
	winner
	prefix   int32 // index of its prefix
	root     int32 // index in prefix.roots: 1 if the rule has a `?`, else 0
	from, to int32 // range of its symbols in indexBuilder.all
}

func newFragmentIndex(rules []wildPattern) *fragmentIndex {
	b := indexBuilder{fragmentIndex: &fragmentIndex{}}
	b.addFragments(rules)
	b.addPrefixes(rules)
	for i := range rules {
		b.addRule(&rules[i])
	}
	b.spreadTops()
	b.buildTree()
	b.summarize()
	x := b.fragmentIndex
	x.pool.New = func() any { return newFragmentScratch(x) }
	return x
}

func (b *indexBuilder) addFragments(rules []wildPattern) {
	var all []string
	for i := range rules {
		all = append(all, rules[i].Parts...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var suffix []int32
	b.automaton, suffix = newAutomaton(all)
	b.fragments, b.sizes = make([]fragment, len(suffix)), make([]int32, len(suffix))
	b.texts = append([]string{""}, all...)
	for i, f := range all {
		b.fragments[i+1].suffix = suffix[i+1]
		b.sizes[i+1] = int32(len(f))
	}
}

func (b *indexBuilder) addPrefixes(rules []wildPattern) {
	var all []string
	for i := range rules {
		all = append(all, rules[i].Prefix)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	b.prefixes = make([]prefix, len(all))
	for i, text := range all {
		up := int32(i) - 1
		for up >= 0 && !strings.HasPrefix(text, all[up]) {
			up = b.prefixes[up].up
		}
		b.prefixes[i] = prefix{text: text, up: up}
	}
}

// addRule adds a rule and its symbols, and raises the tops of its fragments.
func (b *indexBuilder) addRule(r *wildPattern) {
	i, _ := slices.BinarySearchFunc(b.prefixes, r.Prefix, func(p prefix, text string) int { return cmp.Compare(p.text, text) })
	built := builtRule{winner: r.winner, prefix: int32(i), from: int32(len(b.all))}
	if r.Query {
		built.root = 1
	}
	last := int32(0)
	for _, f := range r.Parts {
		if last != 0 {
			b.fragments[last].inner = max(b.fragments[last].inner, r.rank)
		}
		number, _ := slices.BinarySearch(b.texts, f) // the first text is empty
		last = int32(number)
		b.all = append(b.all, last)
	}
	f := &b.fragments[last]
	if r.Anchored {
		f.anchored = max(f.anchored, r.rank)
		if f.atEnd == 0 {
			f.atEnd = int32(len(b.sizes))
			b.sizes = append(b.sizes, b.sizes[last])
		}
		b.all[len(b.all)-1] = f.atEnd
	} else {
		f.last = max(f.last, r.rank)
	}
	built.to = int32(len(b.all))
	b.rules = append(b.rules, built)
}

// spreadTops raises the tops of a fragment to the tops of all fragments that
// are its suffixes.
func (b *indexBuilder) spreadTops() {
	for i := range b.fragments {
		f := &b.fragments[i]
		for s := f.suffix; s != 0; s = b.fragments[s].suffix {
			end := &b.fragments[s]
			f.last, f.anchored, f.inner = max(f.last, end.last), max(f.anchored, end.anchored), max(f.inner, end.inner)
		}
	}
}

// symbolsOf returns the symbols of a rule without the first depth ones.
func (b *indexBuilder) symbolsOf(r *builtRule, depth int32) []int32 {
	return b.all[r.from+depth : r.to]
}

// compare orders rules by prefix, root and symbols, so that rules with the same
// beginning are adjacent.
func (b *indexBuilder) compare(x, y builtRule) int {
	return cmp.Or(cmp.Compare(x.prefix, y.prefix), cmp.Compare(x.root, y.root),
		slices.Compare(b.symbolsOf(&x, 0), b.symbolsOf(&y, 0)), cmp.Compare(x.rule, y.rule))
}

// buildTree puts the rules into the tree, level by level. Each beginning
// represents a range of the sorted rules: those that start with its symbols.
func (b *indexBuilder) buildTree() {
	slices.SortFunc(b.rules, b.compare)
	jobs := []subtree{{}}
	for rules := b.rules; len(rules) > 0; {
		n, r := 1, rules[0]
		for n < len(rules) && rules[n].prefix == r.prefix && rules[n].root == r.root {
			n++
		}
		b.prefixes[r.prefix].roots[r.root] = int32(len(jobs))
		jobs = append(jobs, subtree{rules[:n], 0})
		rules = rules[n:]
	}
	for n := 0; n < len(jobs); n++ {
		j := jobs[n]
		b.begins = append(b.begins, beginning{edge: int32(len(b.edges))})
		for len(j.rules) > 0 {
			shared := b.shared(j.rules, j.depth)
			e, behind := b.newEdge(j.rules[:shared], j.depth)
			if len(behind.rules) > 0 {
				e.child = int32(len(jobs))
				jobs = append(jobs, behind)
			}
			b.edges = append(b.edges, e)
			j.rules = j.rules[shared:]
		}
	}
	b.begins = append(b.begins, beginning{edge: int32(len(b.edges))})
	b.begins, b.edges, b.symbols = slices.Clone(b.begins), slices.Clone(b.edges), slices.Clone(b.symbols)
}

// subtree is a range of rules that share their first depth symbols.
type subtree struct {
	rules []builtRule
	depth int32
}

// shared returns how many of the first rules have the same symbol at a depth.
func (b *indexBuilder) shared(rules []builtRule, depth int32) int {
	symbol := b.all[rules[0].from+depth]
	n := 1
	for n < len(rules) && b.all[rules[n].from+depth] == symbol {
		n++
	}
	return n
}

// newEdge returns the edge for rules that share their symbol at a depth, and
// the rules that continue behind it. The edge ends where one of the rules ends
// or where the rules differ.
func (b *indexBuilder) newEdge(rules []builtRule, depth int32) (e edge, behind subtree) {
	first, last := b.symbolsOf(&rules[0], depth), b.symbolsOf(&rules[len(rules)-1], depth)
	n := 1
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	e = edge{symbol: first[0], from: int32(len(b.symbols))}
	b.symbols = append(b.symbols, first[1:n]...)
	e.to = int32(len(b.symbols))
	for len(rules) > 0 && len(b.symbolsOf(&rules[0], depth)) == n {
		e.winner = rules[0].winner.over(e.winner)
		rules = rules[1:]
	}
	return e, subtree{rules, depth + int32(n)}
}

// summarize computes the fields top, needs and least, from the leaves of the
// tree to its roots: for a beginning from its edges, and for an edge from the
// beginning behind it. Then it makes the edge sets.
func (b *indexBuilder) summarize() {
	for n := len(b.begins) - 2; n > 0; n-- {
		bg := &b.begins[n]
		bg.needs, bg.least = math.MaxUint64, math.MaxInt32
		for i := bg.edge; i < b.begins[n+1].edge; i++ {
			e := &b.edges[i]
			b.summarizeEdge(e)
			bg.top, bg.needs, bg.least = max(bg.top, e.top), bg.needs&(e.needs|symbolBit(e.symbol)), min(bg.least, e.least)
		}
	}
	for n := 1; n < len(b.begins); n++ {
		b.begins[n].group = int32(len(b.groups))
		if n+1 < len(b.begins) {
			b.addSets(b.begins[n].edge, b.begins[n+1].edge)
		}
	}
	b.sets, b.groups = slices.Clone(b.sets), slices.Clone(b.groups)
}

func (b *indexBuilder) summarizeEdge(e *edge) {
	e.top, e.least = e.rank, b.sizes[e.symbol]
	for _, symbol := range b.symbols[e.from:e.to] {
		e.needs |= symbolBit(symbol)
		e.least += b.sizes[symbol]
	}
	if e.child == 0 {
		return
	}
	child := &b.begins[e.child]
	e.top = max(e.top, child.top)
	if e.rank == 0 {
		e.needs |= child.needs
		e.least += child.least
	}
}

// addSets makes the edge sets of a beginning. A beginning with few edges gets
// no sets; its edges are sorted by their top rank, the highest last.
func (b *indexBuilder) addSets(from, to int32) {
	if to-from <= fewEdges {
		slices.SortStableFunc(b.edges[from:to], func(x, y edge) int { return cmp.Compare(x.top, y.top) })
		return
	}
	word, group := int32(-1), int32(-1)
	for i := from; i < to; i++ {
		e := &b.edges[i]
		if e.symbol>>12 != group {
			group = e.symbol >> 12
			b.groups = append(b.groups, setGroup{word: group, set: int32(len(b.sets))})
		}
		if e.symbol>>6 != word {
			word = e.symbol >> 6
			b.groups[len(b.groups)-1].mask |= 1 << (word & 63)
			b.sets = append(b.sets, edgeSet{edge: i})
		}
		s := &b.sets[len(b.sets)-1]
		s.mask |= 1 << (e.symbol & 63)
		s.top = max(s.top, e.top)
	}
}
