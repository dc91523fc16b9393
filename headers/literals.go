package headers

import "slices"

// literals finds the entries whose key is the start or the end of a string. Its
// time depends on the number of different lengths of the keys, and not on the
// number of keys.
type literals[T any] struct {
	lengths []int // sorted
	entries map[string][]T
}

func (l *literals[T]) add(key string, entry T) {
	if l.entries == nil {
		l.entries = map[string][]T{}
	}
	if i, known := slices.BinarySearch(l.lengths, len(key)); !known {
		l.lengths = slices.Insert(l.lengths, i, len(key))
	}
	l.entries[key] = append(l.entries[key], entry)
}

// upTo returns the lengths of the keys that are not longer than n octets.
func (l *literals[T]) upTo(n int) []int {
	i, _ := slices.BinarySearch(l.lengths, n+1)
	return l.lengths[:i]
}
