package challenge

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

const (
	minute = 60
	day    = 24 * 60 * minute // in seconds
)

// memo is what is remembered of an address (IPv4 /32, IPv6 /48), of a client, of a pass, or of a
// crawler's name, at a site. A client is an address (IPv6 /64) with a User-Agent. All times are in
// seconds since 1970.
type memo struct {
	seen atomic.Uint32

	pages bucket // of a pass, a client or a name
	few   bucket // of a pass or a client, while its address has no more
	all   bucket // of an address: of all its passes and known clients

	// When a client showed a sign last, and when the site last saw, while the check was off, that
	// it knows the client.
	sign, known atomic.Uint32
	// Somebody has come with a pass, or was shown a page for it; an address got a style sheet's
	// cookie.
	used atomic.Bool

	mu       sync.Mutex
	embedded uint32 // when an address fetched an embedded file last; 0: never
	// The pages of an address within lonelyFor count in the second of the first of them.
	at    uint32
	lone  int32 // of these, those that an embedded file takes back
	isNew bool  // one of these is that of an address that was never seen before
	taken bool  // an embedded file has taken them back

	since uint32 // when a minute began, with a page
	count int    // of pages in that minute
}

// worth orders memos by the time of the last request.
func (m *memo) worth() int64 { return int64(m.seen.Load()) }

// memo returns what is remembered of something, by its key.
func (m *Memory) memo(key uint64, now uint32) (v *memo, isNew bool) {
	v = m.memos.Get(key)
	isNew = v == nil
	if isNew {
		v = m.memos.Add(key, (*memo).worth, nil)
	}
	if v.seen.Load() != now {
		v.seen.Store(now)
	}
	return v, isNew
}

// passOf returns what is remembered of a pass.
func (m *Memory) passOf(t token, now uint32) *memo {
	v, _ := m.memo(max(1, maphash.Bytes(m.seed, t.id[:])), now)
	return v
}

// isPast reports whether a time is over: not if requests overtake each other, but if the clock
// was set back.
func isPast(begin, now uint32, length int32) bool {
	age := int32(now - begin)
	return age >= length || age <= -length
}

// isKnown reports whether the site knew the client in the day before a time.
func (m *memo) isKnown(since uint32) bool {
	at := m.known.Load()
	return at != 0 && since-at <= day
}

// isSigned reports whether the client has shown a sign in the last 24 hours.
func (m *memo) isSigned(now uint32) bool {
	at := m.sign.Load()
	return at != 0 && int32(now-at) <= day
}

// bucket is a leaky bucket (GCRA). The zero value is empty.
type bucket struct{ until atomic.Int64 }

// take takes a request of a bucket that may have one in every interval, and burst at
// once. It returns how long to wait if there is none.
func (b *bucket) take(now time.Time, interval time.Duration, burst int) (wait time.Duration) {
	at := now.UnixNano()
	for {
		old := b.until.Load()
		until := max(old, at) + int64(interval)
		if old-at > int64(interval)*int64(burst)+int64(throttle.MaxLead) { // the clock was set back
			until = at + int64(interval)
		}
		if over := until - at - int64(interval)*int64(burst); over > 0 {
			return time.Duration(over)
		}
		if b.until.CompareAndSwap(old, until) {
			return 0
		}
	}
}

// giveBack gives a request back.
func (b *bucket) giveBack(interval time.Duration) { b.until.Add(-int64(interval)) }
