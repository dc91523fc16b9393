package headers

import (
	"slices"
	"strings"
)

// trie finds all keys that are prefixes of a string. Its time does not depend
// on the number of keys, only on the length of the string. Octets that all keys
// below a node share are stored in that node.
type trie struct{ nodes []trieNode }

// trieNode represents the octets on the path from the root to it, followed by
// its run.
type trieNode struct {
	run    string // the octets that follow in all keys below
	labels string // the first octet of each child
	first  int32  // index of the child for the first label; the other children follow it
	ids    []int32
	whole  []int32 // values of keys that must equal the whole string
}

// trieKey is a key and its value. If whole is set, the key must be equal to the
// string; otherwise it must be a prefix of it.
type trieKey struct {
	key   string
	whole bool
	id    int32
}

// newTrie returns the trie of keys.
func newTrie(keys []trieKey) trie {
	t := trie{nodes: make([]trieNode, 1)}
	if len(keys) > 0 {
		t.fill(0, keys, 0)
	}
	return t
}

// fill builds the node at index at, and the nodes below it, from keys that
// share their first depth octets.
func (t *trie) fill(at int32, keys []trieKey, depth int) {
	run := keys[0].key[depth:]
	for _, k := range keys[1:] {
		run = run[:shared(run, k.key[depth:])]
	}
	depth += len(run)
	n := trieNode{run: run}
	next := map[byte][]trieKey{}
	for _, k := range keys {
		switch {
		case len(k.key) > depth:
			next[k.key[depth]] = append(next[k.key[depth]], k)
		case k.whole:
			n.whole = append(n.whole, k.id)
		default:
			n.ids = append(n.ids, k.id)
		}
	}
	labels := make([]byte, 0, len(next))
	for c := range next {
		labels = append(labels, c)
	}
	slices.Sort(labels)
	n.labels, n.first = string(labels), int32(len(t.nodes))
	t.nodes[at] = n
	t.nodes = append(t.nodes, make([]trieNode, len(labels))...)
	for i, c := range labels {
		t.fill(n.first+int32(i), next[c], depth+1)
	}
}

// shared returns the length of the common prefix of a and b.
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// newBackTrie returns a trie that finds all keys that are suffixes of a string.
// Its nodes represent the keys from their ends; the runs have the order of the
// string.
func newBackTrie(keys []trieKey) trie {
	for i := range keys {
		keys[i].key = backwards(keys[i].key)
	}
	t := newTrie(keys)
	for i := range t.nodes {
		t.nodes[i].run = backwards(t.nodes[i].run)
	}
	return t
}

// backwards returns s with its octets in reverse order.
func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// descend moves from a node to the child for the start of s. It returns the
// child, the rest of s, and false if there is no such child. Start with enter.
func (t *trie) descend(n *trieNode, s string) (*trieNode, string, bool) {
	if s == "" {
		return nil, "", false
	}
	i := strings.IndexByte(n.labels, s[0])
	if i < 0 {
		return nil, "", false
	}
	n = &t.nodes[n.first+int32(i)]
	s, found := strings.CutPrefix(s[1:], n.run)
	return n, s, found
}

// enter returns the root, the rest of s after the run of the root, and false if
// s does not start with that run.
func (t *trie) enter(s string) (*trieNode, string, bool) {
	n := &t.nodes[0]
	s, found := strings.CutPrefix(s, n.run)
	return n, s, found
}

// descendBack is descend for a trie of newBackTrie: it reads s from its end.
func (t *trie) descendBack(n *trieNode, s string) (*trieNode, string, bool) {
	if s == "" {
		return nil, "", false
	}
	i := strings.IndexByte(n.labels, s[len(s)-1])
	if i < 0 {
		return nil, "", false
	}
	n = &t.nodes[n.first+int32(i)]
	s, found := strings.CutSuffix(s[:len(s)-1], n.run)
	return n, s, found
}

// enterBack is enter for a trie of newBackTrie.
func (t *trie) enterBack(s string) (*trieNode, string, bool) {
	n := &t.nodes[0]
	s, found := strings.CutSuffix(s, n.run)
	return n, s, found
}
