package robots

import (
	"slices"
	"sort"
	"strings"
	"sync"
)

// fragmentIndex finds the winner among many rules with a `*`. A pattern is a
// prefix and a sequence of fragments. It matches a text that starts with the
// prefix and has the fragments in this order, without overlaps. For each
// fragment it is enough to search for the first occurrence behind the fragment
// before.
//
// The patterns form a radix tree. Its edges are fragments, and its nodes are
// called beginnings: a beginning is a prefix and the first fragments of one or
// more patterns. A match works as follows:
//
// First, the text is scanned once for all fragments. Then the match visits each
// beginning that the text has. Beginnings with many edges are visited in the
// order in which they end in the text. From a beginning, the match follows only
// edges with a fragment that occurs behind the end of the beginning. To find
// these edges, it compares a set of 64 edges at a time with the set of the
// fragments that still occur.
//
// So a rule costs time only if the text has one of its beginnings and, behind
// it, the next fragment of the rule. In this case, each edge takes a few
// nanoseconds.
//
// It is safe for concurrent use.
type fragmentIndex struct {
	*automaton
	fragments []fragment // the first fragment has number 1
	texts     []string   // text of each fragment
	sizes     []int32    // octets of each symbol
	symbols   []int32    // symbols of all edges, without the first one of each
	prefixes  []prefix   // sorted
	begins    []beginning
	edges     []edge
	sets      []edgeSet
	groups    []setGroup
	pool      sync.Pool // of *fragmentScratch
}

// fragment is a text between two `*` of a pattern, or after the last one. The
// number of a fragment is a symbol: it means an occurrence anywhere in the
// text. A fragment before a `$` has a second symbol: it means an occurrence at
// the end of the text.
type fragment struct {
	tops
	suffix int32 // the longest other fragment that is its suffix, 0: none
	atEnd  int32 // the second symbol, 0: none
}

// tops are the highest ranks of all rules that contain a fragment or a suffix
// of it. They differ by its place in the rule: the last fragment, the last
// fragment before a `$`, or another place.
type tops struct{ last, anchored, inner uint32 }

// prefix is the text of one or more patterns before their first `*`.
type prefix struct {
	text  string
	up    int32    // the longest other prefix at its start, -1: none
	roots [2]int32 // the beginnings for rules without and with a `?`; 0: none
}

// beginning is a node of the tree: a prefix, or the end of an edge. Behind it,
// one or more patterns continue. Beginnings have numbers from 1, and parents
// precede their children.
type beginning struct {
	needs uint64 // symbolBit of the symbols that follow in all its rules
	least int32  // the minimal number of octets of the rest of its rules
	top   uint32 // the highest rank of all rules behind it
	edge  int32  // the first of its edges; they end at the first edge of the next beginning
	group int32  // the first of its setGroups; a beginning with few edges has none
}

// edge connects a beginning with the next place where patterns branch or end.
// It has one or more symbols.
type edge struct {
	symbol   int32
	from, to int32 // range of the following symbols in fragmentIndex.symbols
	child    int32 // the beginning at its end, 0: none
	winner         // the rule that ends with this edge; zero: none
	top      uint32
	least    int32  // the minimal number of octets of its symbols and of the rest of its rules
	needs    uint64 // symbolBit of the symbols after the first one in all its rules
}

// edgeSet is the set of the edges of a beginning for a range of 64 symbols,
// called a word.
type edgeSet struct {
	mask uint64 // bit i is set: there is an edge for the symbol 64*word+i
	edge int32  // the first edge of the set
	top  uint32
}

// setGroup is the edge sets of a beginning for 64 words.
type setGroup struct {
	mask uint64 // bit i is set: there is an edge set for the word 64*word+i
	word int32
	set  int32 // the first edge set of the group
}

// symbolBit maps each symbol to one of 64 bits. A set of symbols is
// approximated by the bits of all its symbols: if the bit of a symbol is not
// set, the symbol is certainly not in the set. If it is set, the symbol may be
// in the set, since several symbols share a bit.
func symbolBit(symbol int32) uint64 { return 1 << (symbol & 63) }

// match returns the winner among best and the rules of the index.
func (x *fragmentIndex) match(s *subject, best winner) winner {
	if s.literal == s.target {
		return x.matchText(s.target, anyForm, best)
	}
	best = x.matchText(s.target, queryForm, best)
	return x.matchText(s.literal, pathForm, best)
}

// form selects the rules that are compared with a text.
type form uint8

const (
	pathForm  form = 1 << iota // rules without a `?`
	queryForm                  // rules with a `?`
	anyForm   = pathForm | queryForm
)

func (x *fragmentIndex) matchText(text string, f form, best winner) winner {
	var few stackHits
	h, at, state := x.scan(few[:0], text, 0, 0)
	if at == len(text) && !x.mayEnd(h, at, best.rank) {
		return best
	}
	m := x.pool.Get().(*fragmentScratch)
	if at < len(text) {
		m.hits, _, _ = x.scan(append(slices.Grow(m.hits[:0], len(text)+1), h...), text, at, state)
		h = m.hits
	}
	if x.mayEnd(h, len(text), best.rank) {
		m.mark(x, h, len(text), best.rank)
		m.reachRoots(x, text, f)
		best = x.sweep(m, text, best)
	}
	m.reset()
	x.pool.Put(m)
	return best
}

// mayEnd reports whether the hits in a text of n octets include the last
// fragment of a rule with a higher rank.
func (x *fragmentIndex) mayEnd(h []hit, n int, rank uint32) bool {
	for i := range h {
		if t := &x.fragments[h[i].fragment]; t.last > rank || t.anchored > rank && int(h[i].end) == n {
			return true
		}
	}
	return false
}

// findPrefix returns the longest prefix that text starts with, -1 for none.
func (x *fragmentIndex) findPrefix(text string) int32 {
	// The last prefix that sorts before text, or equals it, starts with the
	// wanted one.
	p := int32(sort.Search(len(x.prefixes), func(i int) bool { return x.prefixes[i].text > text })) - 1
	for p >= 0 && !strings.HasPrefix(text, x.prefixes[p].text) {
		p = x.prefixes[p].up
	}
	return p
}
