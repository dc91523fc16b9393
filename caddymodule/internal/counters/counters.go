package counters

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Maximum numbers of sites, of hosts that only a pattern names, and of rows at sites.
const (
	MaxSites = 1000
	MaxHosts = 10_000
	MaxRows  = maxConfigured + maxInvented

	maxConfigured = 20_000
	maxInvented   = 4096          // of crawlers that are not in the registry: clients make up their names
	maxNew        = MaxHosts / 10 // hosts that had requests on one day only
)

// What counters of hosts take, in octets, as TestHostMemory measures it.
const (
	hostSize = 1700
	rowSize  = 800
)

// OtherSites is the name of the site that counts the requests to all sites after
// the first MaxSites.
const OtherSites = "(other)"

// Counters counts decisions. It is safe for concurrent use.
type Counters struct {
	now      func() time.Time
	seed     maphash.Seed
	rows     *table[row]
	hosts    *table[Site]
	room     atomic.Int64 // for the counters of hosts, in octets
	running  sync.Map     // the *Crawler with a run
	refusals refusals

	adding sync.Mutex // guards Site.crawlers and Crawler.rows

	mu      sync.Mutex
	ids     []string // random ones, of the files whose counts these are, and from the first Save on of its file
	since   time.Time
	at      minute // of the last fold
	folded  time.Time
	sites   map[string]*Site
	retired []*row // removed from the table; requests that found them before may still count
}

// New returns Counters whose counts are all 0. now returns the time of day.
func New(now func() time.Time) *Counters {
	c := &Counters{
		now: now, seed: maphash.MakeSeed(), since: now(), sites: make(map[string]*Site),
		rows:  newTable[row]([kinds]int64{configured: maxConfigured, invented: maxInvented}),
		hosts: newTable[Site]([kinds]int64{ofHost: MaxHosts - maxNew, invented: maxNew}),
		refusals: refusals{
			gates: logquota.NewGates(1 << 12), hosts: make(map[string]int), crawlers: make(map[[2]string]int),
		},
	}
	c.SetRoom(defaultRoom)
	c.at = minuteOf(c.since)
	return c
}

// Site counts requests to one site, or to one host of it: each fold adds those to the
// counters of the site, too. Its methods for requests are safe for concurrent use.
type Site struct {
	counters *Counters
	name     string
	salt     uint64
	open     bool  // clients may make up its hosts
	pattern  *Site // that the site is a host of; nil for a site of the configuration
	people   []shard
	visitors *row                // the requests of people
	crawlers map[string]*Crawler // by Crawler.key; guarded by Counters.adding

	// Guarded by Counters.mu:
	seen  uint64 // of the requests in people, those that visitors has
	first int32  // of a host: day since 1970 on which it had its first request
	last  minute // of the last request
	known bool   // of a host: it had requests on two days
	gone  bool   // of a host: it is evicted
}

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
	s := new(Site)
	s.begin(c, name, nil)
	s.open = strings.Contains(name, "*") || name == OtherSites
	c.sites[name] = s
	return s
}

// begin sets up a new site, or a host of a pattern.
func (s *Site) begin(c *Counters, name string, pattern *Site) {
	s.counters, s.name, s.salt, s.pattern, s.crawlers = c, name, rand.Uint64(), pattern, make(map[string]*Crawler)
	s.visitors = &row{crawler: &Crawler{site: s, class: crawler.Person, other: true}, key: key{outcome: newOutcome(judge.Person, false)}}
	if pattern != nil {
		s.people, s.visitors.sum = make([]shard, 1), pattern.visitors
	} else {
		s.people = make([]shard, shards)
	}
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

// Count counts a decision about a crawler or, if the client sends the User-Agent of a
// browser, about a stranger. A browser that is let through is a person. It is safe for concurrent use.
func (s *Site) Count(d *judge.Decision, r *Request) {
	if d.Agent.SentClass() == crawler.Person && d.Action == judge.Pass {
		s.CountPerson(0)
		return
	}
	k := key{outcome: newOutcome(d.Reason, d.Monitored), claim: d.Claim.State}
	if d.Line != 0 && (s.pattern != nil || !s.open) {
		k.line = lineIDOf(r.Source, d).at(r.Origin)
	}
	counted := s.row(&d.Agent, k, d, r)
	c := counted.crawler
	if !c.known && !c.other {
		d.Agent.Token = c.name
	}
	c.noteFolder(counted.count(d.Line, r.Time.Unix()), d, r.Target)
	if !d.Monitored && isSearch(d) {
		c.run.count(d, r)
		if d.Action != judge.Pass {
			s.counters.running.LoadOrStore(c, nil)
		}
	}
	if d.Action != judge.Pass {
		c.keep(d, r)
	}
}

// shards is the number of counters that a site has for people. With several,
// processors do not wait for the same cache line.
const shards = 8

// shard is a counter on cache lines of its own.
type shard struct {
	n atomic.Uint64
	_ [120]byte
}

// Name returns the name that was passed to Counters.Site, or OtherSites.
func (s *Site) Name() string { return s.name }

// CountPerson counts a request to which robots.txt does not apply. Callers that
// run at the same time should pass different numbers: it is faster then.
func (s *Site) CountPerson(caller uint32) {
	s.people[caller%uint32(len(s.people))].n.Add(1)
}
