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

// Gates has gates by host and name, of which each host has its own, so that the noise
// of one hides nothing of another. Those that were used least lately are forgotten.
type Gates struct{ names, hosts *table.Table[Gate] }

// NewGates returns Gates for a number of names at hosts.
func NewGates(size int) *Gates { return &Gates{table.New[Gate](size), table.New[Gate](size / 4)} }

var seed = maphash.MakeSeed()

// Pass is Gate.Pass for a host, a name and a kind, with another interval and burst for
// all of a host together.
func (g *Gates) Pass(
	now int64, host, name string, kind uint8, interval time.Duration, burst int, all time.Duration, most int,
) (missed int64, ok bool) {
	h, latest := maphash.String(seed, host), func(g *Gate) int64 { return g.due.Load() }
	one := g.names.Add((h*31+maphash.String(seed, name))*256+uint64(kind), latest, nil)
	if missed, ok = one.Pass(now, interval, burst); !ok {
		return 0, false
	}
	if _, ok = g.hosts.Add(h, latest, nil).Pass(now, all, most); !ok {
		one.Reject(missed)
	}
	return missed, ok
}
