package throttle

import "time"

// giver is a Limiter that takes back what a request has used.
type giver interface {
	// giveBack reports whether the budgets are as if the request that was accepted at the
	// instant at had not come. They are not if one of them has accepted a later request
	// since. Times are in microseconds since 1970.
	giveBack(now, at int64, uses []Use) bool
}

// GiveBack gives back what a request used that l accepted at the instant at. If one
// of the budgets has accepted a later request since, all stay as they are. l is a
// Memory, a Fleet, or has a method Connected that returns the Fleet.
func GiveBack(l Limiter, now, at time.Time, uses []Use) {
	if c, ok := l.(interface{ Connected() *Fleet }); ok && c.Connected() != nil {
		l = c.Connected()
	}
	if g, ok := l.(giver); ok {
		g.giveBack(now.UnixMicro(), at.UnixMicro(), uses)
	}
}
