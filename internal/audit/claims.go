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
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
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

// needsLookup reports whether a lookup could change the state of a decision's claim.
func (c *claims) needsLookup(d *judge.Decision) bool {
	unknown := d.Claim.Reason == claim.LookupPending || d.Claim.Reason == claim.ListMissing
	return d.Claim.State == claim.Unverified && d.Agent.Crawler != nil && unknown
}

// add adds a claim to the list, unless it is there.
func (c *claims) add(s *site, r *judge.Request, row *crawler.Crawler) {
	addr, err := netip.ParseAddr(r.Client)
	key := claimant{row, addr}
	if _, ok := c.origins[key]; ok || err != nil {
		return
	}
	if len(c.origins) >= maxClaims {
		c.dropped++
		return
	}
	c.origins[key] = claimOrigin{s.Rules.Verification.Checker.(Checker), r.Origin.Host, r.Time}
}

// learnClaims reads the logs before anything is judged and looks up all their claims,
// many at once.
func (a *auditor) learnClaims(ctx context.Context) error {
	seq, err := logfile.NewSequence(a.options.Files, a.options.Zone)
	if err != nil {
		return err
	}
	defer seq.Close()
	if err := eachLine(ctx, seq, a.collect); err != nil {
		return err
	}
	return a.lookUpAll(ctx)
}

// collect adds the claim of a line to the list.
func (a *auditor) collect(l *logfile.Log) {
	if l.Problem != logformat.None || !a.filter.selects(l.Entry.Host) {
		return
	}
	h := a.hosts.of(l.Entry.Host)
	if h.site.Rules.Verification == nil {
		return
	}
	r, d := request(&l.Entry, h), new(judge.Decision)
	h.site.lines[0].unknown.Current.Check(&r, d)
	if a.claims.needsLookup(d) {
		a.claims.add(h.site, &r, d.Agent.Crawler)
	}
}

// lookUpAll looks up the collected claims, many at once.
func (a *auditor) lookUpAll(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, lookupsFor)
	defer cancel()
	c := a.claims
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
