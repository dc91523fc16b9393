package enforce

import (
	"sync/atomic"
	"time"
)

// smallRecent is the size of the tables that one engine does not share.
const smallRecent = 1 << 12

// Recent remembers recent events, such as that a crawler read the robots.txt of
// a host. An event is identified by a 64-bit hash, its key. A Recent has a
// fixed size of 8 octets per event. Its times are exact to two minutes. It is
// safe for concurrent use, takes no lock, and allocates nothing after
// NewRecent.
//
// If there is no room for an event, the oldest of the eight events in the same
// bucket is forgotten. Two different keys are taken for the same with a
// probability of about 2^-38. The caller must tolerate both errors.
type Recent struct {
	slots []atomic.Uint64 // sets of recentWays slots; each slot has a part of the key, and a time
}

const (
	recentWays    = 8  // slots of a set: one cache line
	recentTime    = 22 // bits of a slot that hold the time
	recentMask    = 1<<recentTime - 1
	recentSeconds = 120 // resolution
)

// NewRecent returns a Recent for size events, rounded up to a power of two.
func NewRecent(size int) *Recent {
	n := recentWays
	for n < size {
		n *= 2
	}
	return &Recent{slots: make([]atomic.Uint64, n)}
}

// stamp returns now in units of recentSeconds, cut to recentTime bits. It never
// returns 0, because 0 marks an empty slot.
func stamp(now time.Time) uint64 {
	return max(1, uint64(now.Unix()/recentSeconds)&recentMask)
}

func (r *Recent) set(key uint64) []atomic.Uint64 {
	i := int(key&uint64(len(r.slots)/recentWays-1)) * recentWays
	return r.slots[i : i+recentWays : i+recentWays]
}

// Mark records that the event with this key happens now.
func (r *Recent) Mark(key uint64, now time.Time) {
	set, at := r.set(key), stamp(now)
	value := key&^recentMask | at
	var oldest *atomic.Uint64
	most := uint64(0)
	for i := range set {
		v := set[i].Load()
		if v&^recentMask == key&^recentMask && v != 0 {
			set[i].CompareAndSwap(v, value)
			return
		}
		age := (at - v) & recentMask
		if v == 0 {
			age = recentMask + 1
		}
		if age >= most {
			oldest, most = &set[i], age
		}
	}
	oldest.Store(value)
}

// Seen reports whether Mark was called for the event with this key in the period
// that ends now and lasts within. An event with a time after now counts as not
// seen: the clock was set back.
func (r *Recent) Seen(key uint64, now time.Time, within time.Duration) bool {
	set, at := r.set(key), stamp(now)
	for i := range set {
		if v := set[i].Load(); v != 0 && v&^recentMask == key&^recentMask {
			if (at-v)&recentMask <= uint64(within/(recentSeconds*time.Second)) {
				return true
			}
		}
	}
	return false
}
