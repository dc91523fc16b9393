package counters

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Bounds of what is counted. A Crawler takes 0.5 KiB, a Rule 0.3 KiB, and each
// another 0.5 KiB for every measure that was not 0 in the last month.
const (
	MaxSites    = 1000
	MaxCrawlers = 8192 // at a site each
	MaxNames    = 1024 // of these, crawlers that the registry does not have: clients make up their names
	MaxRules    = 16384
	maxInvented = 4096 // of these, at hosts that no site names: clients make up their names
)

// OtherSites is the name of the site that counts for all sites for which there
// is no room.
const OtherSites = "(other)"

// Counters counts decisions. It is safe for concurrent use.
type Counters struct {
	now      func() time.Time
	seed     maphash.Seed
	crawlers *table[Crawler]
	names    atomic.Int64 // of crawlers in the table, those that the registry does not have
	rules    *table[Rule]
	invented atomic.Int64 // of rules in the table, those at hosts that no site names
	refusals refusals

	mu      sync.Mutex
	since   time.Time
	at      minute // the present one as of the last fold
	sites   map[string]*Site
	retired []*Crawler // taken out of the table, for requests that still count into them
}

// New returns Counters that have counted nothing. The clock is wall time.
func New(now func() time.Time) *Counters {
	c := &Counters{
		now: now, seed: maphash.MakeSeed(), crawlers: newTable[Crawler](MaxCrawlers), rules: newTable[Rule](MaxRules),
		sites: make(map[string]*Site), since: now(),
	}
	c.at = minuteOf(c.since)
	return c
}

func minuteOf(t time.Time) minute { return minute(t.Unix() / 60) }

// Site returns the counters of a site. The name is one of the configuration's,
// never a client's.
func (c *Counters) Site(name string) *Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.site(name)
}

// site is Site. The caller holds mu.
func (c *Counters) site(name string) *Site {
	if s := c.sites[name]; s != nil {
		return s
	}
	if len(c.sites) >= MaxSites && name != OtherSites {
		return c.site(OtherSites)
	}
	s := &Site{counters: c, name: name, salt: rand.Uint64(), pattern: strings.Contains(name, "*") || name == OtherSites}
	c.sites[name] = s
	return s
}

// Request is what is counted of a request, beside the decision.
type Request struct {
	Time    time.Time
	Monitor bool // the decision is not carried out

	// Repeated reports that another handler counted the request before. Then
	// only a refusal counts, and not as another request.
	Repeated bool

	// Origin is where the request was sent, and Source a number of the
	// handler's source of rules: lines of two sources are never the same.
	Origin enforce.Origin
	Source uint64

	// What is kept of a request that is refused.
	Method, Target, Client string
	UserAgents             []string
}

// Count counts a decision about a crawler.
func (s *Site) Count(d *enforce.Decision, r *Request) {
	if r.Repeated && d.Action == enforce.Pass {
		return
	}
	mode := 0
	if r.Monitor {
		mode = 1
	}
	c := s.crawler(&d.Agent)
	if r.Repeated {
		c.repeated.Add(1)
	} else if d.Claim.State != 0 {
		c.claims[d.Claim.State].Add(1)
	}
	c.decided[mode][d.Reason].Add(1)
	if d.Line != 0 {
		if rule := s.rule(d, r); rule != nil {
			rule.count(d, mode, r.Time.Unix())
		}
	}
	if d.Action != enforce.Pass {
		c.keep(d, r)
	}
}
