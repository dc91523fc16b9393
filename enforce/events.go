package enforce

import (
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// events remembers recent events, such as that an unverified claim was let through. An
// event is identified by a 64-bit hash, its key. It has a
// fixed size, with 25 octets for each event. Its times are exact to a minute. It
// is safe for concurrent use.
//
// If there is no room for an event, the oldest of seven events is forgotten. The
// caller must tolerate that.
type events struct {
	last *table.Table[atomic.Int64] // when each event happened last, in nanoseconds since 1970
}

// timePrecision is the precision of times of events and visits. If each request
// wrote them, processors would have to wait for each other.
const timePrecision = int64(time.Minute)

// newEvents returns an events for size events.
func newEvents(size int) *events { return &events{table.New[atomic.Int64](size)} }

// mark records that the event with this key happens now.
func (r *events) mark(key uint64, now time.Time) {
	last, at := r.last.Add(key, (*atomic.Int64).Load, nil), now.UnixNano()
	if since := at - last.Load(); since >= timePrecision || since <= -timePrecision {
		last.Store(at)
	}
}

// seen reports whether mark was called for the event with this key in the period
// that ends now and lasts within. An event with a time after now counts as not
// seen: the clock was set back.
func (r *events) seen(key uint64, now time.Time, within time.Duration) bool {
	last := r.last.Get(key)
	if last == nil {
		return false
	}
	since := now.UnixNano() - last.Load()
	return since > -timePrecision && since <= int64(within)
}
