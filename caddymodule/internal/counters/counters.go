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
	bounded "github.com/caddy-robots/caddy-robots/internal/table"
)

// Maximum numbers of counters. A crawler counts once for each site and host.
const (
	MaxSites    = 1000
	MaxHosts    = 10_000 // that only a pattern names
	MaxCrawlers = 7168 + maxHostCrawlers + maxNames
	MaxLines    = 12288 + maxHostLines + maxInvented

	maxNew          = MaxHosts / 10 // hosts that had requests on one day only
	maxWaiting      = 1 << 15       // hosts without room that are remembered
	maxHostCrawlers = 1 << 16       // of the registry, at hosts
	maxNames        = 2048          // crawlers that are not in the registry: clients make up their names
	maxHostLines    = 1 << 14       // at hosts that have counters
	maxInvented     = 4096          // lines at other hosts that no site names: clients make up such hosts
)

// What counters of hosts take, in octets, as TestHostMemory measures it.
const (
	hostSize    = 600
	crawlerSize = 664
	lineSize    = 400
	seriesSize  = 512
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
	hosts    *table[Site]
	waiting  *bounded.Table[waiting]
	octets   atomic.Int64 // of the counters of hosts, as at the last fold and added since
	room     atomic.Int64 // for octets
	refusals refusals

	mu           sync.Mutex
	ids          []string // random ones, of the files whose counts these are, and from the first Save on of its file
	since        time.Time
	at           minute // of the last fold
	folded       time.Time
	sites        map[string]*Site
	retired      []*Crawler // removed from the table; requests that found them before may still count
	retiredHosts []*Site    // likewise, with their crawlers and lines
}

// New returns Counters whose counts are all 0. now returns the time of day.
func New(now func() time.Time) *Counters {
	c := &Counters{
		now: now, seed: maphash.MakeSeed(),
		crawlers: newTable[Crawler]([kinds]int64{MaxCrawlers - maxHostCrawlers - maxNames, maxHostCrawlers, maxNames}),
		lines:    newTable[Line]([kinds]int64{MaxLines - maxHostLines - maxInvented, maxHostLines, maxInvented}),
		hosts:    newTable[Site]([kinds]int64{ofHost: MaxHosts - maxNew, invented: maxNew}),
		waiting:  bounded.New[waiting](maxWaiting),
		sites:    make(map[string]*Site), since: now(), refusals: refusals{gates: logquota.NewGates(1 << 12), groups: make(map[groupKey]*group)},
	}
	c.room.Store(defaultRoom)
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
	open := strings.Contains(name, "*") || name == OtherSites
	s := &Site{counters: c, name: name, salt: rand.Uint64(), open: open, people: make([]shard, shards)}
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

// Count counts a decision about a crawler or, if the client sends the User-Agent of a
// browser, about a stranger. A browser that is let through is a person. It is safe for concurrent use.
func (s *Site) Count(d *judge.Decision, r *Request) {
	if d.Agent.SentClass() == crawler.Person && d.Action == judge.Pass {
		s.CountPerson(0)
		return
	}
	c, o := s.crawler(&d.Agent), outcomeOf(d)
	if !c.known && !c.other {
		d.Agent.Token = c.name
	}
	c.countClaim(d)
	c.noteFolder(c.decided.at(o).n.Add(1), d, r.Target)
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
	s.wake()
}

// wake makes the next fold look at a host. Call it after what was counted.
func (s *Site) wake() {
	if s.idle.Load() {
		s.idle.Store(false)
	}
}

// shards is the number of counters that a site has for people. With several,
// processors do not wait for the same cache line.
const shards = 8

// Site counts requests to one site, or to one host of it: each fold adds those to the
// counters of the site, too. Its methods for requests are safe for concurrent use.
type Site struct {
	counters *Counters
	name     string
	salt     uint64
	open     bool  // clients may make up its hosts
	pattern  *Site // that the site is a host of; nil for a site of the configuration
	people   []shard
	classes  [classes]atomic.Pointer[Crawler] // crawlers that have no counters of their own, by class
	named    atomic.Pointer[Crawler]          // the other crawlers, a linked list; changed under the lock of their table
	idle     atomic.Bool                      // of a host: nothing was counted since the last fold

	// Guarded by Counters.mu:
	visitors      history
	reasons       byOutcome[history]
	searchRefused history // of verified search engines

	// Of a host:
	first  int32  // day since 1970 on which it had its first request
	last   minute // of the last request
	known  bool   // it had requests on two days
	gone   bool   // it is evicted
	octets int64  // that its counters take
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
func (s *Site) CountPerson(caller uint32) {
	s.people[caller%uint32(len(s.people))].n.Add(1)
	s.wake()
}
