package headers

import (
	"slices"
	"strings"
)

// trie finds what is filed under the beginnings of a string, or under its ends
// where it is read backwards, in time proportional to the part of the string
// that they share, however many there are.
type trie struct {
	reverse bool
	nodes   []trieNode
}

type trieNode struct {
	labels string // the octets that lead on
	first  int32  // the node that the first of them leads to; the others follow it
	whole  []int32
	part   []int32
}

// trieKey is a key and what is filed under it: whole if it is all that the
// string may be, else its beginning.
type trieKey struct {
	key   string
	whole bool
	id    int32
}

// newTrie builds the trie of keys.
func newTrie(keys []trieKey, reverse bool) trie {
	t := trie{reverse: reverse, nodes: make([]trieNode, 1)}
	if reverse {
		keys = slices.Clone(keys)
		for i := range keys {
			b := []byte(keys[i].key)
			slices.Reverse(b)
			keys[i].key = string(b)
		}
	}
	if len(keys) > 0 {
		t.fill(0, keys, 0)
	}
	return t
}

// fill makes the node at of the keys, which share their first depth octets.
func (t *trie) fill(at int32, keys []trieKey, depth int) {
	next := map[byte][]trieKey{}
	for _, k := range keys {
		switch {
		case len(k.key) > depth:
			next[k.key[depth]] = append(next[k.key[depth]], k)
		case k.whole:
			t.nodes[at].whole = append(t.nodes[at].whole, k.id)
		default:
			t.nodes[at].part = append(t.nodes[at].part, k.id)
		}
	}
	labels := make([]byte, 0, len(next))
	for c := range next {
		labels = append(labels, c)
	}
	slices.Sort(labels)
	first := int32(len(t.nodes))
	t.nodes[at].labels, t.nodes[at].first = string(labels), first
	t.nodes = append(t.nodes, make([]trieNode, len(labels))...)
	for i, c := range labels {
		t.fill(first+int32(i), next[c], depth+1)
	}
}

// walk is the node that the octet c leads to.
func (n *trieNode) walk(c byte) (int32, bool) {
	i := strings.IndexByte(n.labels, c)
	return n.first + int32(i), i >= 0
}
