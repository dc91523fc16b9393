package headers

import (
	"slices"
	"strings"
)

// trie finds what is filed under the beginnings of a string, in time
// proportional to the part of the string that they share, however many there
// are. An octet that all keys of a node have in common costs no node.
type trie struct{ nodes []trieNode }

// trieNode is reached by the octets on the way to it and its own run.
type trieNode struct {
	run    string // what every key below has next
	labels string // the octets that lead on after it
	first  int32  // the node that the first label leads to; those of the others follow it
	ids    []int32
	whole  []int32 // filed under a string that has to end here
}

// trieKey is a key and what is filed under it: whole if it is all that the
// string may be, else its beginning.
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

// fill makes the node at of the keys, which share their first depth octets.
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

// shared is the number of octets that a and b begin with alike.
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// newBackTrie builds the trie of keys that are read from their end. The runs
// of its nodes are in the order of the string.
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

// backwards is s with its octets in reverse.
func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// descend goes from a node along s. It returns the node that it reaches, what
// is left of s there, and false where the trie has nothing more. To begin,
// enter node 0.
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

// enter is the root, what is left of s there, and false where nothing is
// filed under any beginning of s.
func (t *trie) enter(s string) (*trieNode, string, bool) {
	n := &t.nodes[0]
	s, found := strings.CutPrefix(s, n.run)
	return n, s, found
}

// descendBack is descend for a trie of keys backwards, along s from its end.
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

// enterBack is enter for a trie of keys backwards.
func (t *trie) enterBack(s string) (*trieNode, string, bool) {
	n := &t.nodes[0]
	s, found := strings.CutSuffix(s, n.run)
	return n, s, found
}
