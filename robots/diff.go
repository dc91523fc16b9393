package robots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
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
}

const (
	maxExamples = 5   // paths of one change
	maxChanges  = 500 // changes of one crawler, of each kind
	// maxTried bounds the steps that look for example paths in one diff.
	maxTried = 2_000_000
)

// Diff returns what a crawler notices when one file takes another's place:
// each rule that begins or ceases to decide, with paths that show it, and each
// limit that changed. It finds a change of verdict wherever one rule of either
// file, or two together, make it. Files with very many rules that differ are
// not compared to the end; then complete is false.
func Diff(before, after *File, opts ...DiffOption) (changes []Change, complete bool) {
	d := differ{before: before, after: after, budget: maxTried}
	for _, o := range opts {
		o(&d)
	}
	for _, p := range d.pairs() {
		d.compare(p)
	}
	d.wholeFile()
	return d.merged(), d.budget >= 0 && !d.cut
}

type differ struct {
	before, after *File
	crawlers      []Crawler
	changes       []Change
	budget        int
	cut           bool // there may be more changes than were kept
}

func (d *differ) compare(p *pair) {
	if p.ownA != p.ownB {
		c := Change{What: "group", OldLine: p.a.Line(), NewLine: p.b.Line()}
		if p.a != nil {
			c.Old = "User-agent: " + p.a.Token()
		}
		if p.b != nil {
			c.New = "User-agent: " + p.b.Token()
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

// said is a line that a group has.
type said struct {
	text string
	line int
}

// limits compares what the groups say apart from their rules.
func (d *differ) limits(p *pair) {
	both := func(what string, of func(*Group) []said) {
		d.lines(p, what, of(p.a), of(p.b))
	}
	both("crawl-delay", func(g *Group) []said {
		if c, ok := g.CrawlDelay(); ok {
			return []said{{"Crawl-delay: " + c.String(), c.Line}}
		}
		return nil
	})
	both("request-rate", func(g *Group) (list []said) {
		for _, r := range g.RequestRates() {
			list = append(list, said{"Request-rate: " + r.String(), r.Line})
		}
		return list
	})
	both("visit-time", func(g *Group) (list []said) {
		for _, v := range g.VisitTimes() {
			list = append(list, said{"Visit-time: " + v.Window.String(), v.Line})
		}
		return list
	})
	both("noindex", func(g *Group) (list []said) {
		for _, r := range g.NoindexRules() {
			list = append(list, said{r.String(), r.Line})
		}
		return list
	})
	both("content-signal", func(g *Group) (list []said) {
		for _, s := range g.ContentSignals() {
			list = append(list, said{"Content-Signal: " + s.Value, s.Line})
		}
		return list
	})
	both("content-usage", func(g *Group) (list []said) {
		for _, s := range g.ContentUsage() {
			list = append(list, said{"Content-Usage: " + s.Value, s.Line})
		}
		return list
	})
}

// lines compares two lists of lines, whatever their order: what is only in
// one of them changed.
func (d *differ) lines(p *pair, what string, a, b []said) {
	gone, come := without(a, b), without(b, a)
	n := max(len(gone), len(come))
	d.cut = d.cut || n > maxChanges
	for i := range min(n, maxChanges) {
		c := Change{What: what}
		if i < len(gone) {
			c.Old, c.OldLine = gone[i].text, gone[i].line
		}
		if i < len(come) {
			c.New, c.NewLine = come[i].text, come[i].line
		}
		d.add(p, c)
	}
}

// without returns what of a is not in b.
func without(a, b []said) (list []said) {
	in := map[string]bool{}
	for _, s := range b {
		in[s.text] = true
	}
	for _, s := range a {
		if !in[s.text] {
			list = append(list, s)
		}
	}
	return list
}

// verdicts looks for paths that the groups answer otherwise: those that stand
// for each rule, and those that a rule which only one of them has shares with
// any other.
func (d *differ) verdicts(p *pair) {
	a, b := p.a.Rules(), p.b.Rules()
	if slices.EqualFunc(a, b, sameRule) {
		return
	}
	f := finder{differ: d, pair: p, first: len(d.changes), found: map[[2]int]int{}}
	one := onlyOne(a, b)
	var patterns, changed []*pattern.Pattern
	for _, r := range slices.Concat(a, b) {
		q, ok := pattern.Compile(r.Pattern, d.after.dialect.syntax(), false)
		if !ok {
			continue
		}
		patterns = append(patterns, &q)
		if one[r.String()] {
			changed = append(changed, &q)
		}
		f.try(q.Example(""))
		f.try(q.Example("x"))
		f.try(q.Example("/x"))
	}
	for _, x := range changed {
		for _, y := range patterns {
			if d.budget--; d.budget < 0 {
				return
			}
			if len(d.changes)-f.first >= maxChanges {
				d.cut = true
				return
			}
			if n := min(len(x.Prefix), len(y.Prefix)); x == y || x.Prefix[:n] != y.Prefix[:n] {
				continue
			}
			if x.Wild || y.Wild {
				d.budget -= min((x.Octets+1)*(y.Octets+1), pattern.MaxProduct)
			}
			if path, ok, _ := pattern.Common(x, y); ok {
				f.try(path)
			}
		}
	}
}

func sameRule(x, y Rule) bool { return x.Allow == y.Allow && x.Pattern == y.Pattern }

// onlyOne returns the rules, as lines, that only one of the lists has.
func onlyOne(a, b []Rule) map[string]bool {
	sides := map[string]int{}
	for _, r := range a {
		sides[r.String()] |= 1
	}
	for _, r := range b {
		sides[r.String()] |= 2
	}
	one := make(map[string]bool, len(sides))
	for line, s := range sides {
		one[line] = s != 3
	}
	return one
}

// finder collects the paths that a pair of groups answers otherwise.
type finder struct {
	*differ
	*pair
	first int            // of the pair's changes
	found map[[2]int]int // deciding lines → change
}

func (f *finder) try(path string) {
	if f.budget -= 50 + len(path); f.budget < 0 {
		return
	}
	x, y := f.a.Match(path), f.b.Match(path)
	if x.Allowed == y.Allowed {
		return
	}
	key := [2]int{x.Line(), y.Line()}
	i, ok := f.found[key]
	if !ok {
		c := Change{What: "verdict", Allowed: y.Allowed, OldLine: x.Line(), NewLine: y.Line()}
		if x.Rule != nil {
			c.Old = x.Rule.String()
		}
		if y.Rule != nil {
			c.New = y.Rule.String()
		}
		i = len(f.changes)
		f.found[key] = i
		f.add(f.pair, c)
	}
	if c := &f.changes[i]; len(c.Paths) < maxExamples && !slices.Contains(c.Paths, path) {
		c.Paths = append(c.Paths, path)
	}
}

// wholeFile compares the lines that speak to all crawlers.
func (d *differ) wholeFile() {
	both := func(what string, of func(*File) []said) {
		d.lines(&pair{crawlers: []string{"*"}}, what, of(d.before), of(d.after))
	}
	both("sitemap", func(f *File) (list []said) {
		for _, s := range f.Sitemaps() {
			list = append(list, said{"Sitemap: " + s.URL, s.Line})
		}
		return list
	})
	both("host", func(f *File) (list []said) {
		for _, h := range f.Hosts() {
			list = append(list, said{"Host: " + h.Name, h.Line})
		}
		return list
	})
	both("license", func(f *File) (list []said) {
		for _, l := range f.Licenses() {
			list = append(list, said{"License: " + l.URL, l.Line})
		}
		return list
	})
	both("clean-param", func(f *File) (list []said) {
		for _, c := range f.CleanParams() {
			list = append(list, said{strings.TrimSpace("Clean-param: " + strings.Join(c.Params, "&") + " " + c.Path), c.Line})
		}
		return list
	})
}

// merged returns the changes with those that are the same for several
// crawlers put together.
func (d *differ) merged() []Change {
	type key struct {
		what, old, new   string
		oldLine, newLine int
		allowed          bool
	}
	at := map[key]int{}
	var list []Change
	for _, c := range d.changes {
		k := key{c.What, c.Old, c.New, c.OldLine, c.NewLine, c.Allowed}
		i, ok := at[k]
		if !ok {
			at[k] = len(list)
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
