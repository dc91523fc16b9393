package audit

import (
	"cmp"
	"slices"
	"strings"
)

// otherName stands for all names that are not counted separately.
const otherName = "other"

// counter counts requests by name. When it has max names, it counts further names as
// other.
type counter struct {
	max    int
	counts map[string]*int64
	other  int64
}

func newCounter(max int) *counter { return &counter{max: max, counts: make(map[string]*int64)} }

// of returns a pointer to the count of a name. The counter clones a name that it
// keeps.
func (c *counter) of(name string) *int64 {
	if n := c.counts[name]; n != nil {
		return n
	}
	if len(c.counts) >= c.max {
		return &c.other
	}
	n := new(int64)
	c.counts[strings.Clone(name)] = n
	return n
}

// top returns the n most frequent names, most first, and the sum of the others.
func (c *counter) top(n int) []Count {
	list := make([]Count, 0, len(c.counts))
	for name, count := range c.counts {
		if *count > 0 {
			list = append(list, Count{name, *count})
		}
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
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
