package judge

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// plans say what applies to each crawler.
type plans struct {
	*document
	settings *Compiled
	named    []namedPlan                           // of the crawlers that the file names, sorted
	byIndex  []plan                                // of these, each once
	limits   map[*robots.Group]*throttle.Limits    // of the groups that have some
	star     *throttle.Limits                      // of the group for `*`; nil if it has none
	readers  *throttle.Limits                      // the same for crawlers of readers; see forReaders
	pools    map[*throttle.Limits]*throttle.Limits // Limits for all unverified claims together, by the crawler's own Limits
	noindex  []*robots.Group                       // with Noindex lines, if different groups apply to different clients
}

// namedPlan is the plan of a crawler that the file names: crawler.Crawler.Index,
// and the index in plans.byIndex.
type namedPlan struct{ row, plan int32 }

// namedBefore takes the place of the index for a crawler in a file that was
// evicted: see Rules.WithNames.
const namedBefore = -1

// plan is what applies to one crawler.
type plan struct {
	group  *robots.Group    // nil if no group applies
	limits *throttle.Limits // nil if the group has no rate limits and no Visit-time for it
	// byStar is set if the group applies because it is the group for `*`.
	byStar bool
	// reads is set if the crawler uses Google's parser (google/robotstxt) and
	// that parser reads the file differently. google is then the crawler's
	// group as Google's parser reads it. The crawler is denied only paths that
	// are disallowed in both readings.
	google *robots.Group
	reads  bool
	// byToken is set if the file names a token of the crawler's User-Agent that
	// is not one of its robots.txt tokens. Then a group for the token that the
	// client sent takes precedence, because it is the group that the author of
	// the file meant.
	byToken bool
}

// compilePlans finds what applies to each crawler of the registry.
func (p *plans) compilePlans() {
	for _, g := range p.file.Groups() {
		if limits := p.settings.limitsOf(g, p.settings.Burst); limits != nil {
			if p.limits == nil {
				p.limits, p.pools = make(map[*robots.Group]*throttle.Limits), make(map[*throttle.Limits]*throttle.Limits)
			}
			p.limits[g], p.pools[limits] = limits, p.settings.poolLimits(g)
		}
		if (p.groups > 1 || p.file.Star() == nil) && len(g.NoindexRules()) > 0 {
			p.noindex = append(p.noindex, g)
		}
	}
	if p.star = p.limits[p.file.Star()]; p.star != nil {
		p.readers = p.settings.limitsOf(p.file.Star(), max(p.settings.Burst, readersBurst))
	}
	for _, row := range p.namedCrawlers() {
		pl := p.planFor(row.Class, row, row.Robots...)
		if pl.reads = p.google != nil && row.ReadsGoogle; pl.reads {
			pl.google, _ = p.groupIn(p.google, row.Class, row, row.Robots...)
		}
		for _, t := range row.Tokens() {
			if p.file.Named(t) != nil && !slices.ContainsFunc(row.Robots, func(own string) bool { return strings.EqualFold(own, t) }) {
				pl.byToken = true
			}
		}
		i := slices.Index(p.byIndex, pl)
		if i < 0 {
			i = len(p.byIndex)
			p.byIndex = append(p.byIndex, pl)
		}
		p.named = append(p.named, namedPlan{int32(row.Index()), int32(i)})
	}
	p.named, p.byIndex = slices.Clone(p.named), slices.Clone(p.byIndex)
}

// namedCrawlers returns the crawlers that can have another plan than planFor
// makes of the group for `*`, in the order of the registry.
func (p *plans) namedCrawlers() (rows []*crawler.Crawler) {
	registry := p.settings.Registry
	for _, tokens := range [...][]string{p.file.Tokens(), p.file.Words()} {
		for _, t := range tokens {
			rows = append(rows, registry.Named(t)...)
		}
	}
	if p.google != nil {
		for row := range registry.All() {
			if row.ReadsGoogle {
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b *crawler.Crawler) int { return a.Index() - b.Index() })
	return slices.Compact(rows)
}

// planFor finds what applies to a crawler.
func (p *plans) planFor(class crawler.Class, row *crawler.Crawler, tokens ...string) plan {
	group, byStar := p.groupIn(p.file, class, row, tokens...)
	switch {
	case !byStar:
		return plan{group: group, limits: p.limits[group]}
	case !p.settings.throttledByStar(row):
		return plan{group: group, byStar: true}
	case forReaders(row):
		return plan{group: group, limits: p.readers, byStar: true}
	}
	return plan{group: group, limits: p.star, byStar: true}
}

// groupIn returns the group of a file that applies to a crawler: that of the first of its
// tokens that has one, otherwise the group for `*`.
func (p *plans) groupIn(f *robots.File, class crawler.Class, row *crawler.Crawler, tokens ...string) (g *robots.Group, byStar bool) {
	for _, t := range tokens {
		if g := f.Named(t); g != nil {
			return g, false
		}
	}
	if f.Star() == nil || !p.settings.BoundByStar(class, row) {
		return nil, false
	}
	return f.Star(), true
}

// readersBurst is how many requests of crawlers for readers may come at once from one
// address under the rate of the group for `*`: a page with a few images.
const readersBurst = 10

// forReaders reports whether a crawler mainly fetches what people have shared or
// subscribed to, for those who read it: previews of links, images of pages and mails,
// feeds. The requests of several readers are no crawl, so the rate of the group for `*`
// holds each client address. Tools with such a purpose are none of these.
func forReaders(row *crawler.Crawler) bool {
	if row == nil || row.Class == crawler.Scraper {
		return false
	}
	switch row.Purpose() {
	case crawler.Preview, crawler.Social, crawler.Feed, crawler.ImageProxy:
		return true
	}
	return false
}

// namesReaders reports whether the request names a crawler for readers besides a. Such
// a request is no crawl of a: some previews name other crawlers for compatibility.
func (c *Client) namesReaders(a *crawler.Agent) bool {
	other := func(b crawler.Agent) bool { return b.Crawler != a.Crawler && forReaders(b.Crawler) }
	return slices.ContainsFunc(c.Agents(), other) ||
		slices.ContainsFunc(c.before, func(n identified) bool { return slices.ContainsFunc(n.Agents(), other) })
}

// hold sets how the limits of w hold an agent: each address, if the request serves
// readers.
func (c *Client) hold(a *crawler.Agent, w *pathVerdict) {
	if w.limits == nil {
		return
	}
	if c.namesReaders(a) {
		w.perAddr = true
		if w.byStar {
			w.limits = c.rules.readers
		}
	}
	w.perAddr = w.perAddr || w.limits == c.rules.readers
}

// plan returns what applies to an agent. It allocates nothing.
func (p *plans) plan(a *crawler.Agent) plan {
	var known plan
	if a.Crawler != nil {
		i, ok := p.find(int32(a.Crawler.Index()))
		if !ok || i == namedBefore {
			return p.planFor(a.Class, a.Crawler)
		}
		if known = p.byIndex[i]; known.group != nil && !known.byToken {
			return known
		}
	}
	g, token := p.file.NamedAs(a.Token)
	if g != nil && a.Reason != crawler.ControlToken && (a.Crawler != nil || !p.people[token]) {
		known.group, known.limits, known.byStar = g, p.limits[g], false
		if known.reads {
			if own := p.google.Named(a.Token); own != nil {
				known.google = own
			}
		}
		return known
	}
	if known.group != nil {
		return known
	}
	return p.planFor(a.Class, a.Crawler)
}

// find returns the index of the plan of a crawler, and whether the file names it.
func (p *plans) find(row int32) (plan int32, ok bool) {
	named := p.named
	for len(named) > 1 {
		if half := len(named) / 2; named[half].row <= row {
			named = named[half:]
		} else {
			named = named[:half]
		}
	}
	if len(named) == 1 && named[0].row == row {
		return named[0].plan, true
	}
	return 0, false
}

// wasNamed reports whether p are the rules of an origin whose file was evicted,
// and that file has a group for a crawler.
func (p *plans) wasNamed(row *crawler.Crawler) bool {
	if row == nil {
		return false
	}
	plan, ok := p.find(int32(row.Index()))
	return ok && plan == namedBefore
}

// PoolLimits returns the limits for all unverified claims to be one crawler together,
// by the crawler's own; nil if there are none.
func (p *plans) PoolLimits(own *throttle.Limits) *throttle.Limits { return p.pools[own] }

// Group returns the group that applies to an agent, or nil.
func (p *plans) Group(a *crawler.Agent) *robots.Group { return p.plan(a).group }

// Limits returns the rate limits and Visit-time that the group of an agent sets for it;
// nil if there are none.
func (p *plans) Limits(a *crawler.Agent) *throttle.Limits { return p.plan(a).limits }

// PerAddr reports whether the Limits of an agent hold each client address, and not the
// agent.
func (p *plans) PerAddr(a *crawler.Agent) bool {
	limits := p.plan(a).limits
	return limits != nil && limits == p.readers
}

// Settings returns those that the rules were compiled with.
func (p *plans) Settings() *Settings { return &p.settings.Settings }

// Compiled returns the settings with what decisions need.
func (p *plans) Compiled() *Compiled { return p.settings }

// TokenOf returns the product token, as the file writes it, by which an agent got a
// group of the file: "*" for the group for `*`, and "" for nil. A group can have
// many tokens.
func (p *plans) TokenOf(a *crawler.Agent, g *robots.Group) string {
	if named, token := p.file.NamedAs(a.Token); named != nil && named == g && a.Reason != crawler.ControlToken {
		return token
	}
	if a.Crawler != nil {
		for _, t := range a.Crawler.Robots {
			if named, token := p.file.NamedAs(t); named != nil && named == g {
				return token
			}
		}
	}
	return g.Token() // that of `*` is the first
}

// DisallowsStar reports whether the group for `*` disallows a request target.
// Exempt paths are not disallowed.
func (p *plans) DisallowsStar(target string) bool {
	_, disallowed := p.matchStar(target)
	return disallowed
}

// Exempts reports whether the path of a request target is exempt.
func (p *plans) Exempts(target string) bool {
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	return p.settings.exemptPaths.MatchViews(v).Allowed
}

// matchStar returns the rule of the group for `*` that disallows a target.
// Exempt paths are not disallowed.
func (p *plans) matchStar(target string) (rule robots.Rule, disallowed bool) {
	star := p.file.Star()
	if star == nil {
		return rule, false
	}
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	if p.settings.exemptPaths.MatchViews(v).Allowed {
		return rule, false
	}
	verdict := star.MatchViews(v)
	return verdict.Rule(), !verdict.Allowed
}

// DisallowsEveryGroup returns true if the file has a group for `*`, and every
// group of the file disallows the target, also as google/robotstxt reads the
// file. An exempt path is not disallowed. If it returns false, allows is a group
// that allows the target (on an exempt path the group for `*`), or nil if there
// is no group for `*`.
func (p *plans) DisallowsEveryGroup(target string) (allows *robots.Group, ok bool) {
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	if p.settings.exemptPaths.MatchViews(v).Allowed || p.file.Star() == nil {
		return p.file.Star(), false
	}
	for _, f := range [...]*robots.File{p.file, p.google} {
		if f == nil {
			continue
		}
		if star := f.Star(); star.MatchViews(v).Allowed {
			return star, false
		}
		for _, token := range f.Tokens() {
			if g := f.Named(token); g != nil && g.MatchViews(v).Allowed {
				return g, false
			}
		}
	}
	return nil, true
}

// ShutsOut reports whether p disallows / to all crawlers or to a search engine, and
// before does not.
func (p *plans) ShutsOut(before *Rules) bool {
	shut := func(g, old *robots.Group) bool { return !g.Match("/").Allowed && old.Match("/").Allowed }
	if shut(p.file.Star(), before.file.Star()) {
		return true
	}
	for row := range p.settings.Registry.All() {
		if row.CountsAs(crawler.Search) && !row.ControlOnly && shut(p.file.Group(row.Robots...), before.file.Group(row.Robots...)) {
			return true
		}
	}
	return false
}

// Unenforceable returns the tokens of the file that no User-Agent has, such as
// Google-Extended. No server can enforce the rules for them.
func (p *plans) Unenforceable() []string {
	var tokens []string
	for _, t := range p.file.Tokens() {
		if row := p.settings.Registry.Lookup(t); row != nil && row.ControlOnly {
			tokens = append(tokens, t)
		}
	}
	return tokens
}
