package robots

import (
	"math/bits"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// matcher is a list of rules, compiled. Its memory is proportional to the
// rules' patterns. The cost of a match follows the target's length. Only rules
// with a `*` whose beginnings the target has cost more: at most in proportion
// to the fragments of these beginnings.
//
// Patterns up to their first `*` are in a radix tree. A node of it knows the
// rule that wins among all patterns without a `*` that end there or above,
// so that one walk down the tree finds the winner of these. Rules with a `*`
// hang on the node where their first `*` stands, or, where a target could meet
// many, are in an index of the fragments that they require.
//
// It is safe for concurrent use.
type matcher struct {
	nodes  []node
	lists  []wildList
	direct []wildRule     // what the lists hold
	index  *fragmentIndex // nil where the lists hold all
}

// node is a node of the radix tree. The children of a node stand one after
// the other in the order of the octets that their labels start with.
type node struct {
	head  uint64 // the first eight octets of label, or fewer
	label string
	child [2]uint64 // which octets below 128 a child's label starts with
	first int32     // the first child
	wild  int32     // the nearest list at this node or above it, -1: none
	best  winner    // of the patterns that end here or above
	exact winner    // of the patterns that end here with a `$`
}

// winner is a rule that matched and its rank: the higher one wins. The zero
// winner is none.
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

// wildList holds the rules whose first `*` stands at one node.
type wildList struct {
	from, to int32 // in matcher.direct, highest rank first
	next     int32 // the list of the nearest node above that has one
	count    int32 // rules in it and those above
	top      uint32
}

// wildRule is a rule with a `*`.
type wildRule struct {
	winner
	pattern.Pattern
}

// walk returns the deepest node whose text s starts with, and whether s ends
// there.
func (m *matcher) walk(s string) (nd *node, end bool) {
	nd = &m.nodes[0]
	i := 0
	for i < len(s) {
		c := s[i]
		if c >= 128 {
			return nd, false
		}
		word, bit := nd.child[c>>6], uint64(1)<<(c&63)
		if word&bit == 0 {
			return nd, false
		}
		k := int(nd.first) + bits.OnesCount64(word&(bit-1))
		if c >= 64 {
			k += bits.OnesCount64(nd.child[0])
		}
		next := &m.nodes[k]
		if !next.labels(s, i) {
			return nd, false
		}
		i += len(next.label)
		nd = next
	}
	return nd, true
}

// labels reports whether the node's label stands in s at i.
func (nd *node) labels(s string, i int) bool {
	n := len(nd.label)
	if i+8 <= len(s) {
		if n <= 8 {
			return (canonical.Load64(s, i)^nd.head)<<(64-8*uint(n)) == 0
		}
		if canonical.Load64(s, i) != nd.head {
			return false
		}
	}
	return i+n <= len(s) && s[i:i+n] == nd.label
}

// match returns the rule that decides on s.
func (m *matcher) match(s *subject) winner {
	nd, end := m.walk(s.target)
	best := nd.best
	if end && nd.exact.rank > best.rank {
		best = nd.exact
	}
	if nd.wild >= 0 {
		best = m.matchLists(s, nd.wild, best)
	}
	if m.index != nil {
		best = m.index.match(s, best)
	}
	return best
}

func (m *matcher) matchLists(s *subject, list int32, best winner) winner {
	for list >= 0 {
		l := &m.lists[list]
		if l.top <= best.rank {
			break
		}
		for i := l.from; i < l.to; i++ {
			r := &m.direct[i]
			if r.rank <= best.rank {
				break
			}
			if r.MatchesRest(r.subject(s)) {
				best = r.winner
				break
			}
		}
		list = l.next
	}
	return best
}

// subject returns the form of the target that the rule is compared with.
func (r *wildRule) subject(s *subject) string {
	if r.Query {
		return s.target
	}
	return s.literal
}
