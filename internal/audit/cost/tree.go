package cost

import (
	"cmp"
	"slices"
	"strings"
)

// Sum is what several requests cost.
type Sum struct {
	Requests int64   `json:"requests"`
	Octets   int64   `json:"octets"`
	Seconds  float64 `json:"seconds"` // of those whose durations the log has
	Untimed  int64   `json:"-"`       // the number of the others
}

// Add adds other to s.
func (s *Sum) Add(other Sum) {
	s.Requests += other.Requests
	s.Octets += other.Octets
	s.Seconds += other.Seconds
	s.Untimed += other.Untimed
}

// IsTimed reports whether the durations of nearly all requests are known.
func (s Sum) IsTimed() bool { return s.Seconds > 0 && 10*s.Untimed <= s.Requests }

// Share returns the part of the whole that s is, from 0 to 1: of the time if the whole IsTimed, else
// of the requests, the octets or the time that is known, whichever is most.
func (s Sum) Share(whole Sum) float64 {
	seconds := 0.
	if whole.Seconds > 0 {
		seconds = s.Seconds / whole.Seconds
	}
	if whole.IsTimed() {
		return seconds
	}
	return max(seconds, float64(s.Requests)/float64(max(whole.Requests, 1)), float64(s.Octets)/float64(max(whole.Octets, 1)))
}

// Limits of a tree.
const (
	maxNodes = 16384
	maxDepth = 6   // segments of a path
	maxNames = 128 // different segments at one place, before the rare ones are folded
	maxName  = 64  // octets of a segment
	maxParam = 4   // parameters of a query
	// maxClients is the number of clients that are told apart at one place.
	maxClients = 32
)

// varying stands for segments that vary.
const varying = "*"

// other stands for the clients that are not told apart.
const other = "other"

// Tree adds up costs.
type Tree struct {
	root  *node
	nodes int
}

// node is a segment of paths, or the query after a path.
type node struct {
	name     string // * for segments that were folded
	requests int64  // of the node and those below it
	children map[string]*node
	costs    []Client // of the requests that end here
	whole    Sum      // of the node and those below it, in Rows
}

// Client is what the requests of one client for a pattern cost.
type Client struct {
	Name string `json:"crawler"` // "other" for clients that are not told apart
	Sum
}

// New returns an empty tree.
func New() *Tree { return &Tree{root: new(node), nodes: 1} }

// Add adds what a request of a client cost. The tree clones what it keeps of the
// target.
func (t *Tree) Add(client, target string, s Sum) {
	path, query, _ := strings.Cut(target, "?")
	if t.nodes >= maxNodes {
		t.prune()
	}
	n := t.root
	n.requests++
	for range maxDepth {
		path = strings.TrimLeft(path, "/")
		if path == "" {
			break
		}
		name, rest, _ := strings.Cut(path, "/")
		n, path = t.child(n, plain(name)), rest
	}
	if path = strings.TrimLeft(path, "/"); path != "" {
		n = t.child(n, varying)
	}
	if query != "" {
		n = t.child(n, params(query, n != t.root && strings.HasSuffix(target[:len(target)-len(query)-1], "/")))
	}
	n.add(client, s)
}

// plain returns a segment, or * for a number, an identifier with three digits or more,
// and what cannot stand in a pattern.
func plain(name string) string {
	if len(name) > maxName {
		return varying
	}
	digits := 0
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == '*' || c == '$' || c == '?' || c == '#':
			return varying
		}
	}
	if digits >= 3 || digits == len(name) {
		return varying
	}
	return name
}

// isKind reports whether the values of a parameter say what a page is for, as those of forums, wikis and
// gitweb: action=diff. They are words of the program, and not a person's.
func isKind(name string) bool {
	switch name {
	case "a", "act", "action", "cmd", "do", "mode", "op", "sa", "task", "view":
		return true
	}
	return false
}

// params returns the names of a query's parameters in order, with the values of those of isKind:
// ?action=diff&id=, or ?* if there are too many, or if they are not usual names. Without =, it is not
// known what is a name and what is secret. After a path with a slash at the end, it is /?page=&sort=.
func params(query string, slash bool) string {
	mark, kind, names := "?", varying, make([]string, 0, maxParam)
	if slash {
		mark = "/?"
	}
	usual := true
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, named := strings.Cut(pair, "=")
		switch {
		case named && isKind(name) && isWord(value):
			kind = pair
			names = append(names, pair)
		case len(names) == maxParam || !named || name == "" || len(name) > maxName/2 || strings.ContainsFunc(name, isNoParam):
			usual = false
		default:
			names = append(names, pair[:len(name)+1])
		}
	}
	if !usual || len(names) == 0 || len(names) > maxParam {
		return mark + kind
	}
	slices.Sort(names)
	return mark + strings.Join(slices.Compact(names), "&")
}

// isWord reports whether a value is a word of lower-case letters.
func isWord(value string) bool {
	return len(value) > 1 && len(value) <= maxName/2 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// isNoParam reports whether a rune can't be in the name of a parameter.
func isNoParam(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '.' || r == '-')
}

// child returns the child of n for a segment or query, and counts a request for it.
func (t *Tree) child(n *node, name string) *node {
	c := n.children[name]
	if c == nil {
		if len(n.children) >= maxNames {
			t.nodes -= n.fold(func(all []*node) []*node { return all[maxNames/2:] })
		}
		c = &node{name: strings.Clone(name)}
		n.put(c)
		t.nodes++
	}
	c.requests++
	return c
}

// prune folds what is rare, until half of the nodes are left, from the begin of the paths on.
func (t *Tree) prune() {
	for most := maxNames / 2; t.nodes > maxNodes/2; most /= 2 {
		t.pruneBelow(t.root, most)
	}
}

// pruneBelow folds all but the most frequent children of n, and then of these.
func (t *Tree) pruneBelow(n *node, most int) {
	if t.nodes <= maxNodes/2 {
		return
	}
	t.nodes -= n.fold(func(all []*node) []*node { return all[min(most, len(all)):] })
	for _, c := range n.children {
		t.pruneBelow(c, most)
	}
}

// fold merges the children that rare selects into one named *, or ?* or /?* for queries.
// rare gets all children without these, the most frequent first. fold returns the number
// of nodes that are gone.
func (n *node) fold(rare func([]*node) []*node) (gone int) {
	all := make([]*node, 0, len(n.children))
	for name, c := range n.children {
		if !strings.HasSuffix(name, varying) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), strings.Compare(a.name, b.name))
	})
	for _, c := range rare(all) {
		delete(n.children, c.name)
		c.name = folded(c.name)
		gone += n.put(c)
	}
	return gone
}

// folded returns the name of the node into which one with a name is folded.
func folded(name string) string {
	if isQuery(name) {
		return name[:strings.IndexByte(name, '?')+1] + varying
	}
	return varying
}

// isQuery reports whether the name of a node is that of a query.
func isQuery(name string) bool { return strings.HasPrefix(name, "?") || strings.HasPrefix(name, "/?") }

// put makes c a child of n, or merges it into the child with its name. It returns the
// number of nodes that are gone.
func (n *node) put(c *node) (gone int) {
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	same := n.children[c.name]
	if same == nil {
		n.children[c.name] = c
		return 0
	}
	same.requests += c.requests
	same.whole.Add(c.whole)
	same.addCosts(c)
	gone = 1
	for _, below := range c.children {
		gone += same.put(below)
	}
	return gone
}

// add adds what a request of a client cost. If there are too many clients, those with the
// fewest requests count as other.
func (n *node) add(client string, s Sum) {
	i := slices.IndexFunc(n.costs, func(c Client) bool { return c.Name == client })
	if i < 0 {
		if len(n.costs) == maxClients {
			n.foldClients()
		}
		i = len(n.costs)
		n.costs = append(n.costs, Client{Name: client})
	}
	n.costs[i].Add(s)
}

// foldClients merges half of the clients, those with the fewest requests, into other.
func (n *node) foldClients() {
	slices.SortStableFunc(n.costs, func(a, b Client) int { return cmp.Compare(b.Requests, a.Requests) })
	var rest Sum
	for _, c := range n.costs[maxClients/2:] {
		rest.Add(c.Sum)
	}
	n.costs = n.costs[:maxClients/2]
	n.add(other, rest)
}
