package audit

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Bounds of looking up claims.
const (
	maxClaims     = 10_000
	lookupsAtOnce = 32
	lookupsFor    = 5 * time.Minute
	// givenUpAfter is after how many lookups without any success the rest is
	// given up: there is no network, or no DNS.
	givenUpAfter = 100
)

// claims are addresses that say to be a crawler, and are looked up.
type claims struct {
	asked   map[claim]claimed
	list    []claim
	dropped int64 // claims for which there was no room
	failed  int   // lookups without any success before
	worked  bool
	ends    time.Time
}

type claim struct {
	row  *crawler.Crawler
	addr netip.Addr
}

// claimed is where a claim was made first.
type claimed struct {
	checker *verify.Checker
	host    string
	at      time.Time
}

func newClaims() *claims {
	return &claims{asked: make(map[claim]claimed)}
}

// wants reports whether a decision depends on something that can be looked up.
func (c *claims) wants(d *enforce.Decision) bool {
	if d.Claim.State != verify.Unverified || d.Agent.Crawler == nil {
		return false
	}
	switch d.Claim.Reason {
	case verify.LookupPending, verify.ListMissing:
		return true
	}
	return false
}

// add notes a claim to be looked up. It reports whether it is a new one.
func (c *claims) add(s *site, r *enforce.Request, row *crawler.Crawler) bool {
	addr, err := netip.ParseAddr(r.Client)
	key := claim{row, addr}
	if _, ok := c.asked[key]; ok || err != nil {
		return false
	}
	if len(c.list) >= maxClaims {
		c.dropped++
		return false
	}
	c.asked[key] = claimed{s.Rules.Verification.Checker, r.Origin.Host, r.Time}
	c.list = append(c.list, key)
	return true
}

// lookUp looks a claim up at once.
func (c *claims) lookUp(ctx context.Context, s *site, r *enforce.Request, d *enforce.Decision) {
	if c.ends.IsZero() {
		c.ends = time.Now().Add(lookupsFor)
	}
	if !c.worked && c.failed >= givenUpAfter || time.Now().After(c.ends) || !c.add(s, r, d.Agent.Crawler) {
		return
	}
	c.note(s.Rules.Verification.Checker.LookUp(ctx, d.Agent.Crawler, c.list[len(c.list)-1].addr))
}

func (c *claims) note(worked bool) {
	c.worked = c.worked || worked
	if !worked {
		c.failed++
	}
}

// learnClaims reads the logs for their claims and looks all of them up, before
// anything is judged: then many are looked up at once. What can be read only
// once is looked up line by line.
func (a *auditor) learnClaims(ctx context.Context) error {
	var files []File
	for _, f := range a.options.Files {
		if !f.Once {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	seq, err := newSequence(files, a.options.Format, zoneOf{a.options.Zone})
	if err != nil {
		return err
	}
	defer seq.close()
	n := 0
	for in, err := seq.next(nil); in != nil; in, err = seq.next(in) {
		if err != nil {
			return err
		}
		if n++; n%progressEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if in.problem == fine {
			a.collect(&in.head)
		}
	}
	return a.lookUpAll(ctx)
}

// collect notes the claim of a request.
func (a *auditor) collect(e *entry) {
	h := a.hosts.of(e.host)
	if h.site.Rules.Verification == nil {
		return
	}
	a.request = request(e, h)
	h.site.unknown.Policy().Check(&a.request, &a.decision)
	if a.claims.wants(&a.decision) {
		a.claims.add(h.site, &a.request, a.decision.Agent.Crawler)
	}
}

// lookUpAll looks up the claims that were collected, many at once.
func (a *auditor) lookUpAll(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, lookupsFor)
	defer cancel()
	var mu sync.Mutex
	var running sync.WaitGroup
	next := 0
	for range lookupsAtOnce {
		running.Go(func() {
			for {
				mu.Lock()
				if next == len(a.claims.list) || !a.claims.worked && a.claims.failed >= givenUpAfter || limited.Err() != nil {
					mu.Unlock()
					return
				}
				key := a.claims.list[next]
				next++
				mu.Unlock()
				worked := a.claims.asked[key].checker.LookUp(limited, key.row, key.addr)
				mu.Lock()
				a.claims.note(worked)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	a.claims.dropped += int64(len(a.claims.list) - next)
	a.prove()
	return ctx.Err()
}

// prove has the sites whose log has an address that was verified count as ones
// that see the real addresses of clients, from the log's beginning on.
func (a *auditor) prove() {
	for _, key := range a.claims.list {
		where := a.claims.asked[key]
		proof := where.checker.Proof(where.host, false)
		where.checker.Address(key.row, verify.Client{Addr: key.addr, Proof: proof}, where.at)
	}
}
