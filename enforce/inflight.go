package enforce

import (
	"maps"
	"math/bits"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// enter counts a request that is let through as one in flight, for the limits of
// all its crawlers. If one of them has too many, enter refuses the request.
func (p *pacer) enter(r *judge.Request, d *judge.Decision) {
	var pools [judge.MaxLimits][poolCount]bool // in which the request is in flight
	for i := range d.Len() {
		if b := p.enterOne(r, d.At(i), &pools); b != nil {
			p.leave(r, d)
			d.Blame(i)
			d.Refuse(judge.OverLimit, &b.Place, atOnceRetry)
			return
		}
	}
}

// atOnceRetry is the Retry-After for a request that is refused because too many
// are in flight. When one of them ends is not known.
const atOnceRetry = 5 * time.Second

// enterOne is enter for one subject. It returns the line that refuses the request; nil
// if none does.
func (p *pacer) enterOne(r *judge.Request, s *judge.Subject, pools *[judge.MaxLimits][poolCount]bool) *judge.Bound {
	for held := s.Held; held != 0; held &= held - 1 {
		i := bits.TrailingZeros8(held)
		l := &p.settings.CompiledLimits[i]
		for n := len(l.Bounds) - 1; n >= 0; n-- { // each_at_once first: it says more than half of at_once
			b := &l.Bounds[n]
			if b.AtOnce == 0 {
				continue
			}
			if !b.Each {
				in := &pools[i][poolOf(l, s)]
				if *in {
					continue
				}
				*in = true
			}
			if !p.memory.flights.take(p.limitKey(r, s, i, n), b, s, r.Time.UnixNano()) {
				return b
			}
			s.Entered |= enteredBit(i, b)
		}
	}
	return nil
}

// enteredBit is the bit in Subject.Entered of a line of limit i.
func enteredBit(i int, b *judge.Bound) uint16 {
	if b.Each {
		return 2 << (2 * i)
	}
	return 1 << (2 * i)
}

// leave ends what enter began.
func (p *pacer) leave(r *judge.Request, d *judge.Decision) {
	for i := range d.Len() {
		s := d.At(i)
		if s.Entered == 0 {
			continue
		}
		for l := range p.settings.CompiledLimits {
			for n := range p.settings.CompiledLimits[l].Bounds {
				if b := &p.settings.CompiledLimits[l].Bounds[n]; b.AtOnce > 0 && s.Entered&enteredBit(l, b) != 0 {
					p.memory.flights.leave(p.limitKey(r, s, l, n), b, s)
				}
			}
		}
		s.Entered = 0
	}
}

// flights counts requests in flight by key. It has an entry for each key with such
// a request, so it is as bounded as these are, and one for each line at_once of the
// last configurations.
type flights [64]struct {
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

// take takes a turn of a line. Of the turns that crawlers share, none holds more than
// half, rounded up, while others come: otherwise the first one that answers are slow
// for shuts out all others.
func (f *flights) take(k throttle.Key, b *judge.Bound, s *judge.Subject, now int64) bool {
	if !b.Each {
		who, most := sharer(s), b.AtOnce
		if f.arrive(k, who, now) {
			most = (most + 1) / 2
		}
		if _, ok := f.add(shareOf(k, who), 1, most); !ok {
			return false
		}
		if _, ok := f.add(k, 1, b.AtOnce); !ok {
			f.add(shareOf(k, who), -1, 0)
			return false
		}
		return true
	}
	_, ok := f.add(k, 1, b.AtOnce)
	return ok
}

// leave ends what take began.
func (f *flights) leave(k throttle.Key, b *judge.Bound, s *judge.Subject) {
	if f.add(k, -1, 0); !b.Each {
		f.add(shareOf(k, sharer(s)), -1, 0)
	}
}

// arrive notes that a crawler came to a line, and reports whether another did lately.
func (f *flights) arrive(k throttle.Key, who uint64, now int64) bool {
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
	_, who := hash(seedSharer, judge.Origin{}, s.Agent.Name())
	return who
}

// shareOf returns the key of the turns of k that a crawler holds.
func shareOf(k throttle.Key, who uint64) throttle.Key {
	return throttle.Key{k[0] ^ who*hashFactor, k[1] ^ who, seedSharer}
}

// add adds by requests, unless there would be more than most, and returns how many
// there are then.
func (f *flights) add(k throttle.Key, by, most int) (count int, ok bool) {
	s := &f[k[0]%uint64(len(f))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if count = s.count[k] + by; by > 0 && count > most {
		return count - by, false
	}
	if s.count == nil {
		s.count = make(map[throttle.Key]int)
	}
	if s.count[k] = count; count <= 0 {
		delete(s.count, k)
	}
	return count, true
}
