package diff

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Change is a difference between two files that affects some crawlers.
type Change struct {
	// Crawlers are the product tokens of the affected crawlers, as written. A
	// crawler with several tokens has only its first one here. "*" means all
	// crawlers that neither file names.
	Crawlers []string `json:"crawlers"`
	// What is the kind of the change: "verdict", "group" (a file stops or
	// starts to name the crawler), "crawl-delay", "request-rate", "visit-time",
	// "noindex", "content-signal", "content-usage", or, for all crawlers,
	// "sitemap", "host", "license", "clean-param".
	What string `json:"what"`
	// Old and New are the lines of robots.txt that apply in the first and in
	// the second file; "" for none.
	Old string `json:"old"`
	New string `json:"new"`
	// OldLine and NewLine are the numbers of these lines, 0 for none.
	OldLine int `json:"old_line,omitempty"`
	NewLine int `json:"new_line,omitempty"`
	// Allowed and Paths are set for verdicts: the new verdict, and up to five
	// example paths that have it.
	Allowed bool     `json:"allowed,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// Reading is "google" for a verdict that changes only for crawlers that use
	// google/robotstxt as their parser.
	Reading string `json:"reading,omitempty"`
}

// Result is the result of a comparison.
type Result struct {
	// Changes are sorted by NewLine, then by OldLine.
	Changes []Change
	// Complete means that Changes has all changes. Of the paths with another
	// verdict, it has examples: for each crawler for which a path is newly
	// allowed, Changes has a verdict with Allowed true, and for each crawler
	// for which a path is newly disallowed, one with Allowed false. Complete is
	// false if there are too many rules or changes to compare, and for some
	// rare forms of rules that are not compared exactly.
	Complete bool
}

const (
	maxExamples = 5   // example paths of one change
	maxChanges  = 500 // changes of each kind for one crawler
	// maxSteps is the maximal number of steps in which one comparison searches
	// for paths. So many steps take about a second.
	maxSteps = 10_000_000
)

// Compare returns what changes for crawlers when the file after replaces the
// file before: changed verdicts with the rules that decide and example paths,
// and changed limits and other lines. It compares the files for each crawler
// that one of them names, and for all other crawlers.
//
// Neither file may be nil: robots.Parse(nil) is a file that allows everything.
//
// The argument crawlers describes crawlers that obey several product tokens,
// ignore `*`, or use google/robotstxt as their parser. Compare does not list such a crawler if neither file names its
// first token, and the same groups apply to it as to another crawler that
// Compare considers.
func Compare(before, after *robots.File, crawlers ...Crawler) Result {
	d := newDiffer(before, after, crawlers)
	d.compareAll()
	d.wholeFile()
	return d.result()
}

// maxQuickSteps is like maxSteps, for AllowsMore.
const maxQuickSteps = maxSteps / 20

// AllowsMore reports whether after may allow a crawler what before does not: a path,
// or what a limit or a preference rules out that only before has. It takes the crawlers
// of Compare, and at most about a tenth of a second: if that is not enough, it returns true.
func AllowsMore(before, after *robots.File, crawlers ...Crawler) bool {
	d := newDiffer(before, after, crawlers)
	d.steps = maxQuickSteps
	d.compareAll()
	return !d.result().Complete || slices.ContainsFunc(d.changes, func(c Change) bool {
		return c.What != "group" && (c.Allowed || c.What != "verdict" && c.Old != "")
	})
}

type differ struct {
	before, after *robots.File
	crawlers      []Crawler
	google        bool // before and after are the files as Google's parser reads them
	changes       []Change
	steps         int  // number of steps that are left
	incomplete    bool // there may be more changes than were found
}

func newDiffer(before, after *robots.File, crawlers []Crawler) *differ {
	crawlers = slices.DeleteFunc(slices.Clone(crawlers), func(c Crawler) bool { return len(c.Tokens) == 0 })
	return &differ{before: before, after: after, crawlers: crawlers, steps: maxSteps}
}

func (d *differ) result() Result {
	return Result{Changes: d.merged(), Complete: d.steps >= 0 && !d.incomplete}
}

// compareAll compares the files for each crawler, and in Google's reading for
// the crawlers that use it.
func (d *differ) compareAll() {
	for _, p := range d.pairs() {
		d.compare(p)
	}
	if before, after := d.before.GoogleReading(), d.after.GoogleReading(); before == nil && after == nil {
		return
	}
	g := *d
	g.google, g.changes = true, nil
	g.before, g.after = readAsGoogle(d.before), readAsGoogle(d.after)
	for _, p := range g.pairs() {
		g.verdicts(p)
	}
	d.steps, d.incomplete = g.steps, g.incomplete
	d.addGoogle(g.changes)
}

func readAsGoogle(f *robots.File) *robots.File {
	return robots.Parse(f.Bytes(), robots.WithDialect(robots.Google), robots.WithMaxSize(f.Size()))
}

// addGoogle adds the changes that occur only in Google's reading.
func (d *differ) addGoogle(changes []Change) {
	known := map[key]bool{}
	for i := range d.changes {
		known[d.changes[i].key()] = true
	}
	for _, c := range changes {
		if !known[c.key()] {
			c.Reading = "google"
			d.changes = append(d.changes, c)
		}
	}
}

func (d *differ) compare(p *pair) {
	if p.ownOld != p.ownNew {
		c := Change{What: "group", OldLine: p.oldGroup.Line(), NewLine: p.newGroup.Line()}
		if p.oldGroup != nil {
			c.Old = "User-agent: " + p.oldGroup.Token()
		}
		if p.newGroup != nil {
			c.New = "User-agent: " + p.newGroup.Token()
		}
		d.add(p, c)
	}
	d.limits(p)
	d.verdicts(p)
}

func (d *differ) add(p *pair, c Change) {
	c.Crawlers = p.crawlers
	d.changes = append(d.changes, c)
}

// key identifies a change. Changes for several crawlers with the same key are
// merged.
type key struct {
	what, old, new, reading string
	oldLine, newLine        int
	allowed                 bool
}

func (c *Change) key() key {
	return key{c.What, c.Old, c.New, c.Reading, c.OldLine, c.NewLine, c.Allowed}
}

// merged returns the changes, after merging equal changes for several crawlers.
func (d *differ) merged() []Change {
	at := map[key]int{}
	var list []Change
	for _, c := range d.changes {
		i, ok := at[c.key()]
		if !ok {
			at[c.key()] = len(list)
			list = append(list, c)
			continue
		}
		list[i].Crawlers = slices.Concat(list[i].Crawlers, c.Crawlers)
	}
	slices.SortStableFunc(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.NewLine, b.NewLine), cmp.Compare(a.OldLine, b.OldLine))
	})
	return list
}

// Crawler describes which groups a crawler obeys.
type Crawler struct {
	// Tokens are its product tokens in the order of precedence, such as
	// Googlebot-Image, Googlebot. A Crawler without tokens is ignored.
	Tokens []string
	// IgnoresStar means that the group for `*` does not apply to the crawler.
	IgnoresStar bool
	// ReadsGoogle means that the crawler uses google/robotstxt as its parser,
	// so that changes in that reading affect it too (see
	// robots.File.GoogleReading).
	ReadsGoogle bool
}

// pairKey identifies the crawlers to which the same groups apply in both files.
type pairKey struct {
	oldGroup, newGroup *robots.Group
	ownOld, ownNew     bool // the group names the crawlers; it is not the group for `*`
}

// pair holds the groups of both files that apply to the same crawlers.
type pair struct {
	pairKey
	crawlers []string
}

// pairs returns a pair for each crawler that a file names, for the other
// crawlers in d.crawlers, and for `*`. Crawlers with the same groups share a
// pair.
func (d *differ) pairs() []*pair {
	var list []*pair
	index := map[pairKey]*pair{}
	add := func(c Crawler) {
		key := d.pairKey(c)
		p := index[key]
		if p == nil {
			p = &pair{pairKey: key}
			index[key] = p
			list = append(list, p)
		}
		if !slices.Contains(p.crawlers, c.Tokens[0]) {
			p.crawlers = append(p.crawlers, c.Tokens[0])
		}
	}
	if !d.google {
		add(Crawler{Tokens: []string{"*"}})
	}
	known := map[string]Crawler{}
	for _, c := range slices.Backward(d.crawlers) {
		known[canonical.Lower(c.Tokens[0])] = c
	}
	seen := map[string]bool{}
	for _, t := range slices.Concat(d.before.Tokens(), d.after.Tokens(), d.before.Words(), d.after.Words()) {
		lower := canonical.Lower(t)
		if seen[lower] {
			continue
		}
		seen[lower] = true
		c := known[lower]
		c.Tokens = append([]string{t}, c.Tokens[min(1, len(c.Tokens)):]...) // as the file writes the first one
		if d.includes(c) {
			add(c)
		}
	}
	named := len(list)
	for _, c := range d.crawlers {
		if seen[canonical.Lower(c.Tokens[0])] || !d.includes(c) {
			continue
		}
		key := d.pairKey(c)
		if !d.google && (!key.ownOld && !key.ownNew || slices.Contains(list[:named], index[key])) {
			continue
		}
		add(c)
	}
	return list
}

// includes reports whether the comparison includes a crawler.
func (d *differ) includes(c Crawler) bool {
	return !d.google || c.ReadsGoogle
}

// pairKey returns the key of one crawler.
func (d *differ) pairKey(c Crawler) (k pairKey) {
	k.oldGroup, k.ownOld = c.group(d.before)
	k.newGroup, k.ownNew = c.group(d.after)
	return k
}

// group returns the group of a file that applies to the crawler, and whether
// the group names the crawler.
func (c Crawler) group(f *robots.File) (g *robots.Group, own bool) {
	if c.Tokens[0] == "*" {
		return f.Star(), f.Star() != nil
	}
	for _, t := range c.Tokens {
		if g := f.Named(t); g != nil {
			return g, true
		}
	}
	if c.IgnoresStar {
		return nil, false
	}
	return f.Star(), false
}
