package enforce

import (
	"context"
	"math/bits"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// pacer has what paces the requests of an engine: see Engine.Pace.
type pacer struct {
	settings *judge.Compiled
	limiter  throttle.Limiter
	memory   *Memory
	blocks   func() []block // those of the limits
}

// useLists has lists of uses that are free for use.
var useLists = sync.Pool{New: func() any { return new([throttle.MaxUses]throttle.Use) }}

// pace applies the rate limits, Visit-time and Settings.Limits to a request that is let
// through.
func (p *pacer) pace(ctx context.Context, r *judge.Request, d *judge.Decision) {
	if d.AllHeld() != 0 {
		p.enter(r, d)
	}
	p.take(ctx, r, d)
}

// take uses budget for a request that is let through, and throttles it if there is none
// left: for each of its crawlers the crawler's own, and those of the limits in
// Subject.Held.
func (p *pacer) take(ctx context.Context, r *judge.Request, d *judge.Decision) {
	if d.Action != judge.Pass {
		return
	}
	if d.AllHeld() != 0 {
		p.halve(r, d)
	}
	room := useLists.Get().(*[throttle.MaxUses]throttle.Use)
	defer useLists.Put(room)
	uses, of := p.uses(room[:0], r, d)
	if len(uses) == 0 {
		return
	}
	res := p.limiter.Take(ctx, r.Time, uses)
	d.Used = res.OK
	if !res.OK {
		d.Blame(int(of[res.Use]))
		if line := p.boundOf(uses[res.Use].Limits); line != nil {
			d.Refuse(judge.OverLimit, &line.Place, res.RetryAfter)
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
func (p *pacer) giveBack(r *judge.Request, d *judge.Decision, now time.Time) {
	uses, _ := p.uses(nil, r, d)
	p.limiter.GiveBack(now, r.Time, uses)
}

// uses appends the budgets that a request uses: first the crawlers' own, then those
// of the limits. of[i] is the subject of d that uses budget i.
func (p *pacer) uses(list []throttle.Use, r *judge.Request, d *judge.Decision) (_ []throttle.Use, of [throttle.MaxUses]uint8) {
	for i := range d.Len() {
		if s, from := d.At(i), len(list); s.Limits != nil {
			list = p.ownUses(list, r, d, s)
			for ; from < len(list); from++ {
				of[from] = uint8(i)
			}
		}
	}
	for i := range d.Len() {
		from := len(list)
		list = p.limitUses(list, r, d.At(i))
		for ; from < len(list); from++ {
			of[from] = uint8(i)
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

// Seeds of hashes. They keep the keys of different budgets and records apart.
const (
	seedBudget     = 1
	seedMonitor    = 3  // in monitor mode
	seedProbe      = 11 // of probes on the internet
	seedUnverified = 21 // added for each client address with an unverified claim
	seedPool       = 31 // added for all unverified claims together
	seedImpostor   = 41
	seedDebt       = 51
	seedLimit      = 61 // up to 99: see limitKey
	seedSharer     = 101
)

// budget returns the key of the budget that a request uses. A crawler has one
// budget per origin, for all its addresses. There is one per client address if
// Settings.PerIP or Subject.PerAddr is set, and for software that anyone can run, because
// unrelated people send its User-Agent. For more above 0, budget returns the key of
// another budget of the same crawler. The key is the same in every process. budget
// allocates nothing.
func (p *pacer) budget(r *judge.Request, s *judge.Subject, more uint8) throttle.Key {
	seed := uint8(seedBudget)
	if p.settings.ModeOf(r).Monitors(&s.Agent) {
		seed = seedMonitor
	}
	name := s.Agent.Name()
	k := throttle.KeyOf(hash(seed+more, r.Origin, name))
	if len(p.settings.CompiledLimits) > 0 {
		k = k.In(p.blocks()[0].home) // where the budgets of the limits are
	}
	if k = p.agentKey(r, &s.Agent, s.PerAddr, k); r.Invented {
		return k.Disposable() // clients can invent any number of such hosts
	}
	return k
}

// agentKey returns the key of an agent's budget from that of its name: that of the
// client's address, if each address has its own budget.
func (p *pacer) agentKey(r *judge.Request, a *crawler.Agent, perAddr bool, k throttle.Key) throttle.Key {
	if perAddr || a.RunByAnyone() || p.settings.PerIP {
		addr, _ := netip.ParseAddr(r.Client)
		return k.Client(addr)
	}
	if a.Crawler == nil && a.Class == crawler.SelfDeclared {
		return k.Disposable() // clients can invent any number of such names
	}
	return k
}

// hash returns two hashes of an origin and of the first 64 octets of a name;
// upper and lower case are equal. They need not be cryptographic: a client that
// wants to use a crawler's budget can simply send the crawler's User-Agent. hash
// writes nothing to memory, because reading it again at once would take longer
// than the calculation.
func hash(seed uint8, o judge.Origin, name string) (a, b uint64) {
	h := uint64(seed)<<32 | uint64(len(o.Scheme))<<16 | uint64(o.Port)
	for i := range min(len(name), 64) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h = (bits.RotateLeft64(h, 5) ^ uint64(c)) * hashFactor
	}
	high, low := bits.Mul64(h^hashFactor, xxhash.Sum64String(o.Host))
	return high ^ low, low
}
