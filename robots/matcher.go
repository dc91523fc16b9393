package robots

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// matcher is a compiled list of rules. Its memory is proportional to the total
// length of the patterns.
//
// A radix tree has the text of each pattern without a `*`. Each node has the winner
// of all patterns without a `$` that end there or above, so that one walk down the
// tree finds the winner of these. Rules with a `*` are compared one after the other
// if they are few. If they are many, they are in an index of the fragments that they
// require.
//
// It is safe for concurrent use.
type matcher struct {
	nodes    []node
	text     string    // has the labels of the nodes; the text of the file, if it has all of them
	variants []variant // in the order of the rules
	*wildRules
}

// wildRules are the rules with a `*` or a `$` of a matcher.
type wildRules struct {
	exact []exactRule   // sorted
	wilds []wildPattern // highest rank first; none if they are in the index
	grams []uint64      // the pairs of octets that each of these requires; see pattern.Grams
	index *wildIndex
}

// node is a node of the radix tree. The children of a node are adjacent and
// sorted by the first octets of their labels.
type node struct {
	head  uint64    // the first eight octets of the label (see canonical.Load64); missing ones are 0
	at    uint32    // the label in matcher.text, plus hasExact if there is an exactRule
	size  uint32    // octets of the label
	child [2]uint64 // set of the octets below 128 at the start of the children's labels
	first int32     // the first child
	best  winner    // of the patterns without a `$` that end here or above
}

const hasExact = 1 << 31

// exactRule is the winner of the patterns that end at a node with a `$`.
type exactRule struct {
	node int32
	winner
}

// winner is a rule that matched, and its rank. Of several, the one with the
// highest rank decides. The zero winner means that no rule matched.
type winner struct {
	rank uint32
	rule int32
}

func (w winner) over(o winner) winner {
	if w.rank > o.rank {
		return w
	}
	return o
}

// wildPattern is a rule with a `*`.
type wildPattern struct {
	winner
	pattern.Pattern
}

// walk returns the deepest node with a text that is a prefix of s, its index, and
// whether s is equal to that text.
func (m *matcher) walk(s string) (nd *node, at int, end bool) {
	nd = &m.nodes[0]
	i := 0
	for i < len(s) {
		c := s[i]
		if c >= 128 {
			return nd, at, false
		}
		word, bit := nd.child[c>>6], uint64(1)<<(c&63)
		if word&bit == 0 {
			return nd, at, false
		}
		k := int(nd.first) + bits.OnesCount64(word&(bit-1))
		if c >= 64 {
			k += bits.OnesCount64(nd.child[0])
		}
		next := &m.nodes[k]
		if next.size <= 8 && i+8 <= len(s) {
			if (canonical.Load64(s, i)^next.head)<<(64-8*next.size) != 0 {
				return nd, at, false
			}
		} else if !m.labels(next, s, i) {
			return nd, at, false
		}
		i += int(next.size)
		at, nd = k, next
	}
	return nd, at, true
}

// labels reports whether s has the label of a node at index i.
func (m *matcher) labels(nd *node, s string, i int) bool {
	n := int(nd.size)
	if i+8 <= len(s) && canonical.Load64(s, i) != nd.head {
		return false
	}
	return i+n <= len(s) && s[i:i+n] == m.text[nd.at&^hasExact:][:n]
}

// match returns the winner of all rules that match s.
func (m *matcher) match(s *subject) winner {
	nd, at, end := m.walk(s.target)
	best := nd.best
	if m.wildRules == nil {
		return best
	}
	if end && nd.at&hasExact != 0 {
		i, _ := slices.BinarySearchFunc(m.exact, int32(at), exactRule.compare)
		best = m.exact[i].over(best)
	}
	if m.index != nil {
		return m.index.match(s, best)
	}
	return m.matchList(s, best)
}

func (e exactRule) compare(node int32) int { return cmp.Compare(e.node, node) }

// fewListed is the number of rules from which on it takes less time to compare
// grams first.
const fewListed = 4

// matchList returns the winner among best and the rules that are not in the index.
func (m *matcher) matchList(s *subject, best winner) winner {
	grams := ^uint64(0)
	if len(m.wilds) >= fewListed {
		if grams = pattern.Grams(s.target); s.literal != s.target {
			grams |= pattern.Grams(s.literal[strings.IndexByte(s.literal, '?'):]) // only the queries differ
		}
	}
	for i, required := range m.grams {
		if required&^grams != 0 {
			continue
		}
		r := &m.wilds[i]
		if r.rank <= best.rank {
			break
		}
		if r.Matches(s.form(r.Query)) {
			return r.winner
		}
	}
	return best
}
