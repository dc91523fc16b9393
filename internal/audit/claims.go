package audit

import (
	"context"
	"net/netip"
	"slices"
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
	list    []claimant
	dropped int64        // claims that were not looked up
	failed  atomic.Int64 // failed lookups
	worked  atomic.Bool  // a lookup succeeded
	ends    time.Time    // when lookups line by line end; zero before the first one
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

// add adds a claim to the list, and reports whether it was not there yet.
func (c *claims) add(s *site, r *judge.Request, row *crawler.Crawler) bool {
	addr, err := netip.ParseAddr(r.Client)
	key := claimant{row, addr}
	if _, ok := c.origins[key]; ok || err != nil {
		return false
	}
	if len(c.list) >= maxClaims {
		c.dropped++
		return false
	}
	c.origins[key] = claimOrigin{s.Rules.Verification.Checker.(Checker), r.Origin.Host, r.Time}
	c.list = append(c.list, key)
	return true
}

// lookUp looks up the claim of one request if that could change the decision, and
// reports whether it did.
func (c *claims) lookUp(ctx context.Context, s *site, r *judge.Request, d *judge.Decision) bool {
	if !c.needsLookup(d) {
		return false
	}
	if c.ends.IsZero() {
		c.ends = time.Now().Add(lookupsFor)
	}
	if c.givenUp() || time.Now().After(c.ends) || !c.add(s, r, d.Agent.Crawler) {
		return false
	}
	c.countLookup(s.Rules.Verification.Checker.(Checker).LookUp(ctx, d.Agent.Crawler, c.list[len(c.list)-1].addr))
	return true
}

// givenUp reports whether too many lookups have failed.
func (c *claims) givenUp() bool { return !c.worked.Load() && c.failed.Load() >= givenUpAfter }

// countLookup counts the result of a lookup.
func (c *claims) countLookup(worked bool) {
	if worked {
		c.worked.Store(true)
	} else {
		c.failed.Add(1)
	}
}

// learnClaims reads the logs before anything is judged and looks up all their claims,
// many at once. It skips logs that can be read only once: their claims are looked up
// line by line while they are judged.
func (a *auditor) learnClaims(ctx context.Context) error {
	files := slices.DeleteFunc(slices.Clone(a.options.Files), func(f logfile.File) bool { return f.Once })
	if len(files) == 0 {
		return nil
	}
	seq, err := logfile.NewSequence(files, a.options.Zone)
	if err != nil {
		return err
	}
	defer seq.Close()
	if err := eachLine(ctx, seq, nil, a.collect); err != nil {
		return err
	}
	return a.lookUpAll(ctx)
}

// collect adds the claim of a line to the list.
func (a *auditor) collect(l *logfile.Log) error {
	if l.Problem != logformat.None || !a.only.selects(l.Entry.Host) {
		return nil
	}
	h := a.hosts.of(l.Entry.Host)
	r, d := &a.current.request, &a.current.now
	*r = request(&l.Entry, h)
	for _, s := range []*site{h.site, h.was} {
		if s == nil || s.Rules.Verification == nil {
			continue
		}
		s.now.unknown.Rules().Check(r, d)
		if a.claims.needsLookup(d) {
			a.claims.add(s, r, d.Agent.Crawler)
		}
	}
	return nil
}

// lookUpAll looks up the collected claims, many at once.
func (a *auditor) lookUpAll(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, lookupsFor)
	defer cancel()
	c := a.claims
	running := background.AtMost(lookupsAtOnce)
	for i, key := range c.list {
		if c.givenUp() || limited.Err() != nil {
			c.dropped += int64(len(c.list) - i)
			break
		}
		running.Go("audit: a lookup", func() {
			c.countLookup(c.origins[key].checker.LookUp(limited, key.row, key.addr))
		})
	}
	running.Wait()
	// Check all claims once, so that a verified address counts as a proof that the site
	// sees the real addresses of clients, from the first line of the log on.
	for _, key := range c.list {
		where := c.origins[key]
		proof := where.checker.Proof(where.host, false)
		where.checker.Address(key.row, claim.Client{Addr: key.addr, Proof: proof}, where.at)
	}
	return ctx.Err()
}
