package diff

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// line is a line of a group or a file.
type line struct {
	text   string
	number int
}

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
	both("request-rate", false, func(g *robots.Group) (list []line) {
		for _, r := range g.RequestRates() {
			list = append(list, line{"Request-rate: " + r.String(), r.Line})
		}
		return list
	})
	both("visit-time", false, func(g *robots.Group) (list []line) {
		for _, v := range g.VisitTimes() {
			list = append(list, line{"Visit-time: " + v.Window.String(), v.Line})
		}
		return list
	})
	both("noindex", false, func(g *robots.Group) (list []line) {
		for _, r := range g.NoindexRules() {
			list = append(list, line{r.String(), r.Line})
		}
		return list
	})
	both("content-signal", true, func(g *robots.Group) []line { return signals(g.ContentSignals()) })
	both("content-usage", true, func(g *robots.Group) []line { return usages(g.ContentUsage()) })
}

func signals(of []robots.ContentSignal) (list []line) {
	for _, s := range of {
		list = append(list, line{"Content-Signal: " + s.Value, s.Line})
	}
	return list
}

func usages(of []robots.ContentUsage) (list []line) {
	for _, s := range of {
		list = append(list, line{"Content-Usage: " + s.Value, s.Line})
	}
	return list
}

// wholeFile compares the lines that apply to all crawlers.
func (d *differ) wholeFile() {
	all := &pair{crawlers: []string{"*"}}
	both := func(what string, ordered bool, of func(*robots.File) []line) {
		d.lines(all, what, ordered, of(d.before), of(d.after))
	}
	both("content-signal", true, func(f *robots.File) []line { return signals(f.ContentSignals()) })
	both("content-usage", true, func(f *robots.File) []line { return usages(f.ContentUsage()) })
	both("sitemap", false, func(f *robots.File) (list []line) {
		for _, s := range f.Sitemaps() {
			list = append(list, line{"Sitemap: " + s.URL, s.Line})
		}
		return list
	})
	both("host", true, func(f *robots.File) (list []line) {
		for _, h := range f.Hosts() {
			list = append(list, line{"Host: " + h.Name, h.Line})
		}
		return list
	})
	both("license", false, func(f *robots.File) (list []line) {
		for _, l := range f.Licenses() {
			list = append(list, line{"License: " + l.URL, l.Line})
		}
		return list
	})
	both("clean-param", false, func(f *robots.File) (list []line) {
		for _, c := range f.CleanParams() {
			list = append(list, line{strings.TrimSpace("Clean-param: " + strings.Join(c.Params, "&") + " " + c.Path), c.Line})
		}
		return list
	})
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
func without(a, b []line) (list []line) {
	in := map[string]bool{}
	for _, l := range b {
		in[l.text] = true
	}
	for _, l := range a {
		if !in[l.text] {
			list = append(list, l)
		}
	}
	return list
}
