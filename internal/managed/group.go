package managed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// origin is where a line of a merged file comes from; see Merged.Origin. The zero
// value stands for lines that belong neither to the site nor to a statement.
type origin struct {
	layer judge.Layer
	line  int // in the site's file before lines were removed, or in the configuration
}

// entry is a line of a file. Its ending is "" as long as it is only in a group.
type entry struct {
	text, ending string
	origin
}

// group is a group that is added to a file.
type group struct {
	agents  []string // product tokens
	entries []entry
	why     string // the text of the comment above the group; "" for the purposes
}

// body builds the lines of a group.
type body struct {
	entries []entry
	dialect robots.Dialect
}

func (b *body) add(text string, layer judge.Layer, line int) {
	b.entries = append(b.entries, entry{text: text, origin: origin{layer, line}})
}

// copy copies a group of the site: its rules, its Noindex lines and, if paced is true, its
// limits. It adds a Disallow without a path to a group without rules. Otherwise the group
// would join the next one.
func (b *body) copy(g *robots.Group, paced bool) {
	b.rules(g)
	if !slices.ContainsFunc(b.entries, func(e entry) bool {
		return strings.HasPrefix(e.text, "Disallow:") || strings.HasPrefix(e.text, "Allow:")
	}) {
		b.add("Disallow:", judge.NoLayer, 0)
	}
	if paced {
		b.pace(g)
	}
	for _, r := range g.NoindexRules() {
		b.add(r.String(), judge.FileLayer, r.Line)
	}
}

// pace copies the limits of a group of the site.
func (b *body) pace(g *robots.Group) {
	if delay, ok := g.CrawlDelay(); ok {
		b.add("Crawl-delay: "+delay.String(), judge.FileLayer, delay.Line)
	}
	for _, r := range g.RequestRates() {
		b.add("Request-rate: "+r.String(), judge.FileLayer, r.Line)
	}
	for _, v := range g.VisitTimes() {
		b.add("Visit-time: "+v.Window.String(), judge.FileLayer, v.Line)
	}
}

// rules copies the rules of a group of the site, but never `Allow: /`. Its only
// effect is to override rules: a `Disallow` of the same length or, in dialects
// in which the first match counts, all rules after it. These are left out too.
func (b *body) rules(g *robots.Group) {
	rules := g.Rules()
	all := slices.IndexFunc(rules, func(r robots.Rule) bool { return r.Allow && r.Pattern == "/" })
	for i, r := range rules {
		switch {
		case r.Allow && r.Pattern == "/":
			continue
		case r.Pattern[0] != '/' && r.Pattern[0] != '*' && b.dialect == robots.RFC9309:
			continue // never matches
		case all >= 0 && b.dialect == robots.RFC9309 && !r.Allow && len(r.Pattern) == 1:
			continue
		case all >= 0 && b.dialect != robots.RFC9309 && i > all:
			continue
		}
		b.add(r.String(), judge.FileLayer, r.Line)
	}
}

// preferences adds the Content-Signal and Content-Usage lines of the site, and
// those Content-Signal preferences of the policy for which the site has no key.
func (b *body) preferences(g *robots.Group, p *Policy) {
	var have []robots.Preference
	for _, s := range g.ContentSignals() {
		b.add("Content-Signal: "+s.Value, judge.FileLayer, s.Line)
		have = append(have, s.Preferences...)
	}
	for _, u := range g.ContentUsage() {
		b.add("Content-Usage: "+u.Value, judge.FileLayer, u.Line)
	}
	var add []string
	from := 0
	for text, line := range values(p.Signal) {
		key, _, _ := strings.Cut(text, "=")
		if !slices.ContainsFunc(have, func(h robots.Preference) bool { return strings.EqualFold(h.Key, key) }) {
			add, from = append(add, text), cmp.Or(from, line)
		}
	}
	if len(add) > 0 {
		b.add("Content-Signal: "+strings.Join(add, ", "), Layer, from)
	}
}

// mayCrawl reports whether a group lets its crawlers fetch anything: it does
// not deny the whole site, or it has an Allow rule.
func mayCrawl(g *robots.Group) bool {
	return g.Match("/").Allowed || slices.ContainsFunc(g.Rules(), func(r robots.Rule) bool { return r.Allow })
}
