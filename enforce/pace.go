package enforce

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// pacer has what paces the requests of an engine: see Engine.Pace.
type pacer struct {
	settings *judge.Compiled
	limiter  throttle.Limiter
	memory   *Memory
	home     func() throttle.Key // of all budgets; nil if each is alone
}

// newPacer returns a pacer for the hosts of a handler, which may be nil.
func newPacer(settings *judge.Compiled, limiter throttle.Limiter, memory *Memory, handler func() origins.HandlerKey) pacer {
	p := pacer{settings: settings, limiter: limiter, memory: memory}
	if settings.StepBudgets {
		p.home = sync.OnceValue(func() throttle.Key {
			var hosts []string
			if handler != nil {
				hosts = slices.Sorted(slices.Values(handler().Hosts))
			}
			return judge.Home(hosts)
		})
	}
	return p
}

// Use is a budget of a step that a request uses, with those of its groups.
type Use struct {
	throttle.Use
	// Subject is the crawler that uses it, for judge.Decision.At.
	Subject int
	// Why and Line say with what a request is refused for which the budget has no room.
	Why  judge.Reason
	Line *judge.Place
}

// useLists has lists of uses that are free for use.
var useLists = sync.Pool{New: func() any { return new([throttle.MaxUses]throttle.Use) }}

// take uses budget for a request that is let through, and throttles it if there is none
// left: for each of its crawlers the crawler's own, and more of steps.
func (p *pacer) take(ctx context.Context, r *judge.Request, d *judge.Decision, more []Use) {
	room := useLists.Get().(*[throttle.MaxUses]throttle.Use)
	defer useLists.Put(room)
	uses, of := p.uses(room[:0], r, d, more)
	if len(uses) == 0 {
		return
	}
	res := p.limiter.Take(ctx, r.Time, uses)
	d.Used = res.OK
	if !res.OK {
		d.Blame(int(of[res.Use]))
		key := uses[res.Use].Key
		if i := slices.IndexFunc(more, func(u Use) bool { return u.Key == key }); i >= 0 {
			d.Refuse(more[i].Why, more[i].Line, res.RetryAfter)
		} else {
			d.Throttle(res)
		}
		return
	}
	for i := range d.Len() {
		if s := d.At(i); s.Claim.State == claim.Unverified && s.Limits != nil && !s.PerAddr {
			p.memory.claims.mark(debtKey(p.budget(r, s, 0), d.Addr), r.Time)
		}
	}
}

// giveBack gives back the budget that a request has used, unless later requests have
// been let through since.
func (p *pacer) giveBack(r *judge.Request, d *judge.Decision, more []Use, now time.Time) {
	uses, _ := p.uses(nil, r, d, more)
	p.limiter.GiveBack(now, r.Time, uses)
}

// uses appends the budgets that a request uses: first the crawlers' own, then more. of[i] is
// the subject of d that uses budget i.
func (p *pacer) uses(list []throttle.Use, r *judge.Request, d *judge.Decision, more []Use) (_ []throttle.Use, of [throttle.MaxUses]uint8) {
	for i := range d.Len() {
		if s, from := d.At(i), len(list); s.Limits != nil {
			list = p.ownUses(list, r, d, s)
			for ; from < len(list); from++ {
				of[from] = uint8(i)
			}
		}
	}
	for i := range more {
		if from := len(list); from < len(of) {
			of[from] = uint8(more[i].Subject)
			list = use(list, more[i].Key, more[i].Limits)
		}
	}
	return list, of
}

// use appends a budget, unless the list has it or is full.
func use(list []throttle.Use, key throttle.Key, limits *throttle.Limits) []throttle.Use {
	if len(list) == throttle.MaxUses || slices.ContainsFunc(list, func(u throttle.Use) bool { return u.Key == key }) {
		return list
	}
	return append(list, throttle.Use{Key: key, Limits: limits})
}

// Seeds of judge.Origin.Hash. They keep the keys of different budgets and records apart. Those
// from 61 on belong to judge.Home and package limits.
const (
	seedBudget     = 1
	seedMonitor    = 3  // in monitor mode
	seedProbe      = 11 // of probes on the internet
	seedUnverified = 21 // added for each client address with an unverified claim
	seedPool       = 31 // added for all unverified claims together
	seedImpostor   = 41
	seedDebt       = 51
)

// budget returns the key of the budget that a request uses. A crawler has one
// budget per origin, for all its addresses. There is one per client address if
// Settings.PerIP or Subject.PerAddr is set, and for software that anyone can run, because
// unrelated people send its User-Agent. For more above 0, budget returns the key of
// another budget of the same crawler. The key is the same in every process. budget
// allocates nothing.
func (p *pacer) budget(r *judge.Request, s *judge.Subject, more uint8) throttle.Key {
	seed := uint8(seedBudget)
	if p.settings.ModeOf(r).Monitors(s.Agent.Crawler) {
		seed = seedMonitor
	}
	name := s.Agent.Name()
	k := throttle.KeyOf(r.Origin.Hash(seed+more, name))
	if p.home != nil {
		k = k.In(p.home())
	}
	k = p.settings.AgentKey(r, &s.Agent, s.PerAddr, k)
	if r.Invented {
		return k.Disposable() // clients can invent any number of such hosts
	}
	return k
}
