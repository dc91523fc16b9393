package cost

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Row is what the requests for a pattern cost that no other row has.
type Row struct {
	// Pattern is a path in which * stands for segments that vary, with the names of
	// the query's parameters: /*/*/blame/*, /products?sort=.
	Pattern string `json:"pattern"`
	Sum
	// Clients are those that sent the requests, the most expensive first, at most
	// maxClients.
	Clients []Client `json:"crawlers"`
}

// Rows returns the patterns with what they cost, most expensive first. Each request
// is in one row. What costs less than the share least of the whole, from 0 to 1, is in
// the row of the path above it. Then the tree is empty.
func (t *Tree) Rows(least float64) []Row {
	r := rows{least: least, whole: t.root.sumUp(), at: make(map[string]int)}
	r.fold(t.root)
	if left := r.add(t.root, ""); len(left.costs) > 0 {
		r.put("/"+varying, left)
	}
	*t = *New()
	for i := range r.list {
		slices.SortStableFunc(r.list[i].Clients, func(a, b Client) int { return r.compare(a.Sum, b.Sum, a.Name, b.Name) })
	}
	slices.SortStableFunc(r.list, func(a, b Row) int { return r.compare(a.Sum, b.Sum, a.Pattern, b.Pattern) })
	return r.list
}

// rows collects rows.
type rows struct {
	least float64
	whole Sum
	list  []Row
	at    map[string]int // index in list, by pattern
}

// compare orders by costs, the most expensive first.
func (r *rows) compare(a, b Sum, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b.Share(r.whole), a.Share(r.whole)), cmp.Compare(b.Requests, a.Requests), strings.Compare(nameA, nameB))
}

// add adds the rows of a node and of what is below it. It returns a node with the
// costs that are in no row.
func (r *rows) add(n *node, pattern string) (left *node) {
	page, left := &node{costs: n.costs}, new(node)
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		to, below := left, pattern+"/"+name
		if isQuery(name) {
			to, below = page, cmp.Or(pattern, "/")+name
		}
		to.addCosts(r.add(n.children[name], below))
	}
	for _, part := range []struct {
		*node
		pattern string
	}{{page, whole(cmp.Or(pattern, "/"))}, {left, whole(pattern + "/" + varying)}} {
		_, known := r.at[part.pattern]
		if len(part.costs) > 0 && (known || part.total().Share(r.whole) >= r.least) {
			r.put(part.pattern, part.node)
			part.costs = nil
		}
	}
	left.addCosts(page)
	return left
}

// whole returns the pattern of a row: /blame/* also has what is below /blame/*/*.
func whole(pattern string) string {
	if name := strings.TrimRight(pattern, "/"+varying); name != "" && len(pattern) > len(name)+1 {
		return name + "/" + varying
	}
	return pattern
}

// addCosts adds the costs of other.
func (n *node) addCosts(other *node) {
	for _, s := range other.costs {
		n.add(s.Name, s.Sum)
	}
}

// put adds the costs of a node to the row of a pattern.
func (r *rows) put(pattern string, n *node) {
	i, known := r.at[pattern]
	if !known {
		i = len(r.list)
		r.at[pattern] = i
		r.list = append(r.list, Row{Pattern: pattern})
	}
	row := &r.list[i]
	all := &node{costs: row.Clients}
	all.addCosts(n)
	row.Clients = all.costs
	for _, c := range n.costs {
		row.Add(c.Sum)
	}
}

// sumUp sets the costs of n and the nodes below it, and returns those of n.
func (n *node) sumUp() Sum {
	n.whole = n.total()
	for _, c := range n.children {
		n.whole.Add(c.sumUp())
	}
	return n.whole
}

// total returns what the requests that end at n cost.
func (n *node) total() (sum Sum) {
	for _, c := range n.costs {
		sum.Add(c.Sum)
	}
	return sum
}
