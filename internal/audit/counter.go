package audit

import (
	"cmp"
	"slices"
	"strings"
)

// otherName stands for all names that are not counted separately.
const otherName = "other"

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
	rest := c.other
	for len(list) > n {
		rest += list[len(list)-1].Requests
		list = list[:len(list)-1]
	}
	if rest > 0 {
		list = append(list, Count{otherName, rest})
	}
	return list
}

// sortCounts sorts by number of requests, most first.
func sortCounts(list []Count) {
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
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
