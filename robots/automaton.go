package robots

import "slices"

// automaton finds all occurrences of fragments in a text in one pass (Aho and
// Corasick, 1975). Its memory is proportional to the total length of the
// fragments, its time to that of the text.
type automaton struct {
	root   [256]int32 // the child of the root for each octet, 0: none
	nodes  []trieNode // level by level; the last one only ends the children of the one before
	suffix []int32    // by fragment: the longest other one that is its suffix, 0: none
}

// trieNode represents a prefix of one or more fragments. Its children are
// adjacent and sorted by their octets.
type trieNode struct {
	first    int32 // the first child; they end at the first child of the next node
	fail     int32 // the node of the longest proper suffix of this prefix, 0: the root
	fragment int32 // the longest fragment that is a suffix of this prefix, 0: none
	octet    byte  // the last one of the prefix
}

// newAutomaton returns the automaton for fragments. These must be sorted,
// unique and not empty; they get the numbers from 1.
func newAutomaton(fragments []string) *automaton {
	a := &automaton{nodes: []trieNode{{}}, suffix: make([]int32, len(fragments)+1)}
	type job struct {
		from, to int // the fragments that start with the prefix of the node
		parent   int32
	}
	jobs := []job{{0, len(fragments), 0}}
	depth, level := 0, 1 // level is the index of the first node of the next level
	for n := 0; n < len(jobs); n++ {
		if n == level {
			depth, level = depth+1, len(jobs)
		}
		j := jobs[n]
		nd := &a.nodes[n]
		if depth > 1 { // those of all shorter prefixes are set, and their children known
			nd.fail = a.step(a.nodes[j.parent].fail, nd.octet)
		}
		nd.fragment = a.nodes[nd.fail].fragment
		if len(fragments[j.from]) == depth {
			j.from++
			a.suffix[j.from], nd.fragment = nd.fragment, int32(j.from)
		}
		nd.first = int32(len(jobs))
		for j.from < j.to {
			c := fragments[j.from][depth]
			to := j.from + 1
			for to < j.to && fragments[to][depth] == c {
				to++
			}
			if n == 0 {
				a.root[c] = int32(len(jobs))
			}
			a.nodes, jobs = append(a.nodes, trieNode{octet: c}), append(jobs, job{j.from, to, int32(n)})
			j.from = to
		}
	}
	a.nodes = slices.Clone(append(a.nodes, trieNode{first: int32(len(a.nodes))}))
	return a
}

// step returns the node of the longest suffix of a node and the octet behind it.
func (a *automaton) step(n int32, c byte) int32 {
	for n != 0 {
		for child := a.nodes[n].first; child < a.nodes[n+1].first; child++ {
			if a.nodes[child].octet == c {
				return child
			}
		}
		n = a.nodes[n].fail
	}
	return a.root[c]
}
