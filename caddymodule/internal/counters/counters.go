package counters

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Maximum numbers of sites, and of rows.
const (
	MaxSites = 1000

	maxNamed    = 20_000 // at sites, of crawlers of the registry
	maxInvented = 4096   // of other crawlers: clients make up their names
	maxOfHosts  = 60_000 // at hosts that only a pattern names
)

// rowSize is what a row of a host takes, in octets, as TestHostMemory measures it.
const rowSize = 940

// defaultRoom is the default of SetRoom.
const defaultRoom = 16 << 20

// OtherSites is the name of the site that counts the requests to all sites after
// the first MaxSites.
const OtherSites = "(other)"

// Counters counts decisions. It is safe for concurrent use.
type Counters struct {
	now      func() time.Time
	seed     maphash.Seed
	rows     table
	refusals refusals

	// The numbers of rows. Those of one kind take no room from those of another.
	named, invented, ofHosts, always limit

	mu      sync.Mutex
	ids     []string // random ones, of the files whose counts these are, and from the first Save on of its file
	since   time.Time
	at      minute // of the last fold
	folded  time.Time
	sites   map[string]*Site
	decided map[decided]uint64 // for the metrics
	others  []*Others
}

// New returns Counters whose counts are all 0. now returns the time of day.
func New(now func() time.Time) *Counters {
	c := &Counters{
		now: now, seed: maphash.MakeSeed(), since: now(), sites: make(map[string]*Site), decided: make(map[decided]uint64),
		refusals: refusals{gates: logquota.NewGates(1 << 12), hosts: make(map[string]int)},
	}
	c.named.max.Store(maxNamed)
	c.invented.max.Store(maxInvented)
	c.always.max.Store(math.MaxInt64)
	c.SetRoom(defaultRoom)
	c.at = minuteOf(c.since)
	return c
}

// SetRoom sets how many octets the rows of hosts may take that only a pattern names. What does
// not fit is counted under the pattern alone.
func (c *Counters) SetRoom(octets int64) { c.ofHosts.max.Store(min(octets/rowSize, maxOfHosts)) }

// HostOctets returns how many octets the rows of these hosts take, but for those of names that
// clients make up.
func (c *Counters) HostOctets() int64 { return c.ofHosts.n.Load() * rowSize }

// Site counts requests to one site, or to one host of it: each fold adds those to the
// counts of the site, too. Its methods for requests are safe for concurrent use.
type Site struct {
	counters *Counters
	name     string
	pattern  *Site // that the site is a host of; nil for a site of the configuration
	salt     uint64
	open     bool           // clients may make up its hosts
	people   *row           // the requests of people
	shards   *[shards]shard // of people, at a site of the configuration

	// Guarded by Counters.mu:
	last minute // of the last request
	days uint32 // on which it had requests, of the last 31: see ring.days
	gone bool   // of a host: it is evicted
	view *siteView
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
	s := &Site{
		counters: c, name: name, salt: rand.Uint64(), shards: new([shards]shard),
		open: strings.Contains(name, "*") || name == OtherSites,
	}
	s.people = c.rows.add(s.salt, &c.always, func(r *row) { r.site, r.Class = s, crawler.Person })
	c.sites[name] = s
	return s
}

// Host returns the counters of a host of the site that no other site names, and adds them
// if there are none. It returns s if the name is no host name, or if there is no room: clients
// can make up hosts, so the last eighth of the room is for the rows of those that have some.
func (s *Site) Host(name string) *Site {
	c := s.counters
	hash := s.hostHash(name)
	if found := c.rows.find(hash); found != nil {
		return found.site
	}
	if !IsHostName(name) || c.ofHosts.n.Load() >= c.ofHosts.max.Load()/8*7 {
		return s
	}
	people := c.rows.add(hash, &c.ofHosts, func(r *row) {
		r.Class, r.sum = crawler.Person, s.people
		r.site = &Site{counters: c, name: strings.Clone(name), pattern: s, salt: hash, people: r}
	})
	if people == nil {
		return s
	}
	return people.site
}

// hostHash returns the hash of the row of people at a host of the site.
func (s *Site) hostHash(name string) uint64 {
	return maphash.String(s.counters.seed, name)*0x9e3779b97f4a7c15 ^ s.salt
}

// IsHostName reports whether a name in lower case consists of labels of letters, digits
// and inner hyphens.
func IsHostName(name string) bool {
	before := byte('.')
	for i := range len(name) {
		b := name[i]
		switch {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-' && before != '.', b == '.' && before != '.' && before != '-':
		default:
			return false
		}
		before = b
	}
	return before != '.' && before != '-' && len(name) <= 253
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

	Log *Log // nil for none
}

// Count counts a decision about a crawler or, if the client sends the User-Agent of a
// browser, about a stranger. A browser that is let through is a person. It is safe for concurrent use.
func (s *Site) Count(d *judge.Decision, r *Request) {
	if d.Agent.SentClass() == crawler.Person && d.Action == judge.Pass {
		s.CountPerson(0)
		return
	}
	who, what := whoOf(&d.Agent), outcome{Reason: d.Reason, Monitor: d.Monitored, Claim: d.Claim.State, Unmeant: unmeantOf(d, r)}
	line := uint64(0)
	if d.Line != 0 && (s.pattern != nil || !s.open) {
		line = lineIDOf(r.Source, d).at(r.Origin)
	}
	counted := s.counters.rows.find(s.hash(&who, &what, line))
	if counted == nil {
		var facts *Line
		if line != 0 {
			facts = lineOf(d, r)
		}
		counted = s.add(who, what, facts)
	}
	counted.count(d, r)
	if d.Action != judge.Pass {
		s.keep(who.Crawler, d, r)
	}
	if r.Log != nil {
		r.Log.write(who.label(), d, r)
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

// CountPerson counts a request to which robots.txt does not apply. Callers that
// run at the same time should pass different numbers: it is faster then.
func (s *Site) CountPerson(caller uint32) {
	if s.shards == nil {
		s.people.n.Add(1)
		return
	}
	s.shards[caller%shards].n.Add(1)
}
