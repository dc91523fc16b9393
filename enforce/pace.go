package enforce

import (
	"context"
	"math/bits"
	"net/netip"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Pace applies the rate limits, Visit-time and Settings.Limits to a request that Judge
// let through. With Settings.Limits, the caller calls Release when the request has
// ended. In a Replay, Replay.Pace does this later.
func (e *Engine) Pace(ctx context.Context, r *Request, d *Decision) {
	if !d.Paced() || e.edition != nil {
		return
	}
	if d.Limits != nil && r.Invented && !e.origins.PerOrigin() {
		e.memory.notePaced(r)
	}
	if d.allHeld() != 0 {
		e.enter(r, d)
	}
	wait := e.settings.Wait
	if r.HasBody || d.Monitored {
		wait = 0
	}
	again := wait > 0 && d.isIn()
	if again { // a request that waits is not in flight
		e.leave(r, d)
	}
	e.take(ctx, r, d, wait)
	if again {
		e.enter(r, d)
	}
	if d.Action != Pass {
		e.Release(r, d, true)
	}
}

// throttle turns d into a decision to throttle the request.
func (d *Decision) throttle(res throttle.Result) {
	d.Action, d.RetryAfter = Throttle, res.RetryAfter
	if d.Version != nil { // the rule that disallows the path is not the reason
		d.Version, d.Rule = nil, robots.Rule{}
	}
	d.from(d.Rules, res.Line)
	switch res.Reason {
	case throttle.RequestRate:
		d.Reason = RequestRate
	case throttle.VisitTime:
		d.Reason = VisitTime
	default:
		d.Reason = CrawlDelay
	}
}

// copyLifetime is how long a read of robots.txt by a client counts: crawlers
// may use a cached copy for 24 hours (RFC 9309, section 2.4).
const copyLifetime = 24 * time.Hour

// Seeds of hashes. They keep the keys of different budgets and records apart.
const (
	seedBudget     = 1
	seedMonitor    = 3  // in monitor mode
	seedProgram    = 9  // of programs that have read a robots.txt
	seedProbe      = 11 // of probes on the internet
	seedUnverified = 21 // added for each client address with an unverified claim
	seedPool       = 31 // added for all unverified claims together
	seedImpostor   = 41
	seedDebt       = 51
	seedLimit      = 61 // up to 99: see limitKey
)

// budget returns the key of the budget that a request uses. A crawler has one
// budget per origin, for all its addresses. There is one per client address if
// Settings.PerIP is set, and for software that anyone can run, because unrelated
// people send its User-Agent. For more above 0, budget returns the key of
// another budget of the same crawler. The key is the same in every process. budget
// allocates nothing.
func (e *Engine) budget(r *Request, a *crawler.Agent, more uint8) throttle.Key {
	seed := uint8(seedBudget)
	if e.settings.monitors(a) {
		seed = seedMonitor
	}
	name := agentName(a)
	k := throttle.KeyOf(hash(seed+more, r.Origin, name))
	if len(e.settings.limits) > 0 {
		k = k.In(e.blocks()[0].home) // where the budgets of the limits are
	}
	if k = e.agentKey(r, a, k); r.Invented {
		return k.Disposable() // clients can invent any number of such hosts
	}
	return k
}

// agentKey returns the key of an agent's budget from that of its name: that of the
// client's address, if each address has its own budget.
func (e *Engine) agentKey(r *Request, a *crawler.Agent, k throttle.Key) throttle.Key {
	if a.RunByAnyone() || e.settings.PerIP {
		addr, _ := netip.ParseAddr(r.Client)
		return k.Client(addr)
	}
	if a.Crawler == nil && a.Class == crawler.SelfDeclared {
		return k.Disposable() // clients can invent any number of such names
	}
	return k
}

// programKey is the key, in Memory.readers, of a program that has read the robots.txt
// of an origin from one address.
func programKey(r *Request, a *crawler.Agent) uint64 {
	addr, _ := netip.ParseAddr(r.Client)
	k := throttle.KeyOf(hash(seedProgram, r.Origin, a.Token)).Client(addr)
	return k[0]
}

// agentName returns the name under which an agent's requests share a budget.
func agentName(a *crawler.Agent) string {
	if a.Crawler != nil {
		return a.Crawler.Name
	}
	return a.Token
}

// hash returns two hashes of an origin and of the first 64 octets of a name;
// upper and lower case are equal. They need not be cryptographic: a client that
// wants to use a crawler's budget can simply send the crawler's User-Agent. hash
// writes nothing to memory, because reading it again at once would take longer
// than the calculation.
func hash(seed uint8, o Origin, name string) (a, b uint64) {
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
