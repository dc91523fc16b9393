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

// maxNames is the most names of a list, but for others.
const maxNames = 1000

// counter counts requests by name. Its names are not those that clients choose.
type counter map[string]int64

// top returns the n most frequent names, most first, and the sum of the others.
func (c counter) top(n int) []Count {
	list := []Count{}
	for name, requests := range c {
		list = append(list, Count{name, requests})
	}
	sortMost(list, func(c Count) (int64, string) { return c.Requests, c.Name })
	rest := Count{Name: otherName}
	for len(list) > n {
		last := len(list) - 1
		rest.Requests += list[last].Requests
		list = list[:last]
	}
	if rest.Requests > 0 {
		list = append(list, rest)
	}
	return list
}

// sortMost sorts by a number, largest first, and elements with the same one by name.
func sortMost[T any](list []T, by func(T) (n int64, name string)) {
	slices.SortFunc(list, func(a, b T) int {
		n, nameA := by(a)
		m, nameB := by(b)
		return cmp.Or(cmp.Compare(m, n), strings.Compare(nameA, nameB))
	})
}

// addIf adds a number to a count if something is the case.
func addIf(n *int64, is bool, more int64) {
	if is {
		*n += more
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

// Distinct counts different hashes with a HyperLogLog sketch of a few KiB. Small numbers
// are exact; the standard error of others is 1.6 %.
type Distinct struct {
	sketch *hyperloglog.Sketch // nil without hashes
}

// exactHashes is the largest number that is exact.
const exactHashes = 64

// Add adds a hash.
func (d *Distinct) Add(hash uint64) {
	if d.sketch == nil {
		d.sketch, _ = hyperloglog.NewSketch(12, true) // the precision is valid
	}
	d.sketch.InsertHash(hash)
}

// Count returns the number.
func (d *Distinct) Count() int64 {
	if d.sketch == nil {
		return 0
	}
	return int64(d.sketch.Estimate())
}

// Period is the time from the first to the last of several requests. Both fields are nil if
// none has a time.
type Period struct {
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
}

// add extends the period to a time.
func (p *Period) add(at time.Time) {
	switch {
	case p.From == nil:
		from, to := at, at
		p.From, p.To = &from, &to
	case at.Before(*p.From):
		*p.From = at
	case at.After(*p.To):
		*p.To = at
	}
}

// merge extends the period to another one.
func (p *Period) merge(o Period) {
	if o.From != nil {
		p.add(*o.From)
		p.add(*o.To)
	}
}
