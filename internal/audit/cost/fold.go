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

// place is where a node is.
type place struct {
	// kept are the names of its children, and keptNext those of its grandchildren, that
	// recur beside it: they say what the pages are, as blame does in each repository.
	kept, keptNext names
	many           bool // it stands for several that were alike
	inside         bool // it is below a kept one: only what costs differently is told apart
}

// fold folds the segments below n that vary, from the begin of the paths to their ends:
// those that are alike, and those that cost too little for a row of their own.
func (r *rows) fold(n *node, at place) {
	next := place{kept: at.keptNext}
	if !at.inside {
		next.kept, next.keptNext = r.recurring(n, (*node).below), r.recurring(n, (*node).belowThat)
		maps.Copy(next.kept, at.keptNext)
	}
	for _, below := range []func(*node) names{(*node).below, (*node).belowThat} {
		n.fold(func(all []*node) []*node { return r.alike(all, at.kept, below) })
	}
	many := n.children[varying] != nil
	if !many {
		next.kept, next.keptNext = at.keptNext, nil
	}
	n.fold(func(all []*node) []*node { return r.rare(all, &at) })
	for name, c := range n.children {
		next.many, next.inside = many && name == varying, at.inside || at.kept.has(name)
		r.fold(c, next)
	}
}

func (l names) has(name string) bool {
	_, ok := l[name]
	return ok
}

// below returns the names of the children of n, but for *.
func (n *node) below() names {
	list := make(names)
	for name, c := range n.children {
		if name != varying {
			list[name] = c.whole
		}
	}
	return list
}

// belowThat returns the names of the grandchildren of n, but for *.
func (n *node) belowThat() names {
	list := make(names)
	for _, c := range n.children {
		for name, sum := range c.below() {
			list.add(name, sum)
		}
	}
	return list
}

// rare returns those of several nodes that cost too little for a row of their own, and those
// that cost the same if they cost too little for so many rows, or are inside.
func (r *rows) rare(all []*node, at *place) []*node {
	rare, few, same := make(names), make(names), make(names)
	for _, c := range all {
		share := c.whole.Share(r.whole)
		if isQuery(c.name) {
			continue
		}
		same.add(c.name, c.whole)
		switch {
		case at.many && at.kept.has(c.name):
		case share < r.least:
			rare.add(c.name, c.whole)
		case share < fewRows*r.least:
			few.add(c.name, c.whole)
		}
	}
	if variance, _ := spread(few); len(few) >= fewRows && variance == 0 {
		maps.Copy(rare, few)
	}
	if variance, _ := spread(same); at.inside && len(same) > 1 && variance == 0 {
		rare = same
	}
	return slices.DeleteFunc(all, func(c *node) bool { return !rare.has(c.name) })
}

// recurring returns the names that at least two children of n have below them, with half of
// all requests, if they cost enough for a row.
func (r *rows) recurring(n *node, below func(*node) names) names {
	times, of, all, list := make(map[string]int), make(map[string]int64), int64(0), make(names)
	for name, c := range n.children {
		if name == varying || isQuery(name) || !c.hasSegments() {
			continue
		}
		all += c.requests
		for name, sum := range below(c) {
			times[name]++
			of[name] += c.requests
			list.add(name, sum)
		}
	}
	maps.DeleteFunc(list, func(name string, sum Sum) bool {
		return times[name] < 2 || 2*of[name] < all || sum.Share(r.whole) < r.least
	})
	return list
}

// add adds a cost to that of a name.
func (l names) add(name string, s Sum) {
	s.Add(l[name])
	l[name] = s
}

// alike returns those of several nodes that have the same names below them, and that say
// less about the costs than these names do: the users of a forge, whose blame pages cost
// more than others, but not the kinds of pages of one repository.
func (r *rows) alike(all []*node, kept names, below func(*node) names) []*node {
	times, has := make(map[string]int), make(map[*node]names)
	for _, c := range all {
		has[c] = below(c)
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
	own, several := spread(these)
	common, kinds := spread(those)
	if own > 2*common || kinds < 2 {
		return nil
	}
	// If it is not certain, kept counts. If the costs say nothing at all, what is common is
	// what has fewer names: the kinds of pages, not the repositories that all have them.
	if 2*own >= common && (common > 0 || own > 0 || kinds >= several) {
		all = slices.DeleteFunc(all, func(c *node) bool { return kept.has(c.name) })
	}
	if len(all) < minAlike {
		return nil
	}
	return all
}

// spread returns the variance of the costs of a request that the names explain, in parts of
// the square of their mean, 0 if it is small, and the number of names that have a tenth of
// the requests of the most frequent one.
func spread(list names) (variance float64, large int) {
	var all Sum
	most := int64(0)
	for _, s := range list {
		all.Add(s)
		most = max(most, s.Requests)
	}
	cost := func(s Sum) float64 {
		if all.Seconds > 0 {
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
		if 10*s.Requests >= most {
			large++
		}
	}
	if variance < sameCost {
		variance = 0
	}
	return variance, large
}
