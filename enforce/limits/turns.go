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
	count map[throttle.Key]int
	came  map[throttle.Key]arrivals
	_     [40]byte // so that no two share a cache line
}

// arrivals has the two crawlers that came last to a line at_once, and when.
type arrivals [2]struct {
	who uint64
	at  int64
}

// otherCame is how long ago another crawler must have come, so that no crawler gets
// more than half of the turns.
const otherCame = 10 * time.Second

// lately reports whether crawler i came in the otherCame before now. Requests that come
// together may be counted in another order than that of their times; a time long after now
// is from before the clock was set back, and says nothing.
func (a *arrivals) lately(i int, now int64) bool {
	since := time.Duration(now - a[i].at)
	return a[i].at != 0 && since.Abs() <= otherCame
}

// take takes a turn of a line that has most. Of the turns that crawlers share, none holds
// more than half, rounded up, while others come: otherwise the first one that answers are
// slow for shuts out all others.
func (f *Turns) take(t turn, most int, now int64) bool {
	if !t.shared {
		_, ok := f.add(t.key, 1, most)
		return ok
	}
	share := most
	if f.arrive(t.key, t.who, now) {
		share = (most + 1) / 2
	}
	if _, ok := f.add(shareOf(t.key, t.who), 1, share); !ok {
		return false
	}
	if _, ok := f.add(t.key, 1, most); !ok {
		f.add(shareOf(t.key, t.who), -1, 0)
		return false
	}
	return true
}

// leave ends what take began.
func (f *Turns) leave(t turn) {
	if f.add(t.key, -1, 0); t.shared {
		f.add(shareOf(t.key, t.who), -1, 0)
	}
}

// arrive notes that a crawler came to a line, and reports whether another did lately.
func (f *Turns) arrive(k throttle.Key, who uint64, now int64) bool {
	s := &f[k[0]%uint64(len(f))]
	s.mu.Lock()
	defer s.mu.Unlock()
	came, known := s.came[k]
	if !known { // forget lines of earlier configurations
		maps.DeleteFunc(s.came, func(_ throttle.Key, a arrivals) bool { return !a.lately(0, now) })
		if s.came == nil {
			s.came = make(map[throttle.Key]arrivals)
		}
	}
	if came[0].who != who {
		came[1] = came[0]
	}
	came[0].who, came[0].at = who, now
	s.came[k] = came
	return came.lately(1, now)
}

// sharer identifies a crawler among those that share turns: by its name, if it is
// verified, or can't be and is in the registry or in robots.txt. All others are one,
// because a client can send any number of such names.
func sharer(s *judge.Subject) uint64 {
	isKnown := s.Claim.State == claim.NoMethod && (s.Agent.Crawler != nil || s.Agent.Class == crawler.Named)
	if s.Claim.State != claim.Verified && !isKnown {
		return 0
	}
	_, who := judge.Origin{}.Hash(seedSharer, s.Agent.Name())
	return who
}

// seedSharer keeps the shares of crawlers apart from the keys of lines.
const seedSharer = 101

// shareOf returns the key of the turns of k that a crawler holds.
func shareOf(k throttle.Key, who uint64) throttle.Key {
	return throttle.Key{k[0] ^ who*0x9e3779b97f4a7c15, k[1] ^ who, seedSharer}
}

// add adds by requests, unless there would be more than most, and returns how many
// there are then.
func (f *Turns) add(k throttle.Key, by, most int) (count int, ok bool) {
	s := &f[k[0]%uint64(len(f))]
	s.mu.Lock()
	defer s.mu.Unlock()
	count = s.count[k] + by
	if by > 0 && count > most {
		return count - by, false
	}
	if s.count == nil {
		s.count = make(map[throttle.Key]int)
	}
	s.count[k] = count
	if count <= 0 {
		delete(s.count, k)
	}
	return count, true
}
