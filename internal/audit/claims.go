package audit

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// Limits for looking up claims.
const (
	maxClaims     = 10_000
	lookupsAtOnce = 32
	lookupsFor    = 5 * time.Minute
	// givenUpAfter: if this number of lookups have failed and none has succeeded,
	// there is no network or no DNS, and no more are started.
	givenUpAfter = 100
)

// Checker is a judge.Checker that can ask for what it lacks. A verify.Checker is one.
type Checker interface {
	judge.Checker
	// LookUp asks for what Address needs to check whether addr is row, and waits for it. It
	// reports whether there was an answer.
	LookUp(ctx context.Context, row *crawler.Crawler, addr netip.Addr) bool
}

// claims are the claims of the log that are looked up with published lists and DNS.
type claims struct {
	origins map[claimant]claimOrigin
	dropped int64        // claims that were not looked up
	failed  atomic.Int64 // failed lookups
	worked  atomic.Bool  // a lookup succeeded
}

// claimant is an address whose User-Agent names a crawler.
type claimant struct {
	row  *crawler.Crawler
	addr netip.Addr
}

// claimOrigin says at which site and when a claim was made first.
type claimOrigin struct {
	checker Checker
	host    string
	at      time.Time
}

// add adds the claim of a request, if a lookup could change its state.
func (c *claims) add(v *Judged) {
	rules := &v.host.site.Rules
	if rules.Verification == nil {
		return
	}
	var d judge.Decision
	v.host.site.lines[0].unknown.Current.Check(&v.Request, &d)
	addr, err := netip.ParseAddr(v.Client)
	key := claimant{d.Agent.Crawler, addr}
	canChange := d.Claim.State == claim.Unverified && (d.Claim.Reason == claim.LookupPending || d.Claim.Reason == claim.ListMissing)
	if _, ok := c.origins[key]; ok || err != nil || key.row == nil || !canChange {
		return
	}
	if len(c.origins) >= maxClaims {
		c.dropped++
		return
	}
	c.origins[key] = claimOrigin{rules.Verification.Checker.(Checker), v.Origin.Host, v.Time}
}

// learn reads the logs before anything is judged, and looks up all their claims.
func (c *claims) learn(ctx context.Context, o Options) error {
	o.Verify = false
	a, err := newAuditor(ctx, o)
	if err != nil {
		return err
	}
	defer a.logs.Close()
	if err := a.eachRequest(ctx, c.add); err != nil {
		return err
	}
	return c.lookUpAll(ctx)
}

// lookUpAll looks up the collected claims, many at once.
func (c *claims) lookUpAll(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, lookupsFor)
	defer cancel()
	running := background.AtMost(lookupsAtOnce)
	for key, where := range c.origins {
		givenUp := !c.worked.Load() && c.failed.Load() >= givenUpAfter
		if givenUp || limited.Err() != nil {
			c.dropped++
			continue
		}
		running.Go("audit: a lookup", func() {
			if where.checker.LookUp(limited, key.row, key.addr) {
				c.worked.Store(true)
			} else {
				c.failed.Add(1)
			}
		})
	}
	running.Wait()
	// Check all claims once, so that a verified address counts as a proof that the site
	// sees the real addresses of clients, from the first line of the log on.
	for key, where := range c.origins {
		proof := where.checker.Proof(where.host, false)
		where.checker.Address(key.row, claim.Client{Addr: key.addr, Proof: proof}, where.at)
	}
	return ctx.Err()
}
