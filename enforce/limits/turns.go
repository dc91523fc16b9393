package limits

import (
	"maps"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Turns counts requests in flight by key. It has an entry for each key with such
// a request, so it is as bounded as these are, and one for each line at_once of the
// last configurations. Several Sets can share one, and it outlives them, so that a reload
// loses none. The zero value counts none. It is safe for concurrent use.
type Turns [64]struct {
	mu    sync.Mutex
	lines map[throttle.Key]flights
	_     [48]byte // so that no two share a cache line
}

// flights are the requests in flight that one line counts.
type flights struct {
	total int
	of    map[uint64]share // by crawler; nil if each crawler has a line of its own
}

// share are the requests of one crawler.
type share struct {
	count int
	at    int64 // when it came last
}

// turn is a request in flight, as one that a line counts.
type turn struct {
	key throttle.Key
	who uint64 // the crawler, if several share the line; 0 otherwise
}

// otherCame is how long ago another crawler must have come, so that no crawler gets
// more than half of the turns.
const otherCame = 10 * time.Second

// lately reports whether a crawler came in the otherCame before now. Requests that come
// together may be counted in another order than that of their times; a time long after now
// is from before the clock was set back, and says nothing.
func (s share) lately(now int64) bool { return time.Duration(now-s.at).Abs() <= otherCame }

// take takes a turn of a line that has most. Of the turns that crawlers share, none holds
// more than half, rounded up, while others come: otherwise the first one that answers are
// slow for shuts out all others.
func (t *Turns) take(by turn, most int, now int64) bool {
	s := &t[by.key[0]%uint64(len(t))]
	s.mu.Lock()
	defer s.mu.Unlock()
	line, known := s.lines[by.key]
	if !known && by.who != 0 {
		maps.DeleteFunc(s.lines, func(_ throttle.Key, f flights) bool { return f.total == 0 }) // those of earlier configurations
		line.of = make(map[uint64]share)
	}
	if s.lines == nil {
		s.lines = make(map[throttle.Key]flights)
	}
	isFree, own := line.total < most, line.of[by.who]
	if by.who != 0 {
		isFree = isFree && own.count < line.shareOf(by.who, most, now)
	}
	if isFree {
		line.total++
		own.count++
	}
	if by.who != 0 {
		own.at = now
		line.of[by.who] = own
	}
	s.lines[by.key] = line
	return isFree
}

// shareOf returns how many turns a crawler may hold of a line that has most. It forgets
// crawlers that come no more.
func (f flights) shareOf(who uint64, most int, now int64) int {
	limit := most
	for other, s := range f.of {
		switch {
		case other == who:
		case s.lately(now):
			limit = (most + 1) / 2
		case s.count == 0:
			delete(f.of, other)
		}
	}
	return limit
}

// leave ends what take began.
func (t *Turns) leave(by turn) {
	s := &t[by.key[0]%uint64(len(t))]
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.lines[by.key]
	line.total--
	s.lines[by.key] = line
	if by.who != 0 {
		own := line.of[by.who]
		own.count--
		line.of[by.who] = own
	} else if line.total == 0 {
		delete(s.lines, by.key)
	}
}

// unknown stands for all crawlers with names that a client can send any number of.
const unknown = 1

// sharer identifies a crawler among those that share turns: by its name, if it is
// verified, or can't be and is in the registry or in robots.txt.
func sharer(s *judge.Subject) uint64 {
	isKnown := s.Claim.State == claim.NoMethod && (s.Agent.Crawler != nil || s.Agent.Class == crawler.Named)
	if s.Claim.State != claim.Verified && !isKnown {
		return unknown
	}
	who, _ := judge.Origin{}.Hash(0, s.Agent.Name())
	return who
}
