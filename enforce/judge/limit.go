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

// MaxLimits is the largest number of Settings.Limits: a request uses at most two
// budgets of each crawler that it names, and two of each limit. Of these,
// throttle.MaxUses count.
const MaxLimits = 7

// Limit limits the requests of crawlers to some paths: those of all crawlers
// together, and those of each crawler. It holds a request that is let through,
// and that comes from a client that the robots.txt binds, or would bind if it had
// a group for `*`: no person, no webhook, no probe and no exempt crawler. It also
// holds requests with the reason NotCrawling. Crawlers of the purposes
// search and ads are not held unless Include names them. Then those that are
// verified share one budget, all others of them another one, and neither is the
// budget of the other crawlers.
//
// Budgets belong to the hosts of origins.Config.Handler together, and to the paths.
// Engines in which these are equal share them, even if the engines are in several
// processes with one throttle.Limiter. Requests at once are counted by each enforce.Memory.
type Limit struct {
	// Paths are patterns in robots.txt syntax. If there are none, the limit is for
	// all paths.
	Paths []string
	// Hosts are the hosts that the limit is for, in lower case. If there are none, it is for
	// all hosts.
	Hosts []string
	// All limits the rate of all crawlers together, Each that of each crawler. The
	// zero value is no limit. Of N requests in a time, a tenth of N, rounded up, may
	// come at once; see throttle.Grant.Exact.
	All, Each robots.RequestRate
	// AtOnce limits how many requests of all crawlers together may be in flight,
	// EachAtOnce those of each crawler: see Release of the engine. 0 is no limit.
	AtOnce, EachAtOnce int
	// Except and Include are purposes, and names and tokens of crawlers in the
	// registry: those that are not held, and those of search engines and ads that
	// are. A name has precedence over a purpose, and Except over Include.
	Except, Include []string
	// File is the name of the configuration file that has the limit, and Line its
	// line there.
	File string
	Line int
}

// exactBurst says how many of a Limit's requests may come at once: a tenth.
const exactBurst = 10

// CompiledLimit is a Limit in Compiled.
type CompiledLimit struct {
	*Limit
	// Bounds are the lines of the limit: all, each, at_once and each_at_once.
	Bounds [boundCount]Bound
	paths  *robots.Group // disallows Paths; nil if the limit is for all paths
	roles  []role        // by crawler.Crawler.Index
}

// role says whether a limit holds a crawler.
type role uint8

const (
	held  role = iota // with the other crawlers
	apart             // as one of the search engines and ads that are included
	free
)

// The lines of a limit, as in CompiledLimit.Bounds.
const (
	boundAll = iota
	boundEach
	boundAtOnce
	boundEachAtOnce
	boundCount
)

var boundNames = [boundCount]string{"all", "each", "at_once", "each_at_once"}

// Bound is one line of a Limit. The zero value limits nothing.
type Bound struct {
	Rate   *throttle.Limits // nil for a number of requests at once
	Half   *throttle.Limits // half of Rate, for names that anybody can invent; nil unless crawlers share Rate
	AtOnce int              // requests in flight; 0 for a rate
	Each   bool             // for each crawler, not for all together
	Place                   // its text is such as "limit /archive/*: all 30/1m"
}

// compileLimits compiles Settings.Limits.
func (s *Compiled) compileLimits() error {
	if len(s.Limits) > MaxLimits {
		return fmt.Errorf("there are %d limits: at most %d are possible", len(s.Limits), MaxLimits)
	}
	for at := range s.Limits {
		l := CompiledLimit{Limit: &s.Limits[at]}
		var paths []robots.Rule
		for _, p := range l.Paths {
			if err := CheckPathPattern(p); err != nil {
				return err
			}
			paths = append(paths, robots.Rule{Pattern: p})
		}
		if len(paths) > 0 {
			l.paths = hiddenGroup(paths)
		}
		for row := range s.Registry.All() {
			l.roles = append(l.roles, l.roleOf(row, s.Registry))
		}
		for i, rate := range [...]robots.RequestRate{boundAll: l.All, boundEach: l.Each} {
			if r := exactly(rate, 1); r != nil {
				l.Bounds[i] = Bound{Rate: r, Each: i == boundEach, Place: l.place(boundNames[i] + " " + rate.String())}
			}
		}
		l.Bounds[boundAll].Half = exactly(l.All, 2)
		for i, n := range map[int]int{boundAtOnce: l.AtOnce, boundEachAtOnce: l.EachAtOnce} {
			if n > 0 {
				l.Bounds[i] = Bound{AtOnce: n, Each: i == boundEachAtOnce, Place: l.place(fmt.Sprint(boundNames[i], " ", n))}
			}
		}
		s.CompiledLimits = append(s.CompiledLimits, l)
	}
	return nil
}

// exactly compiles one of the shares of a rate.
func exactly(rate robots.RequestRate, shares int) *throttle.Limits {
	burst := (rate.Requests + exactBurst*shares - 1) / (exactBurst * shares)
	rate.Per *= time.Duration(shares)
	return throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{rate}, MaxDelay: rate.Per, Burst: burst, Exact: true})
}

// place returns the place of a line of the limit.
func (l *Limit) place(line string) Place {
	name := strings.Join(append([]string{"limit"}, l.Paths...), " ")
	return Place{LimitLayer, l.File, l.Line, name + ": " + line}
}

// roleOf returns the role of a crawler of the registry.
func (l *Limit) roleOf(row *crawler.Crawler, registry *crawler.Registry) role {
	exceptName, exceptPurpose := lists(registry, l.Except, row)
	includeName, includePurpose := lists(registry, l.Include, row)
	harmed := slices.Contains(row.Purposes, crawler.Search) || slices.Contains(row.Purposes, crawler.Ads)
	switch {
	case exceptName, !includeName && exceptPurpose, harmed && !includeName && !includePurpose:
		return free
	case harmed:
		return apart
	}
	return held
}

// Holds reports whether the limit holds a subject on its paths, and whether it does
// apart from the other crawlers, as one of the search engines and ads that are included.
// An impostor is none of the crawlers that are not held.
func (l *CompiledLimit) Holds(s *Subject) (holds, isApart bool) {
	if s.Agent.Crawler == nil || s.Claim.State == claim.Impostor {
		return true, false
	}
	r := l.roles[s.Agent.Crawler.Index()]
	return r != free, r == apart
}

// heldBy returns the limits that hold a subject that is let through for a reason, as
// Subject.Held.
func (c *Client) heldBy(s *Subject, why Reason) (held uint8) {
	settings := c.rules.settings
	if len(settings.CompiledLimits) == 0 || !c.isLimited(&s.Agent, why) {
		return 0
	}
	for i := range settings.CompiledLimits {
		l := &settings.CompiledLimits[i]
		if len(l.Hosts) > 0 && !slices.Contains(l.Hosts, c.request.Origin.Host) {
			continue
		}
		if holds, _ := l.Holds(s); holds && (l.paths == nil || !l.paths.MatchViews(c.views).Allowed) {
			held |= 1 << i
		}
	}
	return held
}

// Limited reports whether limits can hold an agent; group is the one that applies to it,
// nil if none does. Webhooks and probes are never held.
func (s *Compiled) Limited(a *crawler.Agent, group *robots.Group) bool {
	return !isNeverLimited(a) && (group != nil || s.BoundByStar(a.Class, a.Crawler))
}

// isNeverLimited reports whether no limit holds an agent, even if it has a group.
func isNeverLimited(a *crawler.Agent) bool {
	return a.Class == crawler.Webhook || a.Class == crawler.Probe
}

// isLimited reports whether limits can hold an agent that is let through for a reason.
func (c *Client) isLimited(a *crawler.Agent, why Reason) bool {
	switch {
	case isNeverLimited(a):
		return false
	case why != Unbound && why != NoRules:
		return why.hasGroup() || why.Info().NoCrawling
	}
	return c.rules.settings.BoundByStar(a.Class, a.Crawler) && c.starApplies(a)
}
