package robots

import (
	"slices"
	"strings"
	"sync"
)

// fragmentIndex finds the winner among many rules with a `*`. A pattern is a
// prefix and a sequence of fragments. It matches a text that starts with the
// prefix and in which each fragment occurs behind the end of the one before,
// taking each time the first occurrence.
//
// Patterns are in a radix tree whose edges are fragments, so that a beginning
// that several rules share is searched for once. A text is scanned once for all
// fragments. Then the beginnings that occur in it are visited; those with many
// edges in the order of their ends in the text. From a beginning, only the
// edges are followed whose fragment still occurs behind its end: 64 edges at a
// time are compared with the set of these fragments. So a rule takes no time
// unless the text has one of its beginnings and, behind it, the rule's next
// fragment. Then each edge takes a few nanoseconds.
//
// It is safe for concurrent use.
type fragmentIndex struct {
	*automaton
	fragments []fragment // from 1
	texts     []string   // of the fragments
	sizes     []int32    // of the symbols: their octets
	symbols   []int32    // of the edges
	prefixes  []prefix   // sorted
	begins    []beginning
	edges     []edge
	sets      []edgeSet
	groups    []setGroup
	pool      sync.Pool // of *fragmentScratch
}

// fragment is a text between two `*` of a pattern, or after the last one. Its
// number is a symbol. Before a `$` a second symbol stands for the fragment: it
// means an occurrence at the end of the text.
type fragment struct {
	tops
	suffix int32 // the longest other one that it ends with, 0: none
	atEnd  int32 // the other symbol, 0: none
}

// tops are the highest ranks of the rules that have a fragment, or a suffix of
// it: as their last fragment, as their last fragment before a `$`, or at
// another place.
type tops struct{ last, anchored, inner uint32 }

// prefix is what patterns have before their first `*`.
type prefix struct {
	text  string
	up    int32    // the longest other prefix that it starts with, -1: none
	roots [2]int32 // its beginnings, of rules without and with a `?`; 0: none
}

// beginning is a node of the tree: a prefix, or the end of an edge, where
// patterns branch or one of several ends. Beginnings are numbered from 1,
// parents before their children.
type beginning struct {
	needs uint64 // symbolBit of what follows in all its rules
	least int32  // the octets that what follows takes at least
	top   uint32 // the highest rank of its rules
	edge  int32  // the first of its edges; the last is before those of the next beginning
	group int32  // the first of its groups of edge sets; it has none if its edges are few
}

// edge leads from a beginning over one or more fragments to the next place
// where patterns branch or end.
type edge struct {
	symbol   int32
	from, to int32 // the symbols that follow, in fragmentIndex.symbols
	child    int32 // the beginning behind it, 0: none
	winner         // the rule that ends with it; zero: none
	top      uint32
	least    int32  // the octets that its symbols and what follows take at least
	needs    uint64 // symbolBit of what follows the first symbol in all its rules
}

// edgeSet is a set of edges of a beginning: those of 64 symbols.
type edgeSet struct {
	mask uint64 // of the symbols 64*word+i
	edge int32  // the first of them
	top  uint32
}

// setGroup is the edge sets of a beginning for 64 words of symbols.
type setGroup struct {
	mask uint64 // of the words 64*word+i
	word int32
	set  int32 // the first of them
}

// symbolBit maps symbols to the bits of a word. The word of a set has the bits
// of all its symbols. Since several symbols share a bit, a set bit does not
// prove that a symbol is in the set; a bit that is not set proves that it is
// not.
func symbolBit(symbol int32) uint64 { return 1 << (symbol & 63) }

// match returns the winner among best and the rules of the index.
func (x *fragmentIndex) match(s *subject, best winner) winner {
	if s.literal == s.target {
		return x.matchText(s.target, anyForm, best)
	}
	best = x.matchText(s.target, queryForm, best)
	return x.matchText(s.literal, pathForm, best)
}

// form selects the rules that a text is compared with.
type form uint8

const (
	pathForm  form = 1 << iota // those without a `?`
	queryForm                  // those with one
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

// mayEnd reports whether hits in a text of n octets are of a fragment that a
// rule above a rank ends with.
func (x *fragmentIndex) mayEnd(h []hit, n int, rank uint32) bool {
	for i := range h {
		t := &x.fragments[h[i].fragment]
		if t.last > rank || t.anchored > rank && int(h[i].end) == n {
			return true
		}
	}
	return false
}

// findPrefix returns the longest prefix that text starts with, -1 for none.
func (x *fragmentIndex) findPrefix(text string) int32 {
	from, to := 0, len(x.prefixes)
	for from < to {
		if i := (from + to) / 2; x.prefixes[i].text <= text {
			from = i + 1
		} else {
			to = i
		}
	}
	// The last prefix that is not above text starts with the one sought.
	p := int32(from) - 1
	for p >= 0 && !strings.HasPrefix(text, x.prefixes[p].text) {
		p = x.prefixes[p].up
	}
	return p
}
