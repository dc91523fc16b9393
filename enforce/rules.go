package enforce

import (
	"fmt"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Rules are the operator's choices: whom robots.txt binds, and how it is read.
// The zero value of each field is its default unless its comment says
// otherwise.
type Rules struct {
	// Registry is the crawlers that are known. Nil means the built-in ones.
	Registry *crawler.Registry
	// Dialect is the reading of the file.
	Dialect robots.Dialect
	// Views says which other spellings the back end treats as the same path.
	Views robots.ViewOptions
	// Exempt has the crawlers that are never bound.
	Exempt []Exemption
	// Verification checks the claims of crawlers. Nil means that all claims are
	// believed.
	Verification *Verification
	// ExemptPaths are patterns in robots.txt syntax for paths that are never
	// denied and never throttled; /robots.txt is one of them always.
	ExemptPaths []string
	// Managed is the operator's policy by purpose, which is added to
	// robots.txt. Nil means none. Names that the registry does not have are
	// skipped.
	Managed *managed.Policy
	// HTTPClients holds HTTP libraries and requests without a User-Agent to
	// the group for all crawlers.
	HTTPClients bool
	// Programs chooses which programs that give no more than their name the
	// group for all crawlers binds.
	Programs Programs
	// IgnoreUserTriggered frees fetchers that act on a person's request from
	// the group for all crawlers.
	IgnoreUserTriggered bool
	// Signals enables Policy.Signals.
	Signals bool
	// Monitor says that decisions are not carried out. Such decisions use
	// separate budgets.
	Monitor bool
	// Strict applies every rule to every crawler, even one that its operator
	// documents as ignored.
	Strict bool
	// PerIP counts each crawler per client address and not as a whole.
	PerIP bool
	// MaxDelay is the longest Crawl-delay enforced; a longer one is enforced
	// as this. Zero means 24 hours.
	MaxDelay time.Duration
	// Wait is how long a request may be held until its time comes, instead of a
	// refusal.
	Wait time.Duration
	// Burst is how many requests may come at once where a Crawl-delay is
	// kept. Zero means 1.
	Burst int
	// Grace chooses the crawlers that may follow an earlier version of the file
	// for a while after it changed. Zero means those of search engines.
	Grace Grace
}

// Programs says which programs that give no more than their name the group for
// all crawlers binds. A program's own group binds it always.
type Programs uint8

const (
	// ProgramsOff binds none: API clients look like this.
	ProgramsOff Programs = iota
	// ProgramsSeen binds those that read the robots.txt of the origin from the
	// same address under the same name in the last 24 hours, to the path rules
	// alone, for GET and HEAD without Authorization. The memory of such reads
	// is bounded; a program that is forgotten is no longer bound.
	ProgramsSeen
	// ProgramsOn binds all.
	ProgramsOn
)

var programsNames = [...]string{ProgramsOff: "off", ProgramsSeen: "seen", ProgramsOn: "on"}

// String returns "off", "seen" or "on".
func (p Programs) String() string { return programsNames[p] }

// ParsePrograms is the inverse of Programs.String.
func ParsePrograms(s string) (Programs, error) {
	for p, name := range programsNames {
		if s == name {
			return Programs(p), nil
		}
	}
	return 0, fmt.Errorf("%q: want off, seen or on", s)
}

// compiledRules are Rules made ready.
type compiledRules struct {
	Rules
	lines       *managed.Lines   // of Rules.Managed; nil without one
	hidden      *hidden          // nil without one
	base        *crawler.Matcher // knows the registry alone
	exempt      []*Exemption     // by crawler.Crawler.Index; nil: it is not
	exemptPaths *robots.Group    // allows the exempt paths and nothing else
	byEvidence  bool             // more than the User-Agent counts
}

func (r Rules) compile() (*compiledRules, error) {
	if r.Registry == nil {
		r.Registry = crawler.Builtin()
	}
	c := &compiledRules{Rules: r, base: r.Registry.Matcher(nil), exempt: make([]*Exemption, r.Registry.Len())}
	for i := range r.Exempt {
		if row := r.Registry.Lookup(r.Exempt[i].Name); row != nil {
			c.exempt[row.Index()] = &r.Exempt[i]
		}
	}
	c.byEvidence = r.Verification != nil || r.needsAddr()
	var file strings.Builder
	file.WriteString("User-agent: *\nDisallow: /\n")
	for _, p := range r.ExemptPaths {
		if err := CheckPathPattern(p); err != nil {
			return nil, err
		}
		fmt.Fprintf(&file, "Allow: %s\n", p)
	}
	c.exemptPaths = robots.Parse([]byte(file.String())).Star()
	if r.Managed != nil {
		var err error
		if c.lines, err = r.Managed.Compile(r.Registry); c.lines == nil {
			return nil, err
		}
		c.hidden = newHidden(c.lines.Hidden())
	}
	return c, nil
}

// Policy returns the policy made from a source's answer under the rules. The
// error says what is wrong with the rules.
func (r Rules) Policy(resp Response) (*Policy, error) {
	compiled, err := r.compile()
	if err != nil {
		return nil, err
	}
	return compiled.answer(resp), nil
}

// answer returns the policy that an answer of a source is under the rules.
func (r *compiledRules) answer(resp Response) *Policy {
	out, _ := outcome(resp, nil)
	return r.policy(content{body: resp.Body[:min(len(resp.Body), robots.MaxSize+1)], state: out})
}

// CheckPathPattern returns an error that says why s is not a pattern in
// robots.txt syntax, or nil if it is one.
func CheckPathPattern(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("a path pattern is empty")
	case s[0] != '/' && s[0] != '*':
		return fmt.Errorf("path pattern %q starts with neither / nor *: write /%s", s, s)
	case strings.ContainsAny(s, "# \t\r\n"):
		return fmt.Errorf("path pattern %q has a blank or a #: write them as %%20 and %%23", s)
	}
	return nil
}

// BoundByStar reports whether the group for all crawlers binds a GET of a
// crawler that has no group of its own. The row is nil for one that no registry
// knows. With ProgramsSeen it reports what holds for a program that has read
// the robots.txt.
func (r *Rules) BoundByStar(class crawler.Class, row *crawler.Crawler) bool {
	switch class {
	case crawler.Library:
		return r.HTTPClients
	case crawler.Program:
		return r.Programs != ProgramsOff
	case crawler.Named, crawler.Webhook, crawler.Person:
		return false
	}
	if r.Strict {
		return true
	}
	if class == crawler.UserTriggered && r.IgnoreUserTriggered {
		return false
	}
	return row == nil || row.Star != crawler.No
}

// starBinds reports whether the group for all crawlers, which binds an agent's
// GET, binds this request of it.
func (r *compiledRules) starBinds(a *crawler.Agent, ask *Ask) bool {
	switch {
	case a.Class == crawler.UserTriggered:
		return ask.reads()
	case a.Class == crawler.Program && r.Programs == ProgramsSeen:
		return ask.reads() && !ask.Authorized && ask.ReadRobots
	}
	return true
}

// bindable reports whether a robots.txt that is not known yet could bind an
// agent. An HTTP library, a program or a webhook that a group names is not
// among them: while no policy is known, it passes as the most of them do in
// the end.
func (r *compiledRules) bindable(a *crawler.Agent, claim verify.Result, ask *Ask) bool {
	switch a.Class {
	case crawler.Person, crawler.Webhook:
		return false
	case crawler.Library:
		return r.HTTPClients && !r.isExempt(a, claim, ask.Evidence)
	case crawler.Program:
		return r.Programs == ProgramsOn && !r.isExempt(a, claim, ask.Evidence)
	case crawler.UserTriggered:
		return ask.reads() && !r.isExempt(a, claim, ask.Evidence)
	}
	return !r.isExempt(a, claim, ask.Evidence)
}

// throttledByStar reports whether the group for all crawlers sets the pace of
// an agent that it binds. A crawler whose operator documents that it does not
// support Crawl-delay is held to one only where a group names it: it can't
// know better, and a 429 costs the site its place in the index.
func (r *compiledRules) throttledByStar(row *crawler.Crawler) bool {
	return r.Strict || row == nil || row.CrawlDelay != crawler.No
}

// terms compiles what a group grants; nil where it limits nothing.
func (r *compiledRules) terms(g *robots.Group) *throttle.Terms {
	delay, _ := g.CrawlDelay()
	return throttle.Compile(
		throttle.Grant{Delay: delay, Rates: g.RequestRates(), Visits: g.VisitTimes()},
		throttle.Options{MaxDelay: r.MaxDelay, Burst: r.Burst},
	)
}
