package robots

import "slices"

// automaton finds all occurrences of fragments in a text in one pass (Aho and
// Corasick, 1975). The most frequent states are rows of a table. The other
// states, deep inside fragments, are nodes; at each octet, scan searches for a
// child of the node. The memory is proportional to the total length of the
// fragments.
type automaton struct {
	starts  [256]bool   // octets at the start of any fragment
	classes [256]uint16 // octets that occur in fragments, from 1; 0: all others
	width   uint32      // number of classes
	table   []step      // rows of width steps; a state below sparseState is the index of its row
	nodes   []trieNode  // level by level; the last one only ends the children of the one before
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
	first    int32 // the first child; they end at the first child of the next node
	fail     int32 // the node of the longest proper suffix of this prefix that has children
	fragment int32 // the longest fragment that is a suffix of this prefix, 0: none
	octet    byte  // the last one of the prefix
}

// child returns the child of a node for an octet, 0: none.
func (a *automaton) child(n int32, c byte) int32 {
	from, to := a.nodes[n].first, a.nodes[n+1].first
	for from < to {
		mid := (from + to) / 2
		switch o := a.nodes[mid].octet; {
		case o == c:
			return mid
		case o < c:
			from = mid + 1
		default:
			to = mid
		}
	}
	return 0
}

func (a *automaton) isLeaf(n int32) bool { return a.nodes[n].first == a.nodes[n+1].first }

// after returns the node at which scan continues behind a node: a leaf has the
// transitions of the suffix that has children.
func (a *automaton) after(n int32) int32 {
	if a.isLeaf(n) {
		return a.nodes[n].fail
	}
	return n
}

// step returns the transition to a node.
func (a *automaton) step(n int32) step {
	to := a.after(n)
	if to < a.rows {
		return step{a.rowOf[to], a.nodes[n].fragment}
	}
	return step{uint32(to) | sparseState, a.nodes[n].fragment}
}

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
	suffix = a.link(a.buildTrie(fragments), len(fragments))
	a.buildTable(fragments)
	return a, suffix
}

// buildTrie makes the nodes, level by level. For each node, it returns the
// fragment that ends there, 0 for none. It stores the parent of each node in
// fail; link replaces it.
func (a *automaton) buildTrie(fragments []string) (own []int32) {
	type job struct{ from, to int } // the fragments that start with the prefix of the node
	jobs := []job{{0, len(fragments)}}
	a.nodes = []trieNode{{}}
	own = []int32{0}
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
			a.nodes = append(a.nodes, trieNode{fail: int32(n), octet: c})
			own, jobs = append(own, 0), append(jobs, job{j.from, to})
			j.from = to
		}
	}
	a.nodes = slices.Clone(append(a.nodes, trieNode{first: int32(len(a.nodes))}))
	return own
}

// link sets fail and fragment of each node.
func (a *automaton) link(own []int32, fragments int) (suffix []int32) {
	suffix = make([]int32, fragments+1)
	for n := 1; n < len(own); n++ {
		nd := &a.nodes[n]
		fail := int32(0)
		for at := nd.fail; at != 0 && fail == 0; {
			at = a.nodes[at].fail
			fail = a.child(at, nd.octet)
		}
		nd.fail, nd.fragment = a.after(fail), a.nodes[fail].fragment
		if own[n] != 0 {
			suffix[own[n]] = nd.fragment
			nd.fragment = own[n]
		}
	}
	return suffix
}

// The table may have minTable steps, and tableFactor steps for each octet of the
// fragments, but at most maxTable.
const (
	minTable    = 1 << 10
	tableFactor = 3
	maxTable    = 1 << 15
)

// buildTable makes rows for the first nodes, until the table has its maximal
// size.
func (a *automaton) buildTable(fragments []string) {
	limit := 0
	for _, f := range fragments {
		limit += len(f)
	}
	limit = min(max(minTable, tableFactor*limit), maxTable)
	size := uint32(0)
	for n := range int32(len(a.nodes) - 1) {
		row := a.width
		if a.isLeaf(n) {
			row = 0
		}
		if int(size+row) > limit {
			break
		}
		a.rowOf = append(a.rowOf, size)
		size += row
	}
	a.rows, a.rowOf = int32(len(a.rowOf)), slices.Clone(a.rowOf)
	a.table = make([]step, size)
	for n := range a.rows {
		if a.isLeaf(n) {
			continue
		}
		row := a.rowAt(n)
		if n > 0 {
			copy(row, a.rowAt(a.nodes[n].fail))
		}
		for c := a.nodes[n].first; c < a.nodes[n+1].first; c++ {
			row[a.classes[a.nodes[c].octet]] = a.step(c)
		}
	}
}

// rowAt returns the row of a node that has one.
func (a *automaton) rowAt(n int32) []step { return a.table[a.rowOf[n]:][:a.width] }

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
			s = a.search(int32(state&^sparseState), text[i])
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

// search returns the transition from a node without a row on an octet.
func (a *automaton) search(n int32, c byte) step {
	for {
		if child := a.child(n, c); child != 0 {
			return a.step(child)
		}
		if n = a.nodes[n].fail; n < a.rows { // at the latest for the root
			return a.rowAt(n)[a.classes[c]]
		}
	}
}
