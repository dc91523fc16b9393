// Package logquota limits how often something is logged or kept, so that a flood of
// requests can't flood the log.
package logquota

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Gate limits the rate of events with GCRA, and counts the events that it
// rejects. It takes no lock and is safe for concurrent use. The zero value is
// ready.
type Gate struct {
	due    atomic.Int64 // the theoretical arrival time of GCRA, in nanoseconds since 1970
	missed atomic.Int64 // events that were rejected since the last one that was accepted
}

// Pass reports whether the gate accepts an event at the time now, in nanoseconds
// since 1970. It accepts one event in each interval, and burst more at once. For
// an accepted event, missed is the number of events that were rejected since the
// one accepted before.
func (g *Gate) Pass(now int64, interval time.Duration, burst int) (missed int64, ok bool) {
	step := int64(interval)
	for {
		due := g.due.Load()
		next := max(due, now)
		if due-now > 2*step*int64(burst+1) {
			next = now // the clock was set back
		}
		if next-now > step*int64(burst) {
			g.missed.Add(1)
			return 0, false
		}
		if g.due.CompareAndSwap(due, next+step) {
			return g.missed.Swap(0), true
		}
	}
}

// Reject counts an event that Pass accepted, and the events that it missed, as
// rejected.
func (g *Gate) Reject(missed int64) { g.missed.Add(missed + 1) }

// Gates has gates by place and name, of which each place has its own, so that the noise
// of one hides nothing of another. Those that were used least lately are forgotten.
type Gates struct{ names, places *table.Table[Gate] }

// NewGates returns Gates for a number of names at places.
func NewGates(size int) *Gates { return &Gates{table.New[Gate](size), table.New[Gate](size / 4)} }

var seed = maphash.MakeSeed()

// Event is what Gates limit. Clients can't invent places, names or kinds.
type Event struct {
	Place, Name string
	Kind        uint8
}

// Rates are an interval and a burst for each name and kind, and for all of a place together.
type Rates struct {
	Each, All           time.Duration
	EachBurst, AllBurst int
}

// Pass is Gate.Pass for an event.
func (g *Gates) Pass(now int64, e Event, r *Rates) (missed int64, ok bool) {
	due := func(g *Gate) int64 { return g.due.Load() }
	h := maphash.String(seed, e.Place)
	one := g.names.Add((h*31+maphash.String(seed, e.Name))*256+uint64(e.Kind), due, nil)
	if missed, ok = one.Pass(now, r.Each, r.EachBurst); !ok {
		return 0, false
	}
	_, ok = g.places.Add(h, due, nil).Pass(now, r.All, r.AllBurst)
	if !ok {
		one.Reject(missed)
		return missed, false
	}
	return missed, true
}
