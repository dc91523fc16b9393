package enforce

import (
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

// visitors remembers when each crawler came to an origin, and when it last read
// the robots.txt there. It has a fixed size, with 50 octets for each crawler at
// each origin. It is safe for concurrent use.
//
// A crawler that has not come for GracePeriod is forgotten. If there is no room
// for a visitor, the least recent of seven visitors is forgotten. Visitors that
// clients can invent (addresses, names that are not in the registry, invented
// hosts) have a separate table, so that they never displace a known crawler.
type visitors struct{ known, invented *table.Table[visits] }

// visits are the times of one visitor, as in visitTimes.
type visits struct {
	first, last, read atomic.Int64
	version           atomic.Uint64
}

// visitTimes is what is known about a crawler's visits. Times are in
// nanoseconds since 1970.
type visitTimes struct {
	first   int64  // the first visit after which no pause was longer than GracePeriod; 0 if there was none
	read    int64  // when it last read the robots.txt; 0 if it did not
	version uint64 // that it read, as in History.MayHold
}

// with combines what is known about a crawler from two visitors.
func (v visitTimes) with(w visitTimes) visitTimes {
	if w.first != 0 {
		v.first = min(v.first, w.first)
	}
	if w.read > v.read {
		v.read, v.version = w.read, w.version
	}
	return v
}

// times returns the times of a visitor.
func (v *visits) times() visitTimes {
	return visitTimes{v.first.Load(), v.read.Load(), v.version.Load()}
}

// lastTime returns the time of the last visit.
func (v *visits) lastTime() int64 { return v.last.Load() }

// newVisitors returns a visitors for size known crawlers, and for as many visitors
// that clients can invent.
func newVisitors(size int) *visitors {
	return &visitors{table.New[visits](size), table.New[visits](size)}
}

// record records a visit now, and returns what is known about the crawler's
// visits.
func (t *visitors) record(who visitorKey, now time.Time) visitTimes { return t.visit(who, now).times() }

// last returns what is known about a visitor, and records nothing. A read counts even if it
// was long ago.
func (t *visitors) last(who visitorKey, now time.Time) visitTimes {
	v, at := t.of(who).Get(who.hash), now.UnixNano()
	if v == nil {
		return visitTimes{}
	}
	times := v.times()
	if lapsed(v.last.Load(), at) {
		times.first = 0
	}
	if times.read > at { // the clock was set back
		times.read = 0
	}
	return times
}

// read records a visit now, in which the crawler read a version of the robots.txt.
func (t *visitors) read(who visitorKey, now time.Time, version uint64) {
	v := t.visit(who, now)
	v.version.Store(version)
	v.read.Store(now.UnixNano())
}

func (t *visitors) of(who visitorKey) *table.Table[visits] {
	if who.invented {
		return t.invented
	}
	return t.known
}

// visit records a visit.
func (t *visitors) visit(who visitorKey, now time.Time) *visits {
	at := now.UnixNano()
	v := t.of(who).Add(who.hash, (*visits).lastTime, func(v *visits) {
		v.first.Store(at)
		v.last.Store(at)
	})
	if last := v.last.Load(); lapsed(last, at) {
		v.read.Store(0)
		v.version.Store(0)
		v.first.Store(at)
		v.last.Store(at)
	} else if at-last >= timePrecision {
		v.last.Store(at)
	}
	return v
}

// lapsed reports whether the last visit was so long ago that the visitor can't
// use a cached copy any longer. It also returns true for a visit far in the
// future, which is possible after the clock was set back.
func lapsed(last, now int64) bool {
	since := now - last
	return since > int64(judge.GracePeriod) || since < -int64(judge.GracePeriod)
}
