package counters

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Maximum numbers of counters. A Crawler takes 0.5 KiB and a Line 0.3 KiB. Each
// takes another 0.5 KiB for every measure that was not 0 in the last month.
const (
	MaxSites    = 1000
	MaxCrawlers = 8192 // a crawler counts once for each site
	maxNames    = 1024 // of MaxCrawlers, those that are not in the registry: clients make up their names
	MaxLines    = 16384
	maxInvented = 4096 // of MaxLines, those at hosts that no site names: clients make up such hosts
)

// OtherSites is the name of the site that counts the requests to all sites after
// the first MaxSites.
const OtherSites = "(other)"

// Counters counts decisions. It is safe for concurrent use.
type Counters struct {
	now      func() time.Time
	seed     maphash.Seed
	crawlers *table[Crawler]
	lines    *table[Line]
	refusals refusals

	mu      sync.Mutex
	since   time.Time
	at      minute // of the last fold
	sites   map[string]*Site
	retired []*Crawler // removed from the table; requests that found them before may still count
}

// New returns Counters whose counts are all 0. now returns the time of day.
func New(now func() time.Time) *Counters {
	c := &Counters{
		now: now, seed: maphash.MakeSeed(), crawlers: newTable[Crawler](MaxCrawlers, maxNames), lines: newTable[Line](MaxLines, maxInvented),
		sites: make(map[string]*Site), since: now(),
	}
	c.at = minuteOf(c.since)
	return c
}

func minuteOf(t time.Time) minute { return minute(t.Unix() / 60) }

// Site returns the counters of a site, and adds them if there are none. The name
// must come from the configuration, not from a client: the counters of a site are
// never removed. After MaxSites sites it returns those of OtherSites.
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

// Request is what Site.Count has to know about a request, besides the decision.
type Request struct {
	Time time.Time

	Origin judge.Origin // where the request was sent
	Source uint64       // number of the handler's source of rules; lines of different sources are counted separately

	// Kept only if the request is refused. Target is the request target, and
	// Client an IP address.
	Method, Target, Client string
	UserAgents             []string
}

// Count counts a decision about a crawler. It is safe for concurrent use.
func (s *Site) Count(d *judge.Decision, r *Request) {
	c, o := s.crawler(&d.Agent), outcomeOf(d)
	if !c.known && !c.other {
		d.Agent.Token = c.name
	}
	c.countClaim(d)
	c.decided[o].Add(1)
	if !d.Monitored && isSearch(d) {
		c.run.count(d, r)
	}
	if d.Line != 0 {
		id := lineIDOf(r.Source, d)
		if line := s.line(id, r.Origin, func() lineFacts { return factsOf(id, d, r) }); line != nil {
			line.count(d.Line, o, r.Time.Unix())
		}
	}
	if d.Action != judge.Pass {
		c.keep(d, r)
	}
}

// shards is the number of counters that a site has for people. With several,
// processors do not wait for the same cache line.
const shards = 8

// Site counts requests to one site. Its methods for requests are safe for
// concurrent use.
type Site struct {
	counters *Counters
	name     string
	salt     uint64
	pattern  bool // clients may make up its hosts
	people   [shards]shard
	classes  [classes]atomic.Pointer[Crawler] // crawlers that have no counters of their own, by class

	// Guarded by Counters.mu:
	visitors history
	reasons  [outcomes]history
}

// classes is the number of values of crawler.Class.
const classes = int(crawler.Library) + 1

// shard is a counter on cache lines of its own.
type shard struct {
	n atomic.Uint64
	_ [120]byte
}

// Name returns the name that was passed to Counters.Site, or OtherSites.
func (s *Site) Name() string { return s.name }

// CountPerson counts a request to which robots.txt does not apply. Callers that
// run at the same time should pass different numbers: it is faster then.
func (s *Site) CountPerson(caller uint32) { s.people[caller%shards].n.Add(1) }

// Uncount undoes one call of Count or CountPerson, for a request that should not be
// counted, such as one of the dashboard page. The line that decided still counts it.
func (s *Site) Uncount(d *judge.Decision) {
	const minusOne = ^uint64(0)
	if d.Reason == judge.Person {
		s.people[0].n.Add(minusOne)
		return
	}
	c := s.crawler(&d.Agent)
	c.decided[outcomeOf(d)].Add(minusOne)
	if m := claimMeasures[d.Claim.State]; m != requests {
		c.claims[m-verified].Add(minusOne)
	}
}

// peopleTotal returns the requests of people.
func (s *Site) peopleTotal() (n uint64) {
	for i := range s.people {
		n += s.people[i].n.Load()
	}
	return n
}
