package headers

import (
	"slices"
	"strings"
)

// trie finds all keys that are prefixes of a string, in time proportional to
// the part of the string that it follows, independent of the number of keys.
// Octets that all keys below a node share are stored in one node.
type trie struct{ nodes []trieNode }

// trieNode stands for the octets on the path from the root, followed by its own
// run.
type trieNode struct {
	run    string // the octets that every key below has next
	labels string // the first octets of the children
	first  int32  // the child of the first label; the other children follow it
	ids    []int32
	whole  []int32 // values of keys that must equal the whole string
}

// trieKey is a key and its value. If whole is set, the key must equal the
// string; otherwise it must be a prefix.
type trieKey struct {
	key   string
	whole bool
	id    int32
}

// newTrie builds the trie of keys.
func newTrie(keys []trieKey) trie {
	t := trie{nodes: make([]trieNode, 1)}
	if len(keys) > 0 {
		t.fill(0, keys, 0)
	}
	return t
}

// fill builds the node at index at from the keys, which share their first depth
// octets.
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

// newBackTrie builds a trie of keys that are read from their end. The runs of
// its nodes are in the order of the string.
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

// descend follows s from a node to a child. It returns the child, the rest of
// s, and false if there is no such child. Begin with enter.
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

// enter returns the root, the rest of s after its run, and false if no key is a
// prefix of s.
func (t *trie) enter(s string) (*trieNode, string, bool) {
	n := &t.nodes[0]
	s, found := strings.CutPrefix(s, n.run)
	return n, s, found
}

// descendBack is descend for a trie of newBackTrie: it follows s from its end.
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
