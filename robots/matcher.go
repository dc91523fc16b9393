package robots

import (
	"math/bits"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// matcher is a compiled list of rules. Its memory is proportional to the total
// length of the patterns. The time of a match is proportional to the length of
// the target. Rules with a `*` add time only if the target matches their first
// fragments: at most in proportion to the number of these fragments.
//
// A radix tree has the text of each pattern before its first `*`. Each node has
// the winner of all patterns without a `*` that end there or above, so that one
// walk down the tree finds the winner of these. A rule with a `*` is in a list
// of the node where its first `*` is. If a target could match many such rules,
// they are in an index of the fragments that they require.
//
// It is safe for concurrent use.
type matcher struct {
	nodes []node
	*wildRules
}

// wildRules are the rules with a `*` of a matcher.
type wildRules struct {
	lists  []wildList
	direct []wildRule     // the rules of all lists
	grams  []uint64       // the pairs of octets that each of these requires; see pattern.Grams
	index  *fragmentIndex // nil if the lists hold all rules
}

// node is a node of the radix tree. The children of a node are adjacent and
// sorted by the first octets of their labels.
type node struct {
	head  uint64 // the first eight octets of label (see canonical.Load64); missing ones are 0
	label string
	child [2]uint64 // set of the octets below 128 at the start of the children's labels
	first int32     // the first child
	wild  int32     // the list at this node, or else at the nearest node above; -1: none
	best  winner    // of the patterns without a `$` that end here or above
	exact winner    // of the patterns that end here with a `$`
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

// wildList holds the rules that have their first `*` at one node.
type wildList struct {
	from, to int32 // range in matcher.direct, highest rank first
	next     int32 // the list of the nearest node above that has one; -1: none
	count    int32 // number of rules in this list and the lists above
	top      uint32
}

// wildRule is a rule with a `*`.
type wildRule struct {
	winner
	pattern.Pattern
}

// walk returns the deepest node with a text that is a prefix of s, and whether
// s is equal to that text.
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

// labels reports whether s has the label of the node at index i.
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

// match returns the winner of all rules that match s.
func (m *matcher) match(s *subject) winner {
	nd, end := m.walk(s.target)
	best := nd.best
	if end && nd.exact.rank > best.rank {
		best = nd.exact
	}
	if nd.wild >= 0 {
		best = m.matchLists(s, nd.wild, best)
	}
	if m.wildRules != nil && m.index != nil {
		best = m.index.match(s, best)
	}
	return best
}

// fewListed is the number of rules from which on it takes less time to compare
// grams first.
const fewListed = 4

func (m *matcher) matchLists(s *subject, list int32, best winner) winner {
	grams := ^uint64(0)
	if m.lists[list].count >= fewListed {
		if grams = pattern.Grams(s.target); s.literal != s.target {
			grams |= pattern.Grams(s.literal[strings.IndexByte(s.literal, '?'):]) // only the queries differ
		}
	}
	for list >= 0 {
		l := &m.lists[list]
		if l.top <= best.rank {
			break
		}
		for i, required := range m.grams[l.from:l.to] {
			if required&^grams != 0 {
				continue
			}
			r := &m.direct[int(l.from)+i]
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
