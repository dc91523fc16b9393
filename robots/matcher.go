package robots

import "math/bits"

// matcher is a list of rules, compiled. Its memory is proportional to the
// rules' patterns, and the cost of a match follows the target's length.
//
// Patterns up to their first `*` are in a radix tree. A node of it knows the
// rule that wins among all patterns without a `*` that end there or above,
// so that one walk down the tree finds the winner of these. Rules with a `*`
// hang on the node where their first `*` stands, or, where there are many at
// one node, in an index by a fragment that they require (see grams).
//
// It is safe for concurrent use.
type matcher struct {
	nodes  []node
	lists  []wildList
	direct []wildRule // what the lists hold
	grams  *gramIndex // nil where the lists hold all
}

// node is a node of the radix tree. The children of a node stand one after
// the other in the order of the octets that their labels start with.
type node struct {
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
	top      uint32
}

// wildRule is a rule with a `*`.
type wildRule struct {
	winner
	pattern
}

// walk returns the deepest node whose text s starts with, and whether s ends
// there.
func (m *matcher) walk(s string) (nd *node, end bool) {
	nd = &m.nodes[0]
	for len(s) > 0 {
		c := s[0]
		if c >= 128 {
			return nd, false
		}
		word, bit := nd.child[c>>6], uint64(1)<<(c&63)
		if word&bit == 0 {
			return nd, false
		}
		i := int(nd.first) + bits.OnesCount64(word&(bit-1))
		if c >= 64 {
			i += bits.OnesCount64(nd.child[0])
		}
		next := &m.nodes[i]
		n := len(next.label)
		if n > len(s) || s[:n] != next.label {
			return nd, false
		}
		s = s[n:]
		nd = next
	}
	return nd, true
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
	if m.grams != nil {
		best = m.grams.match(s, best)
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
			if r.matchRest(r.subject(s)) {
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
	if r.query {
		return s.target
	}
	return s.literal
}
