package enforce

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// block identifies a limit at its hosts: the host of Origin is the text of both.
type block struct {
	judge.Origin
	home throttle.Key  // of all budgets of the hosts' requests; see throttle.Key.In
	came *atomic.Int64 // when one of the crawlers that are known came last, in nanoseconds since 1970
}

// findBlocks sets p.blocks.
func (p *pacer) findBlocks(handler func() origins.HandlerKey) {
	settings := p.settings
	p.blocks = sync.OnceValue(func() (blocks []block) {
		var hosts []string
		if handler != nil {
			hosts = slices.Sorted(slices.Values(handler().Hosts))
		}
		home := throttle.KeyOf(hash(seedLimit, judge.Origin{Host: strings.Join(hosts, " ")}, ""))
		for _, l := range settings.CompiledLimits {
			names := slices.Concat(hosts, []string{""}, slices.Sorted(slices.Values(l.Paths)))
			if len(l.Hosts) > 0 {
				names = slices.Concat(names, []string{""}, slices.Sorted(slices.Values(l.Hosts)))
			}
			blocks = append(blocks, block{judge.Origin{Host: strings.Join(names, " ")}, home, new(atomic.Int64)})
		}
		return blocks
	})
}

// limitKey returns the key of the budget, or of the requests at once, that a
// request uses of line n of limit i. Like the budget of a crawler, the one of each
// crawler can be that of a client's address. Clients that are verified do not share
// it with those that only claim to be the crawler.
func (p *pacer) limitKey(r *judge.Request, s *judge.Subject, i, n int) throttle.Key {
	if p.settings.CompiledLimits[i].Bounds[n].Each {
		seed, block := seedLimit+2*uint8(n), &p.blocks()[i]
		if p.settings.ModeOf(r).Monitors(&s.Agent) {
			seed++
		}
		k := throttle.KeyOf(hash(seed+8*uint8(s.Claim.State), block.Origin, s.Agent.Name()))
		return p.agentKey(r, &s.Agent, false, k.In(block.home))
	}
	return p.poolKey(r, s, i, n, poolOf(&p.settings.CompiledLimits[i], s))
}

// poolKey returns the key of the budget of a pool in line n of limit i.
func (p *pacer) poolKey(r *judge.Request, s *judge.Subject, i, n int, of pool) throttle.Key {
	seed, block := seedLimit+2*uint8(n)+8*uint8(of), &p.blocks()[i]
	if p.settings.ModeOf(r).Monitors(&s.Agent) {
		seed++
	}
	return throttle.KeyOf(hash(seed, block.Origin, "")).In(block.home)
}

// pool says which crawlers share a budget of a limit.
type pool uint8

const (
	poolCrawlers pool = iota
	poolClaims        // those that are included, and not verified
	poolVerified      // those that are included, and verified
	poolCount

	poolInvented = poolCount // those of poolCrawlers with a name that anybody can invent
)

var poolNames = [...]string{"crawlers", "search_unverified", "search", poolInvented: "invented"}

// poolOf returns the pool of a subject in a limit.
func poolOf(l *judge.CompiledLimit, s *judge.Subject) pool {
	_, isApart := l.Holds(s)
	switch {
	case !isApart:
		return poolCrawlers
	case s.Claim.State == claim.Verified:
		return poolVerified
	}
	return poolClaims
}

// limitUses appends the budgets of the limits in s.Held that a request uses.
func (p *pacer) limitUses(uses []throttle.Use, r *judge.Request, s *judge.Subject) []throttle.Use {
	for held := s.Held; held != 0; held &= held - 1 {
		i := bits.TrailingZeros8(held)
		for n := range p.settings.CompiledLimits[i].Bounds {
			b := &p.settings.CompiledLimits[i].Bounds[n]
			if b.Rate != nil {
				uses = use(uses, p.limitKey(r, s, i, n), b.Rate)
			}
			if b.Half != nil && s.Halved>>i&1 == 1 {
				uses = use(uses, p.poolKey(r, s, i, n, poolInvented), b.Half)
			}
		}
	}
	return uses
}

// isInvented reports whether anybody can invent the name of an agent: neither the registry
// nor a group has it.
func isInvented(a *crawler.Agent) bool { return a.Crawler == nil && a.Class != crawler.Named }

// halve sets Subject.Halved for the subjects of a request that limits hold: invented names
// get at most half of what crawlers share, as long as others came in the time of the rate,
// and in the last minute. Otherwise many names would shut out all crawlers that have only one.
func (p *pacer) halve(r *judge.Request, d *judge.Decision) {
	now := r.Time.UnixNano()
	for at := range d.Len() {
		s := d.At(at)
		for held := s.Held; held != 0; held &= held - 1 {
			i := bits.TrailingZeros8(held)
			l := &p.settings.CompiledLimits[i]
			if l.All.Requests == 0 || poolOf(l, s) != poolCrawlers {
				continue
			}
			came := p.blocks()[i].came
			since := time.Duration(now - came.Load()).Abs() // a clock can be set back
			switch {
			case !isInvented(&s.Agent):
				if since >= time.Second {
					came.Store(now)
				}
			case since <= max(l.All.Per, time.Minute):
				s.Halved |= 1 << i
			}
		}
	}
}

// boundOf returns the line with a rate; nil if it is no line of a limit.
func (p *pacer) boundOf(rate *throttle.Limits) *judge.Bound {
	for i := range p.settings.CompiledLimits {
		for n := range p.settings.CompiledLimits[i].Bounds {
			if b := &p.settings.CompiledLimits[i].Bounds[n]; b.Rate == rate || b.Half == rate {
				return b
			}
		}
	}
	return nil
}

// limitBudgets appends the budgets of Settings.Limits that a crawler can use.
func (p *pacer) limitBudgets(list []Budget, rules *judge.Rules, a *crawler.Agent, verifiable bool) []Budget {
	states := []claim.State{claim.NoMethod}
	if verifiable {
		states = []claim.State{claim.Verified, claim.Unverified}
	}
	for i := range p.settings.CompiledLimits {
		l := &p.settings.CompiledLimits[i]
		for _, state := range states {
			s := &judge.Subject{Agent: *a, Claim: claim.Result{State: state}}
			if holds, _ := l.Holds(s); !holds {
				continue
			}
			for n, bound := range l.Bounds {
				if bound.Text == "" {
					continue
				}
				b := Budget{Bound: bound, Rules: rules, Limits: bound.Rate, Pool: state == claim.Unverified}
				b.Key = p.limitKey(new(judge.Request), s, i, n)
				if !bound.Each {
					b.Sharers = poolNames[poolOf(l, s)]
				}
				b.PerAddr = b.Sharers == "" && (a.RunByAnyone() || p.settings.PerIP)
				b.InFlight, _ = p.memory.flights.add(b.Key, 0, 0)
				list = append(list, b)
				if bound.Half != nil && isInvented(a) {
					b.Key, b.Limits, b.Sharers = p.poolKey(new(judge.Request), s, i, n, poolInvented), bound.Half, poolNames[poolInvented]
					list = append(list, b)
				}
			}
		}
	}
	return list
}
