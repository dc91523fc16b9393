package enforce

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Policy is a robots.txt compiled for decisions: which group binds each known
// crawler, and what the group allows. It is immutable and safe for concurrent
// use.
type Policy struct {
	file    *robots.File
	google  *robots.File // as google/robotstxt reads it, nil where that is the same
	rules   *compiledRules
	matcher *crawler.Matcher
	plans   []plan // by crawler.Crawler.Index
	terms   map[*robots.Group]*throttle.Terms
	pools   map[*throttle.Terms]*throttle.Terms // of unverified claims, by the crawler's own; nil where claims are believed
	signals map[*robots.Group]*headers.Signals  // nil unless wanted
	noindex noindexGroups
	// signalsVary is set where signals are not the same for every crawler.
	signalsVary bool

	pathRules uint64 // a hash of what the file allows and disallows

	content         // of the site's own robots.txt
	text     []byte // of file: the site's own, with the operator's lines
	etag     string // of text
	merged   *managed.Merged
	mergeErr error
	users    int // origins that share it, now or as an earlier version; guarded by Policies.mu
}

// plan is what binds one crawler.
type plan struct {
	group *robots.Group   // nil: nothing does
	terms *throttle.Terms // nil: nothing limits its pace
	// byStar is set where the group binds as that for all crawlers.
	byStar bool
	// google is the group that google/robotstxt has for a crawler that reads
	// so, and reads is set, where that reading is another one: then the crawler
	// is denied only what both readings disallow.
	google *robots.Group
	reads  bool
	// byToken is set where the file names a User-Agent token of the crawler
	// that is none of its robots.txt tokens: then the token that was sent
	// decides first, for whatever an operator names counts.
	byToken bool
}

// empty returns a policy without rules, for an origin in the given state.
func (r *compiledRules) empty(state Outcome) *Policy {
	file := robots.Parse(nil)
	return &Policy{file: file, rules: r, matcher: r.base, pathRules: hashPathRules(file, nil), content: content{state: state}}
}

// compile makes the policy that a robots.txt is under the rules, with the
// lines of the operator's own policy.
func (r *compiledRules) compile(c content) *Policy {
	p := &Policy{rules: r, terms: make(map[*robots.Group]*throttle.Terms)}
	p.merge(c)
	tokens := p.file.Tokens()
	p.matcher = r.base
	if len(tokens) > 0 {
		p.matcher = r.Registry.Matcher(tokens)
	}
	if star := p.file.Star(); star != nil {
		p.terms[star] = r.terms(star)
	}
	for _, t := range tokens {
		if g := p.file.Named(t); g != nil && p.terms[g] == nil {
			p.terms[g] = r.terms(g)
		}
	}
	if r.Verification != nil {
		p.pools = make(map[*throttle.Terms]*throttle.Terms)
		for g, terms := range p.terms {
			p.pools[terms] = r.poolTerms(g)
		}
	}
	if r.Signals {
		p.compileSignals()
	}
	if !r.Strict {
		p.google = p.file.GoogleReading()
	}
	p.pathRules = hashPathRules(p.file, p.google)
	p.plans = make([]plan, r.Registry.Len())
	for row := range r.Registry.All() {
		pl := p.planFor(row.Class, row, row.Robots...)
		if pl.reads = p.google != nil && row.ReadsGoogle; pl.reads {
			pl.google = p.googleGroup(row)
		}
		for _, t := range row.Tokens() {
			if p.file.Named(t) != nil && !containsFold(row.Robots, t) {
				pl.byToken = true
			}
		}
		p.plans[row.Index()] = pl
	}
	return p
}

// planFor finds what binds a crawler: the group of the first of its tokens
// that has one, else the group for all.
func (p *Policy) planFor(class crawler.Class, row *crawler.Crawler, tokens ...string) plan {
	for _, t := range tokens {
		if g := p.file.Named(t); g != nil {
			return plan{group: g, terms: p.terms[g]}
		}
	}
	star := p.file.Star()
	if star == nil || !p.rules.BoundByStar(class, row) {
		return plan{}
	}
	if class == crawler.Program && p.rules.Programs == ProgramsSeen || !p.rules.throttledByStar(row) {
		return plan{group: star, byStar: true}
	}
	return plan{group: star, terms: p.terms[star], byStar: true}
}

// googleGroup returns the group that google/robotstxt has for a crawler.
func (p *Policy) googleGroup(row *crawler.Crawler) *robots.Group {
	for _, t := range row.Robots {
		if g := p.google.Named(t); g != nil {
			return g
		}
	}
	if !p.rules.BoundByStar(row.Class, row) {
		return nil
	}
	return p.google.Star()
}

// plan returns what binds an agent. It allocates nothing.
func (p *Policy) plan(a *crawler.Agent) plan {
	if p.plans == nil {
		return plan{}
	}
	if a.Crawler != nil {
		if pl := p.plans[a.Crawler.Index()]; !pl.byToken {
			return pl
		}
	}
	var known plan
	if a.Crawler != nil {
		known = p.plans[a.Crawler.Index()]
	}
	if g := p.file.Named(a.Token); g != nil {
		known.group, known.terms, known.byStar = g, p.terms[g], false
		if known.reads {
			if own := p.google.Named(a.Token); own != nil {
				known.google = own
			}
		}
		return known
	}
	if a.Crawler != nil {
		return known
	}
	return p.planFor(a.Class, nil)
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.EqualFold(e, s) })
}

// Matcher returns the matcher that identifies crawlers for the site.
func (p *Policy) Matcher() *crawler.Matcher { return p.matcher }

// Group returns the group that binds an agent, nil if none does.
func (p *Policy) Group(a *crawler.Agent) *robots.Group { return p.plan(a).group }

// File returns the robots.txt that the policy was made of. It is empty where
// there is none.
func (p *Policy) File() *robots.File { return p.file }

// memory estimates the octets that the policy takes: the file, what is compiled
// of it, and a plan for each crawler of the registry.
func (p *Policy) memory() int64 {
	readings := int64(1)
	if p.google != nil {
		readings++
	}
	return policyBase + int64(len(p.plans))*int64(unsafe.Sizeof(plan{})) + readings*policyFactor*int64(max(len(p.body), len(p.text)))
}

// What a policy takes for each octet of the file in each reading, and what it
// takes in addition. Measured by TestMemoryOfPolicies.
const (
	policyBase   = 4 << 10
	policyFactor = 24
)

// Size returns the octets of the file.
func (p *Policy) Size() int { return len(p.text) }

// ETag returns an entity tag of the file (RFC 9110, section 8.8.3).
func (p *Policy) ETag() string { return p.etag }

// Tag names the version of the file: its entity tag without quotes. It is empty
// where there is no file.
func (p *Policy) Tag() string { return strings.Trim(p.etag, `"`) }

// Groups and Rules return the number of groups of the file, and of Allow and
// Disallow rules in them.
func (p *Policy) Groups() int { return len(p.terms) }

// Rules is documented with Groups.
func (p *Policy) Rules() int {
	n := 0
	for g := range p.terms {
		n += len(g.Rules())
	}
	return n
}

// Outcome tells where the policy came from: Loaded from a robots.txt, or
// empty because it is Missing, NotRobots, Refused, Failed or Pending.
func (p *Policy) Outcome() Outcome { return p.state }

// DeniesAll reports whether crawlers may fetch nothing because the source
// fails and the operator chose that.
func (p *Policy) DeniesAll() bool { return p.denyAll }

// Unenforceable returns the tokens of the file that arrive in no request, such
// as Google-Extended. No server can enforce the rules for them.
func (p *Policy) Unenforceable() []string {
	var tokens []string
	for _, t := range p.file.Tokens() {
		if row := p.rules.Registry.Lookup(t); row != nil && row.ControlOnly {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// Ignored returns the tokens of the file that are not looked for in requests
// because browsers send them: a group for Mozilla would bind people.
func (p *Policy) Ignored() []string { return p.matcher.Ignored() }

// Grace returns which crawlers may follow an earlier version of the file.
func (p *Policy) Grace() Grace { return p.rules.Grace }
