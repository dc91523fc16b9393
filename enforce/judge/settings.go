package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Settings are the settings of the site's operator for decisions: which clients
// robots.txt applies to, and how it is read. The zero value of each field is
// its default.
type Settings struct {
	// ID is the same only for settings that differ at most in Registry,
	// Verification, Monitor and Except. Engines share what they compile with the
	// same settings. Without an ID, each engine compiles for itself.
	ID string
	// Registry has the known crawlers. If nil, it is crawler.Builtin.
	Registry *crawler.Registry
	// SourceFile is the name of the file that has the source's text, for
	// Rules.FileOf, and SourceLine the line of that file at which the text begins.
	// If they are empty, the text is a file of its own, robots.txt.
	SourceFile string
	SourceLine int
	// Places are the lines of the configuration that refuse requests, but those of Edit.
	Places []*Place
	// Dialect is the dialect by which robots.txt is parsed.
	Dialect robots.Dialect
	// Views says which different spellings of a path are the same path for the
	// back end.
	Views robots.ViewOptions
	// Exempt has the crawlers that robots.txt does not apply to.
	Exempt []Exemption
	// Verification says how claims of crawlers are checked. If nil, the engine
	// believes all claims.
	Verification *Verification
	// ExemptPaths are patterns in robots.txt syntax for paths on which no
	// request is refused. /robots.txt is always such a path.
	ExemptPaths []string
	// Edit returns what the operator adds to robots.txt, for a registry. If
	// it returns an error and no Additions, there is no engine. With Additions,
	// the error only says what has no effect. If Edit is nil, nothing is
	// added.
	Edit func(*crawler.Registry) (*Additions, error)
	// HTTPClients applies the group for `*` to HTTP libraries and to requests
	// without a User-Agent.
	HTTPClients bool
	// Programs says that the group for `*` applies to programs: clients of class
	// crawler.Program, whose User-Agent is only a program's name, or tools that the
	// registry has as programs (Terraform). Those of API clients look the same. A group
	// with a program's own name always applies to it.
	Programs bool
	// IgnoreUserTriggered exempts fetchers that act on a person's request from
	// the group for `*`.
	IgnoreUserTriggered bool
	// StepBudgets says that requests may use budgets beside those of their groups: the engine
	// is given them. Then Subject.Bound says whose may be limited, Decision.Others has all that
	// are, and the budgets of all hosts of a handler have one home.
	StepBudgets bool
	// Signals enables Rules.Signals.
	Signals bool
	// Monitor says that the caller does not carry out the decisions: they are
	// Monitored. Such requests use separate budgets, and none of the budgets of
	// enforced requests, and are not held.
	Monitor bool
	// Except has names and purposes of crawlers in the registry for which the
	// opposite of Monitor holds.
	Except []string
	// Strict applies every rule to every crawler, even if the crawler's
	// operator documents that the crawler ignores the rule. IgnoreUserTriggered, and
	// what is stated about a crawler for the site (Crawler.StarStated), have precedence.
	Strict bool
	// PerIP gives each client address of a crawler its own budget. Otherwise
	// all addresses of a crawler share one.
	PerIP bool
	// MaxDelay limits the interval between requests that is enforced. A longer
	// Crawl-delay or Request-rate interval is enforced as MaxDelay. Zero or less
	// means 24 hours; more than 366 days counts as 366 days.
	MaxDelay time.Duration
	// Burst is how many requests may come at once under a Crawl-delay; crawlers for
	// readers have at least 10 under the group for `*`. Less
	// than 1 counts as 1. See throttle.Grant.
	Burst int
	// Grace says which crawlers may still follow an earlier version of the file
	// after it changed. Zero means GraceSearch.
	Grace Grace
}

// Compiled are Settings with what decisions need. They are immutable.
type Compiled struct {
	Settings
	additions   *Additions       // never nil
	hidden      *robots.Group    // disallows the hidden paths; see hiddenGroup
	base        *crawler.Matcher // for the registry's tokens only
	exemptPaths *robots.Group    // allows the exempt paths and nothing else
	mode        *Mode            // Settings.Monitor and Except
	usesAddr    bool             // decisions depend on the client's address
}

// settingsKey says which settings are equal.
type settingsKey struct {
	id           string
	registry     *crawler.Registry
	verification Verification
	monitor      bool
	except       string
}

var allSettings interned[settingsKey, Compiled]

func (r Settings) Compile() (*Compiled, error) {
	if r.Registry == nil {
		r.Registry = crawler.Builtin()
	}
	if r.ID == "" {
		return r.compileAlone()
	}
	key := settingsKey{id: r.ID, registry: r.Registry, monitor: r.Monitor, except: strings.Join(r.Except, "\n")}
	if r.Verification != nil {
		key.verification = *r.Verification
	}
	return allSettings.get(key, r.compileAlone)
}

func (r Settings) compileAlone() (*Compiled, error) {
	if r.MaxDelay <= 0 {
		r.MaxDelay = throttle.DefaultMaxDelay
	}
	c := &Compiled{Settings: r, base: r.Registry.Matcher(nil)}
	c.Exempt = slices.Clone(r.Exempt)
	for i := range c.Exempt {
		c.Exempt[i].row = r.Registry.Lookup(c.Exempt[i].Name)
	}
	c.mode = NewMode(r.Registry, r.Monitor, r.Except)
	c.usesAddr = r.Verification != nil || slices.ContainsFunc(r.Exempt, func(x Exemption) bool { return len(x.From) > 0 })
	var file strings.Builder
	file.WriteString("User-agent: *\nDisallow: /\n")
	for _, p := range r.ExemptPaths {
		if err := CheckPathPattern(p); err != nil {
			return nil, err
		}
		fmt.Fprintf(&file, "Allow: %s\n", p)
	}
	c.exemptPaths = robots.Parse([]byte(file.String())).Star()
	c.additions = new(Additions)
	if r.Edit != nil {
		var err error
		c.additions, err = r.Edit(r.Registry)
		if c.additions == nil {
			return nil, err
		}
	}
	c.hidden = hiddenGroup(c.additions.Hidden)
	return c, nil
}

// Lists reports whether a list of names and purposes has a crawler by its name, and
// whether it has one of its purposes.
func Lists(registry *crawler.Registry, list []string, row *crawler.Crawler) (byName, byPurpose bool) {
	for _, s := range list {
		byName = byName || registry.Lookup(s) == row
		byPurpose = byPurpose || row.CountsAs(crawler.Purpose(s))
	}
	return byName, byPurpose
}

// Mode says about which crawlers decisions are Monitored. It is immutable.
type Mode struct {
	monitor  bool
	some     bool   // there are exceptions
	excepted []bool // by crawler.Crawler.Index; nil for none
}

// NewMode returns the mode that monitor and except describe, as Settings.Monitor and
// Except do, for the crawlers in a registry. A purpose in except leaves out the crawlers
// whose names are in but.
func NewMode(registry *crawler.Registry, monitor bool, except []string, but ...string) *Mode {
	m := &Mode{monitor: monitor, some: len(except) > 0}
	if !m.some {
		return m
	}
	for row := range registry.All() {
		byName, byPurpose := Lists(registry, except, row)
		left, _ := Lists(registry, but, row)
		m.excepted = append(m.excepted, byName || byPurpose && !left)
	}
	if !slices.Contains(m.excepted, true) {
		m.excepted = nil
	}
	return m
}

// Same reports whether two modes for the crawlers in one registry are equal.
func (m *Mode) Same(o *Mode) bool {
	return m.monitor == o.monitor && slices.Equal(m.excepted, o.excepted)
}

// Monitors reports whether decisions about a crawler are Monitored. row is its row in the
// registry, nil if it has none.
func (m *Mode) Monitors(row *crawler.Crawler) bool {
	return m.monitor != (m.excepted != nil && row != nil && m.excepted[row.Index()])
}

// MonitorsAll reports whether decisions about all clients are Monitored.
func (m *Mode) MonitorsAll() bool { return m.monitor && !m.some }

// ModeOf returns the mode for a request: Request.Mode, or that of the settings.
func (r *Compiled) ModeOf(q *Request) *Mode {
	if q.Mode != nil {
		return q.Mode
	}
	return r.mode
}

// Rules compiles a source's answer. An error says what is wrong with r.
func (r Settings) Rules(resp Response) (*Rules, error) {
	compiled, err := r.Compile()
	if err != nil {
		return nil, err
	}
	c, _ := resp.Content(nil)
	return compiled.RulesOf(c), nil
}

// Verification says how the engine checks the claims of crawlers.
type Verification struct {
	// Checker checks the claims. It must be made for Settings.Registry.
	Checker Checker
	// IgnoreImpostors treats impostors like unverified crawlers, except that
	// they have a separate budget. Without it, impostors are denied every path.
	IgnoreImpostors bool
	// Signatures says that a signature can prove who sent a request.
	Signatures bool
}

// Checker checks claims to be the crawlers of one registry. Its methods never wait, are
// safe for concurrent use, and allocate nothing but for a signature. A verify.Checker is
// one.
type Checker interface {
	// Verifiable reports whether a claim to be row, which may be nil, can be checked.
	Verifiable(row *crawler.Crawler) bool
	// Proof returns the Proof of the host that a request is for, which may have come through a
	// trusted proxy.
	Proof(host string, proxied bool) *claim.Proof
	// Address checks by the client's address whether it is row.
	Address(row *crawler.Crawler, client claim.Client, now time.Time) claim.Result
	// Signature returns the crawler that signed a request, nil if none did. named is the one
	// that its User-Agent names. It is called once for each request.
	Signature(m *claim.Message, named *crawler.Crawler, now time.Time) (*crawler.Crawler, claim.Result)
}

// CheckPathPattern returns an error if s is not a path pattern in robots.txt
// syntax. The error says what to write instead.
func CheckPathPattern(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("a path pattern is empty: write a path, such as /private/")
	case s[0] != '/' && s[0] != '*':
		return fmt.Errorf("path pattern %q must start with / or *: write /%s", s, s)
	case strings.ContainsAny(s, "# \t\r\n"):
		return fmt.Errorf("path pattern %q contains white space or #: write a space as %%20, and # as %%23", s)
	}
	return nil
}

// BoundByStar reports whether the group for `*` applies to a GET of a client
// that has no group of its own. row is the client's crawler in the registry, or
// nil.
func (r *Settings) BoundByStar(class crawler.Class, row *crawler.Crawler) bool {
	switch class {
	case crawler.Library, crawler.Program:
		return r.holds(class)
	case crawler.Named, crawler.Webhook, crawler.Probe, crawler.Person, crawler.App:
		return false
	}
	return r.holds(class) && (row == nil || row.Star != crawler.No || r.Strict && !row.StarStated)
}

// holds reports whether the operator lets the group for `*` apply to clients of a class; of
// most classes, the operator has no choice.
func (r *Settings) holds(class crawler.Class) bool {
	switch class {
	case crawler.Library:
		return r.HTTPClients
	case crawler.Program:
		return r.Programs
	case crawler.UserTriggered:
		return !r.IgnoreUserTriggered
	}
	return true
}

// throttledByStar reports whether the rate limits of the group for `*` apply to
// a crawler that the group applies to. They don't if the operator of the
// crawler documents that it does not support Crawl-delay: the crawler would get
// status 429 for a limit that it does not read, and the site could lose its
// place in the index. Only a group that names such a crawler limits its rate.
func (r *Compiled) throttledByStar(row *crawler.Crawler) bool {
	return row == nil || row.CrawlDelay != crawler.No || r.Strict && !row.CrawlDelayStated
}

// limitsOf compiles the rate limits and Visit-time of a group. It returns nil if
// the group has none. burst is as in throttle.Grant.
func (r *Compiled) limitsOf(g *robots.Group, burst int) *throttle.Limits {
	delay, _ := g.CrawlDelay()
	return throttle.Compile(throttle.Grant{
		Delay: delay, Rates: g.RequestRates(), Visits: g.VisitTimes(), MaxDelay: r.MaxDelay, Burst: burst,
	})
}

// poolFactor multiplies a crawler's own rate and burst. The product is the
// limit for all unverified claims to be that crawler together.
const poolFactor = 10

// poolLimits returns the limits that g sets for all unverified claims to be one
// crawler together; nil if g sets none.
func (r *Compiled) poolLimits(g *robots.Group) *throttle.Limits {
	delay, _ := g.CrawlDelay()
	delay.Delay = min(delay.Delay, r.MaxDelay) / poolFactor
	rates := append([]robots.RequestRate(nil), g.RequestRates()...)
	for i := range rates {
		rates[i].Requests *= poolFactor
	}
	return throttle.Compile(throttle.Grant{
		Delay: delay, Rates: rates, Visits: g.VisitTimes(), MaxDelay: r.MaxDelay, Burst: max(r.Burst, 1) * poolFactor,
	})
}
