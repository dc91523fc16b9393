package headers

import "slices"

// literals finds the rules whose key is the start or the end of a string. Its
// time depends on the number of different lengths of the keys, and not on the
// number of keys.
type literals struct {
	lengths []int // sorted
	rules   map[string][]int32
}

func (l *literals) add(key string, rule int32) {
	if l.rules == nil {
		l.rules = map[string][]int32{}
	}
	if i, known := slices.BinarySearch(l.lengths, len(key)); !known {
		l.lengths = slices.Insert(l.lengths, i, len(key))
	}
	l.rules[key] = append(l.rules[key], rule)
}

// upTo returns the lengths of the keys that are not longer than n octets.
func (l *literals) upTo(n int) []int {
	i, _ := slices.BinarySearch(l.lengths, n+1)
	return l.lengths[:i]
}
