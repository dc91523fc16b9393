package cost

import (
	"maps"
	"slices"
)

// minAlike is the number of segments from which on those with the same names below
// them are folded: /blog/blame and /shop/blame and /wiki/blame become /*/blame.
const minAlike = 3

const (
	fewRows = 4 // names that are at one place and cost up to fewRows times a row's share
	// Names with less variance, in parts of the square of the mean, cost the same.
	sameCost = 0.03
)

// names are those of nodes, with the costs of what is below them.
type names map[string]Sum

// fold folds the segments below n that vary, from the begin of the paths to their ends:
// those that are alike, and those that cost too little for a row of their own.
func (r *rows) fold(n *node) {
	for depth := range 2 {
		n.fold(func(all []*node) []*node { return r.alike(all, depth) })
	}
	n.fold(r.rare)
	for _, c := range n.children {
		r.fold(c)
	}
}

// below returns the names of the children of n, but for *, or of those of its children at a
// depth.
func (n *node) below(depth int) names {
	list := make(names)
	for name, c := range n.children {
		if depth == 0 && name != varying && !isQuery(name) {
			list.add(name, c.whole)
		}
		if depth > 0 {
			for name, sum := range c.below(depth - 1) {
				list.add(name, sum)
			}
		}
	}
	return list
}

// rare returns those of several nodes that cost too little for a row of their own, and those
// that cost the same if they cost too little for so many rows.
func (r *rows) rare(all []*node) []*node {
	few, least := make(names), r.least
	for _, c := range all {
		if share := c.whole.Share(r.whole); !isQuery(c.name) && share >= least && share < fewRows*least {
			few.add(c.name, c.whole)
		}
	}
	if variance, _ := spread(few); len(few) >= fewRows && variance == 0 {
		least *= fewRows
	}
	return slices.DeleteFunc(all, func(c *node) bool {
		share := c.whole.Share(r.whole)
		return share >= least || isQuery(c.name) && share >= r.least
	})
}

// add adds a cost to that of a name.
func (l names) add(name string, s Sum) {
	s.Add(l[name])
	l[name] = s
}

// alike returns those of several nodes that have the same names at a depth below them, and that say
// less about the costs than these names do: the users of a forge, whose blame pages cost
// more than others, but not the kinds of pages of one repository.
func (r *rows) alike(all []*node, depth int) []*node {
	times, has := make(map[string]int), make(map[*node]names)
	for _, c := range all {
		has[c] = c.below(depth)
		for name := range has[c] {
			times[name]++
		}
	}
	these, those := make(names), make(names)
	all = slices.DeleteFunc(all, func(c *node) bool {
		requests := int64(0)
		maps.DeleteFunc(has[c], func(name string, sum Sum) bool { return times[name] < minAlike })
		for _, sum := range has[c] {
			requests += sum.Requests
		}
		if 2*requests <= c.whole.Requests || isQuery(c.name) {
			return true
		}
		these.add(c.name, c.whole)
		for name, sum := range has[c] {
			those.add(name, sum)
		}
		return false
	})
	own, large := spread(these)
	common, kinds := spread(those)
	says := own > 2*common || own == common && kinds > large // more than the names below: fewer names say as much
	if says || kinds < 2 || len(all) < minAlike {
		return nil
	}
	return all
}

// spread returns the variance of the costs of a request that the names explain, in parts of
// the square of their mean, 0 if it is small, and the number of names that have a fiftieth of
// the requests of the most frequent one.
func spread(list names) (variance float64, large int) {
	var all Sum
	most := int64(0)
	for _, s := range list {
		all.Add(s)
		most = max(most, s.Requests)
	}
	cost := func(s Sum) float64 {
		if all.IsTimed() {
			return s.Seconds / all.Seconds
		}
		return float64(s.Octets) / float64(max(all.Octets, 1))
	}
	for _, s := range list {
		if s.Requests == 0 {
			continue
		}
		part := float64(s.Requests) / float64(all.Requests)
		d := cost(s)/part - 1
		variance += d * d * part
		if 50*s.Requests >= most {
			large++
		}
	}
	if variance < sameCost {
		variance = 0
	}
	return variance, large
}
