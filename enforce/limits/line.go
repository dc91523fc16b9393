package limits

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// limit is a Limit with what requests need.
type limit struct {
	Limit
	index  int // in the Set
	block  func() block
	spared atomic.Pointer[spared]
	came   atomic.Int64 // when a crawler that nobody can invent came last, in nanoseconds since 1970
}

// block identifies a limit at its hosts: the host of Origin is the text of both.
type block struct {
	judge.Origin
	home throttle.Key // of all budgets of the hosts' requests; see throttle.Key.In
}

// line is a line of a limit, or what holds names that anybody can invent.
type line struct {
	*limit
	place    *judge.Place // its text is such as "limit /archive/*: all 30/1m"
	seed     uint8        // of the hashes for keys
	each     bool         // for each crawler, not for all together
	atOnce   int          // requests in flight; 0 for a rate
	rate     *throttle.Limits
	per      time.Duration // of rate
	invented bool          // for names that anybody can invent, while others come
	visitors *visitors     // of a line for requests at once that crawlers share
}

// firstSeed is the first seed of hashes for keys: up to 99. Package enforce has others.
const firstSeed = 61

// lines compiles the lines of a limit. The error says what is wrong with it.
func (l *limit) lines() ([]line, error) {
	all, err := throttle.ParseRate(l.All)
	if err != nil {
		return nil, fmt.Errorf("all: %w", err)
	}
	each, err := throttle.ParseRate(l.Each)
	if err != nil {
		return nil, fmt.Errorf("each: %w", err)
	}
	if err := l.check(all, each); err != nil {
		return nil, err
	}
	ofAll := l.place("all " + all.String())
	list := []line{
		{place: ofAll, rate: exactly(all, 1), per: all.Per},
		{place: ofAll, seed: 24, rate: exactly(all, 2), per: all.Per, invented: true},
		{place: l.place("each " + each.String()), seed: 2, each: true, rate: exactly(each, 1), per: each.Per},
		{place: l.place(fmt.Sprint("each_at_once ", l.EachAtOnce)), seed: 6, each: true, atOnce: l.EachAtOnce}, // before at_once: it says more than half of that
		{place: l.place(fmt.Sprint("at_once ", l.AtOnce)), seed: 4, atOnce: l.AtOnce, visitors: new(visitors)},
	}
	for i := range list {
		list[i].limit = l
		list[i].seed += firstSeed
	}
	return slices.DeleteFunc(list, func(one line) bool { return one.rate == nil && one.atOnce == 0 }), nil
}

// place returns the place of a line.
func (l *limit) place(text string) *judge.Place {
	return &judge.Place{Layer: Layer, File: l.File, Line: l.Line, Text: l.name() + ": " + text}
}

// exactBurst says how many of a limit's requests may come at once: a tenth.
const exactBurst = 10

// exactly compiles one of the shares of a rate; nil for none.
func exactly(rate robots.RequestRate, shares int) *throttle.Limits {
	burst := (rate.Requests + exactBurst*shares - 1) / (exactBurst * shares)
	rate.Per *= time.Duration(shares)
	return throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{rate}, MaxDelay: rate.Per, Burst: burst, Exact: true})
}

// key returns the key of the budget, or of the requests at once, that a request uses of a
// line. Like the budget of a crawler, the one of each crawler can be that of a
// client's address. Clients that are verified do not share it with those that only claim to
// be the crawler.
func (l *line) key(r *judge.Request, settings *judge.Compiled, by *judge.Subject) throttle.Key {
	seed, block := l.seed, l.block()
	if settings.ModeOf(r).Monitors(by.Agent.Crawler) {
		seed++
	}
	if l.each {
		k := throttle.KeyOf(block.Hash(seed+8*uint8(by.Claim.State), by.Agent.Name()))
		return settings.AgentKey(r, &by.Agent, false, k.In(block.home))
	}
	return throttle.KeyOf(block.Hash(seed, "")).In(block.home)
}
