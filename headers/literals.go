package headers

import "slices"

// literals finds the rules whose key is the start or the end of a string. Its
// time depends on the number of different lengths of the keys, and not on the
// number of keys.
type literals struct {
	lengths []literalLength // sorted
	rules   map[string][]int32
}

// literalLength is a length of keys, and the first and last octets of the keys of
// that length, so that most strings need no lookup.
type literalLength struct {
	n           int
	first, last [4]uint64 // a bit for each octet
}

func (l *literals) add(key string, rule int32) {
	if l.rules == nil {
		l.rules = map[string][]int32{}
	}
	i, known := slices.BinarySearchFunc(l.lengths, len(key), func(x literalLength, n int) int { return x.n - n })
	if !known {
		l.lengths = slices.Insert(l.lengths, i, literalLength{n: len(key)})
	}
	if at := &l.lengths[i]; key != "" {
		at.first[key[0]>>6] |= 1 << (key[0] & 63)
		at.last[key[len(key)-1]>>6] |= 1 << (key[len(key)-1] & 63)
	}
	l.rules[key] = append(l.rules[key], rule)
}

// mayHave reports whether a key of this length can be equal to s.
func (x *literalLength) mayHave(s string) bool {
	if s == "" {
		return true
	}
	a, b := s[0], s[len(s)-1]
	return x.first[a>>6]>>(a&63)&(x.last[b>>6]>>(b&63))&1 != 0
}
