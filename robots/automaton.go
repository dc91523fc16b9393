package robots

import (
	"math/bits"
	"slices"
)

// automaton finds all occurrences of fragments in a text in one pass (Aho and
// Corasick, 1975). The most frequent states are rows of a table. The other
// states, deep inside long fragments, are nodes; at each octet, scan searches
// for a child of the node. The memory is proportional to the total length of
// the fragments.
type automaton struct {
	starts  [256]bool   // octets at the start of any fragment
	classes [256]uint16 // octets that occur in fragments, from 1; 0: all others
	width   uint32      // number of classes
	table   []step      // rows of width steps; a state below sparseState is the index of its row
	nodes   []trieNode  // level by level
	rows    int32       // each node before this index has a row, or has no children
	rowOf   []uint32    // index of the row of each of these nodes
}

// step is the transition from a state on one octet.
type step struct {
	state    uint32
	fragment int32 // the longest fragment that ends with the octet, 0: none
}

// sparseState is added to the number of a node that has no row.
const sparseState = 1 << 31

// trieNode represents a prefix of one or more fragments. Its children are
// adjacent and sorted by their octets.
type trieNode struct {
	child    [2]uint64 // octets of the children; fragments have none above 127
	first    int32     // the first child
	fail     int32     // the node of the longest proper suffix of this prefix that has a node
	state    uint32    // the state in which scan continues after this prefix
	fragment int32     // the longest fragment that is a suffix of this prefix, 0: none
}

// next returns the child for an octet, 0: none.
func (n *trieNode) next(c byte) int32 {
	word, bit := n.child[c>>6&1], uint64(1)<<(c&63)
	if c >= 128 || word&bit == 0 {
		return 0
	}
	k := bits.OnesCount64(word & (bit - 1))
	if c >= 64 {
		k += bits.OnesCount64(n.child[0])
	}
	return n.first + int32(k)
}

func (n *trieNode) isLeaf() bool { return n.child == [2]uint64{} }

// newAutomaton returns the automaton for fragments. These must be sorted,
// unique and not empty; they get the numbers from 1. suffix has, for each
// fragment, the number of the longest other fragment that is its suffix, 0 for
// none.
func newAutomaton(fragments []string) (a *automaton, suffix []int32) {
	a = &automaton{width: 1}
	for _, f := range fragments {
		a.starts[f[0]] = true
		for i := range len(f) {
			if a.classes[f[i]] == 0 {
				a.classes[f[i]] = uint16(a.width)
				a.width++
			}
		}
	}
	own, octets := a.buildTrie(fragments)
	suffix = a.link(own, octets, len(fragments))
	a.buildTable(fragments, octets)
	return a, suffix
}

// buildTrie makes the nodes, level by level. For each node, it returns the
// fragment that ends there, 0 for none, and its last octet. It stores the parent
// of each node in fail; link replaces it.
func (a *automaton) buildTrie(fragments []string) (own []int32, octets []byte) {
	type job struct{ from, to int } // the fragments that start with the prefix of the node
	jobs := []job{{0, len(fragments)}}
	a.nodes = []trieNode{{}}
	own, octets = []int32{0}, []byte{0}
	depth, level := 0, 1 // level is the index of the first node of the next level
	for n := 0; n < len(a.nodes); n++ {
		if n == level {
			depth, level = depth+1, len(a.nodes)
		}
		j := jobs[n]
		if len(fragments[j.from]) == depth {
			own[n] = int32(j.from) + 1
			j.from++
		}
		a.nodes[n].first = int32(len(a.nodes))
		for j.from < j.to {
			c := fragments[j.from][depth]
			to := j.from + 1
			for to < j.to && fragments[to][depth] == c {
				to++
			}
			a.nodes[n].child[c>>6&1] |= 1 << (c & 63)
			a.nodes = append(a.nodes, trieNode{fail: int32(n)})
			own, octets = append(own, 0), append(octets, c)
			jobs = append(jobs, job{j.from, to})
			j.from = to
		}
	}
	a.nodes = slices.Clip(a.nodes)
	return own, octets
}

// link sets fail, fragment and state of each node.
func (a *automaton) link(own []int32, octets []byte, fragments int) (suffix []int32) {
	suffix = make([]int32, fragments+1)
	for n := 1; n < len(a.nodes); n++ {
		nd := &a.nodes[n]
		parent := nd.fail
		nd.fail = 0
		for at := parent; at != 0; {
			at = a.nodes[at].fail
			if child := a.nodes[at].next(octets[n]); child != 0 {
				nd.fail = child
				break
			}
		}
		f := &a.nodes[nd.fail]
		nd.fragment = f.fragment
		if own[n] != 0 {
			suffix[own[n]] = f.fragment
			nd.fragment = own[n]
		}
		nd.state = uint32(n)
		if nd.isLeaf() {
			nd.state = f.state
		}
	}
	return suffix
}

// minTable is a number of steps that the table may have for any size of the
// fragments.
const minTable = 32 << 10

// buildTable makes rows for the first nodes, until the table has its maximal
// size.
func (a *automaton) buildTable(fragments []string, octets []byte) {
	size := 0
	for _, f := range fragments {
		size += len(f)
	}
	limit := max(minTable, 4*size)
	a.rowOf = make([]uint32, 0, 64)
	for n := range a.nodes {
		if !a.nodes[n].isLeaf() || n == 0 {
			if len(a.table)+int(a.width) > limit {
				break
			}
			a.rowOf = append(a.rowOf, uint32(len(a.table)))
			a.table = append(a.table, make([]step, a.width)...)
		} else {
			a.rowOf = append(a.rowOf, 0)
		}
	}
	a.table = slices.Clip(a.table)
	a.rows = int32(len(a.rowOf))
	for n := range a.nodes {
		nd := &a.nodes[n]
		if nd.state < uint32(a.rows) {
			nd.state = a.rowOf[nd.state]
		} else {
			nd.state |= sparseState
		}
	}
	for n := range a.rows {
		nd := &a.nodes[n]
		if n > 0 && nd.isLeaf() {
			continue
		}
		row := a.table[a.rowOf[n]:][:a.width]
		if n > 0 {
			copy(row, a.rowAt(nd.fail))
		}
		children := bits.OnesCount64(nd.child[0]) + bits.OnesCount64(nd.child[1])
		for k := range children {
			child := int(nd.first) + k
			row[a.classes[octets[child]]] = step{a.nodes[child].state, a.nodes[child].fragment}
		}
	}
}

// rowAt returns the row of a node whose index is below a.rows. A leaf has no
// row; it uses the row of the first node with a row on its chain of fail links.
func (a *automaton) rowAt(n int32) []step {
	for n > 0 && a.nodes[n].isLeaf() {
		n = a.nodes[n].fail
	}
	return a.table[a.rowOf[n]:][:a.width]
}

// scan appends to h the occurrences of fragments in text. It starts at the
// octet from, in the given state. It stops at the end of text or when h has
// reached its capacity, and returns the position and the state there. It takes
// and returns the slice h itself, so that its array can be on the stack of the
// caller.
func (a *automaton) scan(h []hit, text string, from int, state uint32) ([]hit, int, uint32) {
	for i := from; i < len(text); i++ {
		if state == 0 {
			for !a.starts[text[i]] {
				if i++; i == len(text) {
					return h, i, state
				}
			}
		}
		var s step
		if state < sparseState {
			s = a.table[state+uint32(a.classes[text[i]])]
		} else {
			s = a.sparse(int32(state&^sparseState), text[i])
		}
		state = s.state
		if s.fragment == 0 {
			continue
		}
		h = append(h, hit{int32(i) + 1, s.fragment})
		if len(h) == cap(h) {
			return h, i + 1, state
		}
	}
	return h, len(text), state
}

// sparse returns the transition on an octet from a node without a row.
func (a *automaton) sparse(n int32, c byte) step {
	for n >= a.rows {
		if child := a.nodes[n].next(c); child != 0 {
			return step{a.nodes[child].state, a.nodes[child].fragment}
		}
		n = a.nodes[n].fail
	}
	return a.rowAt(n)[a.classes[c]]
}
