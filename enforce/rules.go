package enforce

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/heapsize"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// Rules is a robots.txt compiled for decisions: it has the group that applies
// to each known crawler, and the group's rules and rate limits. A
// Rules is immutable and safe for concurrent use.
type Rules struct {
	*document
	settings *compiledSettings
	named    []namedPlan                           // of the crawlers that the file names, sorted
	plans    []plan                                // of these, each once
	limits   map[*robots.Group]*throttle.Limits    // of the groups that have some
	star     *throttle.Limits                      // of the group for `*`; nil if it has none
	pools    map[*throttle.Limits]*throttle.Limits // Limits for all unverified claims together, by the crawler's own Limits
	signals  map[*robots.Group]*headers.Signals    // nil unless Settings.Signals is set
	noindex  noindexGroups
	// signalsVary is set if signals differ between crawlers.
	signalsVary bool

	content  Content // of the site's own robots.txt
	text     []byte  // what file was parsed from: the site's own, with the lines of the operator
	etag     string  // of text
	merged   Merged  // nil if text has no lines of the operator
	mergeErr error
	octets   int64 // of memory without document, as estimated
}

// namedPlan is the plan of a crawler that the file names: crawler.Crawler.Index,
// and the index in Rules.plans.
type namedPlan struct{ row, plan int32 }

// namedBefore takes the place of the index for a crawler in a file that was
// evicted: see Origins.pendingFor.
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

// empty returns rules without a file.
func (r *compiledSettings) empty(c Content) *Rules {
	return (&Rules{document: r.documentOf(nil), settings: r, content: c}).measured()
}

// compile compiles a robots.txt with the lines of the operator.
func (r *compiledSettings) compile(c Content) *Rules {
	p := &Rules{settings: r, content: c}
	p.addLines()
	p.etag = fmt.Sprintf("%q", strconv.FormatUint(xxhash.Sum64(p.text), 36))
	p.document = r.documentOf(p.text)
	for _, g := range p.file.Groups() {
		if limits := r.limitsOf(g); limits != nil {
			if p.limits == nil {
				p.limits, p.pools = make(map[*robots.Group]*throttle.Limits), make(map[*throttle.Limits]*throttle.Limits)
			}
			p.limits[g], p.pools[limits] = limits, r.poolLimits(g)
		}
	}
	p.star = p.limits[p.file.Star()]
	if r.Signals {
		p.compileSignals()
	}
	for _, row := range p.namedCrawlers() {
		pl := p.planFor(row.Class, row, row.Robots...)
		if pl.reads = p.google != nil && row.ReadsGoogle; pl.reads {
			pl.google = p.googleGroup(row)
		}
		for _, t := range row.Tokens() {
			if p.file.Named(t) != nil && !slices.ContainsFunc(row.Robots, func(own string) bool { return strings.EqualFold(own, t) }) {
				pl.byToken = true
			}
		}
		i := slices.Index(p.plans, pl)
		if i < 0 {
			i = len(p.plans)
			p.plans = append(p.plans, pl)
		}
		p.named = append(p.named, namedPlan{int32(row.Index()), int32(i)})
	}
	p.named, p.plans = slices.Clone(p.named), slices.Clone(p.plans)
	return p.measured()
}

// measured returns p with octets set.
func (p *Rules) measured() *Rules {
	p.octets = heapsize.Of(p, p.settings, p.settings.base) - p.document.octets
	return p
}

// namedCrawlers returns the crawlers that can have another plan than planFor
// makes of the group for `*`, in the order of the registry.
func (p *Rules) namedCrawlers() (rows []*crawler.Crawler) {
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

// planFor finds what applies to a crawler: the group of the first of its tokens
// that has one, otherwise the group for `*`.
func (p *Rules) planFor(class crawler.Class, row *crawler.Crawler, tokens ...string) plan {
	for _, t := range tokens {
		if g := p.file.Named(t); g != nil {
			return plan{group: g, limits: p.limits[g]}
		}
	}
	star := p.file.Star()
	if star == nil || !p.settings.BoundByStar(class, row) {
		return plan{}
	}
	if class == crawler.Program && p.settings.Programs == ProgramsSeen || !p.settings.throttledByStar(row) {
		return plan{group: star, byStar: true}
	}
	return plan{group: star, limits: p.star, byStar: true}
}

// googleGroup returns the group that applies to a crawler as google/robotstxt
// reads the file.
func (p *Rules) googleGroup(row *crawler.Crawler) *robots.Group {
	for _, t := range row.Robots {
		if g := p.google.Named(t); g != nil {
			return g
		}
	}
	if !p.settings.BoundByStar(row.Class, row) {
		return nil
	}
	return p.google.Star()
}

// plan returns what applies to an agent. It allocates nothing.
func (p *Rules) plan(a *crawler.Agent) plan {
	var known plan
	if a.Crawler != nil {
		i, ok := p.find(int32(a.Crawler.Index()))
		if !ok || i == namedBefore {
			return p.planFor(a.Class, a.Crawler)
		}
		if known = p.plans[i]; known.group != nil && !known.byToken {
			return known
		}
	}
	if g := p.file.Named(a.Token); g != nil && a.Reason != crawler.ControlToken {
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
func (p *Rules) find(row int32) (plan int32, ok bool) {
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
func (p *Rules) wasNamed(row *crawler.Crawler) bool {
	if row == nil {
		return false
	}
	plan, ok := p.find(int32(row.Index()))
	return ok && plan == namedBefore
}

// PoolLimits returns the limits for all unverified claims to be one crawler together,
// by the crawler's own; nil if there are none.
func (p *Rules) PoolLimits(own *throttle.Limits) *throttle.Limits { return p.pools[own] }

// Matcher returns the matcher that identifies crawlers for the site.
func (p *Rules) Matcher() *crawler.Matcher { return p.matcher }

// Group returns the group that applies to an agent, or nil.
func (p *Rules) Group(a *crawler.Agent) *robots.Group { return p.plan(a).group }

// TokenOf returns the product token, as the file writes it, by which an agent got a
// group of the file: "*" for the group for `*`, and "" for nil. A group can have
// many tokens.
func (p *Rules) TokenOf(a *crawler.Agent, g *robots.Group) string {
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

// File returns the parsed robots.txt. It is empty if there is none.
func (p *Rules) File() *robots.File { return p.file }

// Text returns the file that is in force: the site's own, with the lines of the
// operator. The caller must not change it.
func (p *Rules) Text() []byte { return p.text }

// SiteText returns the site's own robots.txt. The caller must not change it.
func (p *Rules) SiteText() []byte { return p.content.Body }

// Tag identifies the version of the file in logs: it is the opaque part of an entity
// tag of Text (RFC 9110, section 8.8.3), without quotes, or "" if there is no file.
func (p *Rules) Tag() string { return strings.Trim(p.etag, `"`) }

// GroupCount returns the number of groups in the file.
func (p *Rules) GroupCount() int { return p.groups }

// RuleCount returns the number of Allow and Disallow lines with a path.
func (p *Rules) RuleCount() int { return p.document.rules }

// Outcome returns the outcome of the fetch that p was made from. It is Loaded
// for a robots.txt; without one, it is Missing, NotRobots, Forbidden, Redirected, Failed or
// Pending.
func (p *Rules) Outcome() Outcome { return p.content.Outcome }

// Status returns the HTTP status code of the answer that Outcome describes: 404
// or 410 for Missing, another 4xx for Forbidden. For other outcomes it returns 0.
func (p *Rules) Status() int { return p.content.Status }

// Empty reports whether the site's own robots.txt has nothing but blank lines and
// comments. It returns false if there is no robots.txt.
func (p *Rules) Empty() bool {
	if p.content.Outcome != Loaded {
		return false
	}
	for line := range bytes.FieldsFuncSeq(bytes.TrimPrefix(p.content.Body, []byte("\ufeff")), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// DeniesAll reports whether all paths are denied to crawlers, because the
// source fails and Config.DenyFailed is set.
func (p *Rules) DeniesAll() bool { return p.content.DenyAll }

// Unenforceable returns the tokens of the file that no User-Agent has, such as
// Google-Extended. No server can enforce the rules for them.
func (p *Rules) Unenforceable() []string {
	var tokens []string
	for _, t := range p.file.Tokens() {
		if row := p.settings.Registry.Lookup(t); row != nil && row.ControlOnly {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// Ignored returns the tokens of the file that the engine does not look for in
// requests, because browsers send them: a group for Mozilla would apply to
// people.
func (p *Rules) Ignored() []string { return p.matcher.Ignored() }

// isVersion reports whether a crawler can have read the file of the rules. It
// can't if they are only in force because the source gave no answer.
func (p *Rules) isVersion() bool {
	switch p.content.Outcome {
	case Loaded, Missing, NotRobots, Forbidden, Redirected:
		return !p.content.DenyAll
	}
	return false
}

// publishedContent returns the file that crawlers read, with the lines of the
// operator.
func (p *Rules) publishedContent() Content {
	c := Content{Body: p.text, Outcome: p.content.Outcome, Status: p.content.Status, Apart: true}
	if len(p.text) > 0 {
		c.Outcome, c.Status = Loaded, 0
	}
	return c
}

// shutsOut reports whether p disallows / to all crawlers or to a search engine, and
// before does not.
func (p *Rules) shutsOut(before *Rules) bool {
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

// Comparable returns the crawlers of a registry that a comparison of files must know:
// those that obey the group of another crawler or not the group for `*`, and those
// that read the file with google/robotstxt.
func Comparable(registry *crawler.Registry) (list []diff.Crawler) {
	for row := range registry.All() {
		if ignores := row.Star == crawler.No; ignores || len(row.Robots) > 1 || row.ReadsGoogle {
			list = append(list, diff.Crawler{Tokens: row.Robots, IgnoresStar: ignores, ReadsGoogle: row.ReadsGoogle})
		}
	}
	return list
}
