package limits

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Max is the largest number of limits of a Set: a request uses at most two budgets of each
// crawler that it names, and three of each limit. Of these, throttle.MaxUses count.
const Max = 7

// Limit limits the requests of crawlers to some paths: those of all crawlers together, and
// those of each crawler. It holds a request that is let through, and that comes from a
// client that the robots.txt binds, or would bind if it had a group for `*`: see
// judge.Subject.Bound. Crawlers of the purposes search and ads are not held unless Include
// names them. Then those that are verified share one budget, all others of them another
// one, and neither is the budget of the other crawlers.
//
// Budgets belong to the hosts of a Set together, and to the paths. Sets in which these are
// equal share them, even if they are in several processes with one throttle.Limiter.
// Requests at once are counted by Turns.
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
	// EachAtOnce those of each crawler. 0 is no limit.
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

// The lines of a limit, as in compiled.bounds.
const (
	boundAll = iota
	boundEach
	boundAtOnce
	boundEachAtOnce
	boundCount
)

var boundNames = [boundCount]string{"all", "each", "at_once", "each_at_once"}

// bound is one line of a Limit. The zero value limits nothing.
type bound struct {
	rate   *throttle.Limits // nil for a number of requests at once
	half   *throttle.Limits // half of rate, for names that anybody can invent; nil unless crawlers share rate
	atOnce int              // requests in flight; 0 for a rate
	each   bool             // for each crawler, not for all together
	place  judge.Place      // its text is such as "limit /archive/*: all 30/1m"
}

// compile compiles the lines of a limit.
func (l *Limit) compile() (bounds [boundCount]bound) {
	for i, rate := range [...]robots.RequestRate{boundAll: l.All, boundEach: l.Each} {
		if r := exactly(rate, 1); r != nil {
			bounds[i] = bound{rate: r, each: i == boundEach, place: l.place(boundNames[i] + " " + rate.String())}
		}
	}
	bounds[boundAll].half = exactly(l.All, 2)
	for i, n := range map[int]int{boundAtOnce: l.AtOnce, boundEachAtOnce: l.EachAtOnce} {
		if n > 0 {
			bounds[i] = bound{atOnce: n, each: i == boundEachAtOnce, place: l.place(fmt.Sprint(boundNames[i], " ", n))}
		}
	}
	return bounds
}

// exactly compiles one of the shares of a rate.
func exactly(rate robots.RequestRate, shares int) *throttle.Limits {
	burst := (rate.Requests + exactBurst*shares - 1) / (exactBurst * shares)
	rate.Per *= time.Duration(shares)
	return throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{rate}, MaxDelay: rate.Per, Burst: burst, Exact: true})
}

// place returns the place of a line of the limit.
func (l *Limit) place(line string) judge.Place {
	name := strings.Join(append([]string{"limit"}, l.Paths...), " ")
	return judge.Place{Layer: Layer, File: l.File, Line: l.Line, Text: name + ": " + line}
}

// role says whether a limit holds a crawler.
type role uint8

const (
	held  role = iota // with the other crawlers
	apart             // as one of the search engines and ads that are included
	free
)

// roleOf returns the role of a crawler of the registry.
func (l *Limit) roleOf(row *crawler.Crawler, registry *crawler.Registry) role {
	exceptName, exceptPurpose := judge.Lists(registry, l.Except, row)
	includeName, includePurpose := judge.Lists(registry, l.Include, row)
	harmed := slices.Contains(row.Purposes, crawler.Search) || slices.Contains(row.Purposes, crawler.Ads)
	switch {
	case exceptName, !includeName && exceptPurpose, harmed && !includeName && !includePurpose:
		return free
	case harmed:
		return apart
	}
	return held
}

// pool says which crawlers share a budget of a limit.
type pool uint8

const (
	poolCrawlers pool = iota
	poolClaims        // those that are included, and not verified
	poolVerified      // those that are included, and verified
	poolInvented      // those of poolCrawlers with a name that anybody can invent
)

var poolNames = [...]string{"crawlers", "search_unverified", "search", "invented"}

// poolOf returns the pool of a subject with a role. An impostor is none of the crawlers that
// are not held.
func (r role) poolOf(s *judge.Subject) pool {
	switch {
	case r == held:
		return poolCrawlers
	case s.Claim.State == claim.Verified:
		return poolVerified
	}
	return poolClaims
}

// isInvented reports whether anybody can invent the name of an agent: neither the registry
// nor a group has it.
func isInvented(a *crawler.Agent) bool { return a.Crawler == nil && a.Class != crawler.Named }
