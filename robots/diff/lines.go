package diff

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// line is a line of a group or a file.
type line struct {
	text   string
	number int
}

// each returns the line of each item.
func each[T any](items []T, of func(T) line) (list []line) {
	for _, item := range items {
		list = append(list, of(item))
	}
	return list
}

func signal(c robots.PreferenceLine) line { return line{"Content-Signal: " + c.Value, c.Line} }
func usage(c robots.PreferenceLine) line  { return line{"Content-Usage: " + c.Value, c.Line} }

// limits compares the limits and preferences of the groups.
func (d *differ) limits(p *pair) {
	both := func(what string, ordered bool, of func(*robots.Group) []line) {
		d.lines(p, what, ordered, of(p.oldGroup), of(p.newGroup))
	}
	both("crawl-delay", false, func(g *robots.Group) []line {
		if c, ok := g.CrawlDelay(); ok {
			return []line{{"Crawl-delay: " + c.String(), c.Line}}
		}
		return nil
	})
	both("request-rate", false, func(g *robots.Group) []line {
		return each(g.RequestRates(), func(r robots.RequestRate) line { return line{"Request-rate: " + r.String(), r.Line} })
	})
	both("visit-time", false, func(g *robots.Group) []line {
		return each(g.VisitTimes(), func(v robots.VisitTime) line { return line{"Visit-time: " + v.Window.String(), v.Line} })
	})
	both("noindex", false, func(g *robots.Group) []line {
		return each(g.NoindexRules(), func(r robots.Rule) line { return line{r.String(), r.Line} })
	})
	both("content-signal", true, func(g *robots.Group) []line { return each(g.ContentSignals(), signal) })
	both("content-usage", true, func(g *robots.Group) []line { return each(g.ContentUsage(), usage) })
}

// wholeFile compares the lines that apply to all crawlers.
func (d *differ) wholeFile() {
	all := &pair{crawlers: []string{"*"}}
	both := func(what string, ordered bool, of func(*robots.File) []line) {
		d.lines(all, what, ordered, of(d.before), of(d.after))
	}
	both("content-signal", true, func(f *robots.File) []line { return each(f.ContentSignals(), signal) })
	both("content-usage", true, func(f *robots.File) []line { return each(f.ContentUsage(), usage) })
	for _, directive := range []robots.Directive{robots.DirectiveSitemap, robots.DirectiveHost, robots.DirectiveLicense, robots.DirectiveCleanParam} {
		both(strings.ToLower(directive.String()), directive == robots.DirectiveHost, func(f *robots.File) (list []line) {
			for l := range f.Lines() {
				if l.Directive == directive && l.Value != "" {
					list = append(list, line{directive.String() + ": " + l.Value, l.Number})
				}
			}
			return list
		})
	}
}

// lines compares two lists of lines. A line that only one list has is a change.
// If the order matters and only the order is different, the first difference is
// a change.
func (d *differ) lines(p *pair, what string, ordered bool, before, after []line) {
	removed, added := without(before, after), without(after, before)
	if n := min(len(before), len(after)); ordered && len(removed) == 0 && len(added) == 0 {
		for i := range n {
			if before[i].text != after[i].text {
				removed, added = before[i:i+1], after[i:i+1]
				break
			}
		}
	}
	n := max(len(removed), len(added))
	d.incomplete = d.incomplete || n > maxChanges
	for i := range min(n, maxChanges) {
		c := Change{What: what}
		if i < len(removed) {
			c.Old, c.OldLine = removed[i].text, removed[i].number
		}
		if i < len(added) {
			c.New, c.NewLine = added[i].text, added[i].number
		}
		d.add(p, c)
	}
}

// without returns the elements of a that are not in b.
func without(a, b []line) []line {
	in := map[string]bool{}
	for _, l := range b {
		in[l.text] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(l line) bool { return in[l.text] })
}
