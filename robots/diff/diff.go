package diff

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Change is a difference between two files that some crawlers notice.
type Change struct {
	// Crawlers are the product tokens that it is for, as written; "*" stands
	// for all crawlers that neither file names.
	Crawlers []string `json:"crawlers"`
	// What changed: "verdict", "group" (a crawler got or lost a group of its
	// own), "crawl-delay", "request-rate", "visit-time", "noindex",
	// "content-signal", "content-usage", or, for all crawlers, "sitemap",
	// "host", "license", "clean-param".
	What string `json:"what"`
	// Old and New say what holds, as lines of robots.txt; "" for nothing.
	Old string `json:"old"`
	New string `json:"new"`
	// OldLine and NewLine are the lines that say so, 0 for none.
	OldLine int `json:"old_line,omitempty"`
	NewLine int `json:"new_line,omitempty"`
	// For verdicts: what the new one is, and paths that have it.
	Allowed bool     `json:"allowed,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// Reading is "google" for a change of the verdict that only those notice
	// who read files with google/robotstxt.
	Reading string `json:"reading,omitempty"`
}

// Result is what a comparison found.
type Result struct {
	// Changes are in the order of the new file's lines.
	Changes []Change
	// Complete says that there is no other change: for each crawler and each
	// path, either the verdicts of the two files are the same, or a Change of
	// that crawler tells of it. It is false for files with very many rules
	// that differ, and for rules of some rare forms that are not compared
	// exactly.
	Complete bool
}

// Same reports whether the result proves that nothing changes.
func (r *Result) Same() bool { return r.Complete && len(r.Changes) == 0 }

const (
	maxExamples = 5   // paths of one change
	maxChanges  = 500 // changes of one crawler, of each kind
	// maxSteps bounds the steps that look for paths in one comparison: about a
	// second.
	maxSteps = 10_000_000
)

// Compare returns what a crawler notices when the file after takes the place
// of before: each rule that begins or ceases to decide, with paths that show
// it, and each limit that changed. The crawlers are those that obey other
// groups than those of their own name and of `*`; one that neither file names
// is told of where something else changes for it than for those that they name.
func Compare(before, after *robots.File, crawlers ...Crawler) Result {
	d := newDiffer(before, after, crawlers)
	d.compareAll()
	d.wholeFile()
	return d.result()
}

// Unaffected compares what two files say to the crawlers that inside, which is
// called with product tokens and "*", does not report: their verdicts,
// Crawl-delay, Request-rate and Visit-time. If the result is Same, the change
// from before to after changes none of these for any of them, named by a file
// or not. Crawlers that obey the group of another crawler, or that ignore `*`,
// must be given to be taken into account.
func Unaffected(before, after *robots.File, inside func(token string) bool, crawlers ...Crawler) Result {
	d := newDiffer(before, after, crawlers)
	d.inside = inside
	d.compareAll()
	d.changes = slices.DeleteFunc(d.changes, func(c Change) bool {
		switch c.What {
		case "verdict", "crawl-delay", "request-rate", "visit-time":
			return false
		}
		return true
	})
	return d.result()
}

type differ struct {
	before, after *robots.File
	crawlers      []Crawler
	inside        func(token string) bool
	google        bool // the files are in Google's reading
	changes       []Change
	steps         int  // that are left
	cut           bool // there may be more changes than were found
}

func newDiffer(before, after *robots.File, crawlers []Crawler) *differ {
	d := &differ{before: before, after: after, steps: maxSteps}
	for _, c := range crawlers {
		if len(c.Tokens) > 0 {
			d.crawlers = append(d.crawlers, c)
		}
	}
	return d
}

func (d *differ) result() Result {
	return Result{Changes: d.merged(), Complete: d.steps >= 0 && !d.cut}
}

// compareAll compares the files for each crawler, and in Google's reading for
// those that read so.
func (d *differ) compareAll() {
	for _, p := range d.pairs() {
		d.compare(p)
	}
	before, after := d.before.GoogleReading(), d.after.GoogleReading()
	if before == nil && after == nil {
		return
	}
	g := *d
	g.google, g.changes = true, nil
	g.before, g.after = readAsGoogle(d.before), readAsGoogle(d.after)
	for _, p := range g.pairs() {
		g.verdicts(p)
	}
	d.steps, d.cut = g.steps, g.cut
	d.addGoogle(g.changes)
}

func readAsGoogle(f *robots.File) *robots.File {
	return robots.Parse(f.Bytes(), robots.WithDialect(robots.Google), robots.WithMaxSize(f.Size()))
}

// addGoogle adds the changes of Google's reading that are none of the files'
// own.
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

// key is what makes changes of several crawlers one.
type key struct {
	what, old, new, reading string
	oldLine, newLine        int
	allowed                 bool
}

func (c *Change) key() key {
	return key{c.What, c.Old, c.New, c.Reading, c.OldLine, c.NewLine, c.Allowed}
}

// merged returns the changes with those that are the same for several
// crawlers put together.
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
