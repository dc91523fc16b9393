package enforce

import (
	"context"
	"net/netip"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// pace asks the limiter for a request that the path rules let through. A
// request to which an earlier handler has applied the same pace is let through;
// if the pace differs, the request uses a separate budget.
func (e *Engine) pace(ctx context.Context, r *Request, d *Decision) {
	if d.Terms.Same(r.Taken) {
		return
	}
	res, err := e.take(ctx, r, d)
	d.Delay = res.Delay
	switch {
	case res.OK && err == nil:
	case res.OK: // the client is gone
		d.throttle(res, res.Delay)
	default:
		d.throttle(res, res.RetryAfter)
	}
}

// PaceFirst applies the pace at the time now to a request that is let through,
// as if it were its crawler's first request: only Visit-time can refuse it.
func (d *Decision) PaceFirst(now time.Time) {
	if d.Action != Pass || d.Terms == nil {
		return
	}
	if res := d.Terms.First(now); !res.OK {
		d.throttle(res, res.RetryAfter)
	}
}

// throttle makes d a refusal for the time being.
func (d *Decision) throttle(res throttle.Result, retryAfter time.Duration) {
	d.Action, d.RetryAfter = Throttle, retryAfter
	if d.Version != nil { // the rule that disallows the path is not why
		d.Version, d.Rule = nil, nil
	}
	d.from(d.Policy, res.Line)
	switch res.Reason {
	case throttle.RequestRate:
		d.Reason = RequestRate
	case throttle.VisitTime:
		d.Reason = VisitTime
	default:
		d.Reason = CrawlDelay
	}
}

// hostRead is how long a crawler has a budget of its own on an invented host
// after it read that host's robots.txt: crawlers may use a copy for 24 hours
// (RFC 9309, section 2.4).
const hostRead = 24 * time.Hour

// Seeds that keep budgets apart.
const (
	seedBudget   = 1
	seedMonitor  = 3 // what would have been used, had monitor mode not let it through
	seedFollower = 5 // of a second handler on the same request, with another pace
	seedReader   = 7
	seedProgram  = 9  // of a program that read a robots.txt
	seedUnproved = 21 // of the clients that say to be a crawler and are not verified, each
	seedPool     = 31 // of all of them
	seedImpostor = 41
	seedDebt     = 51
)

// budget returns the key of the budget that a request draws on: that of the
// origin and the crawler, across the crawler's addresses; of one client's
// address for software that anyone runs, because unrelated people send its
// User-Agent, and if the operator wants it. All invented hosts share the budget
// of the site until the crawler has read the host's robots.txt. The key is the
// same in every process. budget allocates nothing. Another value of more than 0
// gives the key of another budget of the same crawler.
func (e *Engine) budget(r *Request, a *crawler.Agent, more uint64) throttle.Key {
	origin := r.Origin
	if r.Invented && !e.readers.Seen(readerKey(r.Origin, a), r.Time, hostRead) {
		origin = Origin{Host: r.Site, Port: r.Origin.Port}
	}
	seed := uint64(seedBudget)
	switch {
	case e.rules.Monitor:
		seed = seedMonitor
	case r.Taken != nil:
		seed = seedFollower
	}
	name := agentName(a)
	k := throttle.KeyOf(hash(seed+more, origin, name), hash(seed+more+1, origin, name))
	if a.RunByAnyone() || e.rules.PerIP {
		addr, _ := netip.ParseAddr(r.Client)
		return k.Client(addr)
	}
	if a.Crawler == nil && a.Class == crawler.SelfDeclared {
		return k.Disposable() // anybody can make up such a name
	}
	return k
}

// readerKey names a crawler and the origin whose robots.txt it read.
func readerKey(o Origin, a *crawler.Agent) uint64 { return hash(seedReader, o, agentName(a)) }

// programKey names a program, the address of its client and the origin whose
// robots.txt it read.
func programKey(r *Request, a *crawler.Agent) uint64 {
	addr, _ := netip.ParseAddr(r.Client)
	k := throttle.KeyOf(hash(seedProgram, r.Origin, a.Token), hash(seedProgram+1, r.Origin, a.Token)).Client(addr)
	return k[0]
}

// hasRead reports whether the program that a User-Agent names has read the
// origin's robots.txt in the last 24 hours from the same address.
func hasRead(readers *Recent, r *Request, id *crawler.Identity) bool {
	for i := range id.Len() {
		if a := id.At(i); a.Class == crawler.Program {
			return readers != nil && readers.Seen(programKey(r, a), r.Time, hostRead)
		}
	}
	return false
}

// agentName is the name by which an agent's requests are counted together.
func agentName(a *crawler.Agent) string {
	if a.Crawler != nil {
		return a.Crawler.Name
	}
	return a.Token
}

// hash hashes an origin and a name without regard to the name's case. It need
// not withstand forgery: a client that wants to use a crawler's budget can
// simply send its User-Agent.
func hash(seed uint64, o Origin, name string) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.WriteString(o.Scheme)
	_, _ = d.WriteString(o.Host)
	var lower [64]byte
	lower[0], lower[1] = byte(o.Port>>8), byte(o.Port)
	n := 2
	for i := 0; i < len(name) && n < len(lower); i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[n], n = c, n+1
	}
	_, _ = d.Write(lower[:n])
	return d.Sum64()
}
