package enforce

import (
	"math/bits"
	"sync"
	"time"

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
			d.Exceed(b, atOnceRetry)
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
		for n := range l.Bounds {
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
			if _, ok := p.memory.flights.add(p.limitKey(r, s, i, n), 1, b.AtOnce); !ok {
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

// isIn reports whether the request is in flight for a limit.
func isIn(d *judge.Decision) bool {
	for i := range d.Len() {
		if d.At(i).Entered != 0 {
			return true
		}
	}
	return false
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
					p.memory.flights.add(p.limitKey(r, s, l, n), -1, 0)
				}
			}
		}
		s.Entered = 0
	}
}

// flights counts requests in flight by key. It has an entry for each key with such
// a request, so it is as bounded as these are.
type flights [64]struct {
	mu    sync.Mutex
	count map[throttle.Key]int
	_     [48]byte // so that no two share a cache line
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
