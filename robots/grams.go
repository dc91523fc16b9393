package robots

import (
	"cmp"
	"slices"
	"strings"
)

// gramIndex finds the rules with a `*` whose required fragments a target
// holds. For each rule it knows one gram, up to three octets that stand
// between two `*` of its pattern or after the last; a target is looked
// through for grams once, whatever the number of rules.
type gramIndex struct {
	rules   []wildRule // by bucket, then highest rank first
	buckets []int32    // where the rules of each bucket begin, and the end of the last
	mask    uint32     // number of buckets less one
	sizes   [maxGram + 1]bool
	top     uint32
}

const (
	maxGram = 3
	// maxBuckets bounds the bitmap of the buckets that a match has looked
	// into, which lives on the stack.
	maxBuckets = 4096
)

func gramHash(g uint32, size int) uint32 {
	g |= uint32(size) << 24
	g *= 0x9E3779B1
	return g >> 16
}

// gram returns the size octets of s at i as a number.
func gram(s string, i, size int) uint32 {
	g := uint32(0)
	for k := range size {
		g = g<<8 | uint32(s[i+k])
	}
	return g
}

// fragments calls f with each fragment that p requires after its prefix.
func (p *wildRule) fragments(f func(string)) {
	for _, part := range p.Parts {
		f(part)
	}
	if p.Last != "" {
		f(p.Last)
	}
}

// newGramIndex indexes rules, each by that of its grams which the fewest of
// them have, of the longest grams that it has.
func newGramIndex(rules []wildRule) *gramIndex {
	n := uint32(64)
	for n < maxBuckets && n < 8*uint32(len(rules)) {
		n *= 2
	}
	x := &gramIndex{mask: n - 1}
	common := make([]int32, n)
	seen := make([]int32, n)
	for i := range rules {
		rules[i].grams(func(h uint32, _ int) {
			if h &= x.mask; seen[h] != int32(i)+1 {
				seen[h] = int32(i) + 1
				common[h]++
			}
		})
		x.top = max(x.top, rules[i].rank)
	}
	type entry struct {
		bucket uint32
		rule   int
	}
	entries := make([]entry, len(rules))
	for i := range rules {
		best, size := uint32(0), 0
		rules[i].grams(func(h uint32, s int) {
			if h &= x.mask; s > size || s == size && common[h] < common[best] {
				best, size = h, s
			}
		})
		entries[i] = entry{best, i}
		x.sizes[size] = true
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(rules[b.rule].rank, rules[a.rule].rank))
	})
	x.rules = make([]wildRule, len(rules))
	x.buckets = make([]int32, n+1)
	for i, e := range entries {
		x.rules[i] = rules[e.rule]
		x.buckets[e.bucket+1]++
	}
	for i := range n {
		x.buckets[i+1] += x.buckets[i]
	}
	return x
}

// grams calls f with the hash and size of each gram of the longest size that
// p's fragments have.
func (p *wildRule) grams(f func(hash uint32, size int)) {
	size := 0
	p.fragments(func(s string) { size = max(size, min(len(s), maxGram)) })
	p.fragments(func(s string) {
		for i := 0; i+size <= len(s); i++ {
			f(gramHash(gram(s, i, size), size), size)
		}
	})
}

// match returns the winner among best and the rules of the index.
func (x *gramIndex) match(s *subject, best winner) winner {
	if x.top <= best.rank {
		return best
	}
	var looked [maxBuckets / 64]uint64
	best = x.scan(s.target, s, best, &looked)
	if s.literal != s.target {
		best = x.scan(s.literal, s, best, &looked)
	}
	return best
}

// scan looks up each gram of text. A rule is compared with the target once,
// however often its gram occurs.
func (x *gramIndex) scan(text string, s *subject, best winner, looked *[maxBuckets / 64]uint64) winner {
	for size := 1; size <= maxGram; size++ {
		if !x.sizes[size] {
			continue
		}
		for i := 0; i+size <= len(text); i++ {
			b := gramHash(gram(text, i, size), size) & x.mask
			from, to := x.buckets[b], x.buckets[b+1]
			if from == to || looked[b>>6]&(1<<(b&63)) != 0 {
				continue
			}
			looked[b>>6] |= 1 << (b & 63)
			for k := from; k < to; k++ {
				r := &x.rules[k]
				if r.rank <= best.rank {
					break
				}
				own := r.subject(s)
				if strings.HasPrefix(own, r.Prefix) && r.MatchesRest(own) {
					best = r.winner
					break
				}
			}
		}
	}
	return best
}
