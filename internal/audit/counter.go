package audit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/axiomhq/hyperloglog"
)

// otherName stands for all names that are not counted separately.
const otherName = "other"

// maxNames is the most names in a counter.
const maxNames = 1000

// counter counts requests by name. When it has maxNames names, it counts further names
// as other.
type counter struct {
	counts map[string]*int64
	other  int64
}

// of returns a pointer to the count of a name. The counter clones a name that it
// keeps.
func (c *counter) of(name string) *int64 {
	if n := c.counts[name]; n != nil {
		return n
	}
	if len(c.counts) >= maxNames {
		return &c.other
	}
	return valueOf(&c.counts, strings.Clone(name), func() *int64 { return new(int64) })
}

// top returns the n most frequent names, most first, and the sum of the others.
func (c *counter) top(n int) []Count {
	list := []Count{}
	for name, count := range c.counts {
		if *count > 0 {
			list = append(list, Count{name, *count})
		}
	}
	sortCounts(list)
	rest, shown := c.other, min(n, len(list))
	for _, count := range list[shown:] {
		rest += count.Requests
	}
	if list = list[:shown]; rest > 0 {
		list = append(list, Count{otherName, rest})
	}
	return list
}

// sortCounts sorts by number of requests, most first.
func sortCounts(list []Count) {
	sortMost(list, func(c *Count) (int64, string) { return c.Requests, c.Name })
}

// sortMost sorts by a number, largest first, and elements with the same one by name.
func sortMost[T any](list []T, by func(*T) (n int64, name string)) {
	slices.SortFunc(list, func(a, b T) int {
		n, nameA := by(&a)
		m, nameB := by(&b)
		return cmp.Or(cmp.Compare(m, n), strings.Compare(nameA, nameB))
	})
}

// countIf adds 1 to a count if something is the case.
func countIf(n *int64, is bool) {
	if is {
		*n++
	}
}

// valueOf returns the value of a key. If there is none, it adds a new one to the map,
// which may be nil.
func valueOf[K comparable, V any](m *map[K]*V, key K, newValue func() *V) *V {
	v := (*m)[key]
	if v == nil {
		if *m == nil {
			*m = make(map[K]*V)
		}
		v = newValue()
		(*m)[key] = v
	}
	return v
}

// distinct counts different hashes with a HyperLogLog sketch of a few KiB. Small numbers
// are exact; the standard error of others is 1.6 %.
type distinct struct {
	sketch *hyperloglog.Sketch // nil without hashes
}

// exactHashes is the largest number that counts as exact.
const exactHashes = 64

func (d *distinct) add(hash uint64) {
	d.grow()
	d.sketch.InsertHash(hash)
}

// grow makes a sketch, if there is none.
func (d *distinct) grow() {
	if d.sketch == nil {
		d.sketch, _ = hyperloglog.NewSketch(12, true) // the precision is valid
	}
}

// merge adds the hashes of other.
func (d *distinct) merge(other *distinct) {
	if other.sketch != nil {
		d.grow()
		_ = d.sketch.Merge(other.sketch)
	}
}

// count returns the number, and whether it is an estimate.
func (d *distinct) count() (n int64, estimate bool) {
	if d.sketch != nil {
		n = int64(d.sketch.Estimate())
	}
	return n, n > exactHashes
}

// Period is a period of time. Both fields are nil if no line has a time.
type Period struct {
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
}

// span is the time from the first to the last of several requests, in nanoseconds
// since 1970.
type span struct {
	first, last int64
	known       bool
}

// add extends the span to a time.
func (s *span) add(at int64) {
	if !s.known {
		*s = span{at, at, true}
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// merge extends the span to another one.
func (s *span) merge(o span) {
	if o.known {
		s.add(o.first)
		s.add(o.last)
	}
}

func (s *span) report() (p Period) {
	if s.known {
		p.From, p.To = utc(s.first), utc(s.last)
	}
	return p
}

// utc returns a time in nanoseconds since 1970 for the report.
func utc(nanos int64) *time.Time {
	t := time.Unix(0, nanos).UTC()
	return &t
}
