package counters

import (
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

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

// UncountPerson undoes one call of CountPerson, for a request that should not be
// counted, such as one of the dashboard page.
func (s *Site) UncountPerson() { s.people[0].n.Add(^uint64(0)) }

// peopleTotal returns the requests of people.
func (s *Site) peopleTotal() (n uint64) {
	for i := range s.people {
		n += s.people[i].n.Load()
	}
	return n
}
