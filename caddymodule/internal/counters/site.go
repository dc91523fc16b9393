package counters

import (
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Shards is how many counters a site has for people, so that processors do not
// wait for each other's.
const Shards = 8

// Site counts requests to one site. Its methods for requests are safe for
// concurrent use.
type Site struct {
	counters *Counters
	name     string
	salt     uint64
	pattern  bool // clients may make up its hosts
	people   [Shards]shard
	classes  [classes]atomic.Pointer[Crawler] // crawlers for whose names there is no room

	// Guarded by Counters.mu:
	visitors history
	reasons  [modes][enforce.Reasons]history
}

// classes is the number of crawler.Class values, modes that of the values of
// Request.Monitor.
const (
	classes = int(crawler.Library) + 1
	modes   = 2
)

// shard is a counter on cache lines of its own.
type shard struct {
	n atomic.Uint64
	_ [120]byte
}

// Name returns the name by which the site was made.
func (s *Site) Name() string { return s.name }

// CountPerson counts a request that robots.txt binds nobody for. Callers that
// run at the same time give different numbers.
func (s *Site) CountPerson(caller uint32) { s.people[caller%Shards].n.Add(1) }

// UncountPerson takes back a CountPerson: the request is one that is not to be
// told of, such as the dashboard's own.
func (s *Site) UncountPerson() { s.people[0].n.Add(^uint64(0)) }

// peopleTotal returns the requests of people.
func (s *Site) peopleTotal() (n uint64) {
	for i := range s.people {
		n += s.people[i].n.Load()
	}
	return n
}
