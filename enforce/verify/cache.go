package verify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Lifetimes of DNS answers.
const (
	confirmedLifetime = 24 * time.Hour
	refutedLifetime   = time.Hour
	failedLifetime    = 5 * time.Minute

	// A confirmed address is looked up again when less than confirmedRefresh of its lifetime is left, so that it stays verified during an
	// outage of DNS.
	confirmedRefresh = 6 * time.Hour
)

// Numbers of addresses in the cache, by answer. A full table takes 25 octets for each.
const (
	maxConfirmed = 16_384
	maxRefuted   = 65_536
	maxFailed    = 16_384
	maxPending   = 16_384
)

// answer is the result of a DNS lookup of an address.
type answer uint8

const (
	noAnswer  answer = iota // the cache has none
	confirmed               // it belongs to the crawler
	refuted                 // it does not
	failed                  // DNS gave no usable answer
)

// expiries has the time at which each key expires, in seconds since 1970.
type expiries struct{ *table.Table[atomic.Int64] }

func newExpiries(size int) expiries { return expiries{table.New[atomic.Int64](size)} }

// add returns the time at which a key expires, 0 if it is new. A new key displaces one that expires soon.
func (e expiries) add(key uint64) *atomic.Int64 { return e.Add(key, (*atomic.Int64).Load, nil) }

// cache stores DNS answers. Each kind of answer has its own table, so that no number of refuted or failed addresses can displace a confirmed
// one. It is safe for concurrent use.
type cache struct {
	seed    maphash.Seed
	answers [failed + 1]expiries   // by answer
	pending *table.Table[struct{}] // lookups that are queued or running
}

func newCache() *cache {
	return &cache{
		seed:    maphash.MakeSeed(),
		answers: [...]expiries{confirmed: newExpiries(maxConfirmed), refuted: newExpiries(maxRefuted), failed: newExpiries(maxFailed)},
		pending: table.New[struct{}](maxPending),
	}
}

// key identifies an address and the suffix set with which it is checked.
func (c *cache) key(set uint32, addr netip.Addr) uint64 {
	octets := addr.As16()
	return maphash.Bytes(c.seed, octets[:]) ^ uint64(set)*0x9e3779b97f4a7c15
}

// get returns the cached answer, and whether the address should be looked up again.
func (c *cache) get(key uint64, now time.Time) (_ answer, refresh bool) {
	for a := confirmed; a <= failed; a++ {
		left := c.left(a, key, now)
		if left <= 0 {
			continue
		}
		return a, a == confirmed && left < int64(confirmedRefresh/time.Second) && c.left(failed, key, now) <= 0
	}
	return noAnswer, true
}

// left returns how many seconds an answer can still be used.
func (c *cache) left(a answer, key uint64, now time.Time) int64 {
	if expires := c.answers[a].Get(key); expires != nil {
		return expires.Load() - now.Unix()
	}
	return 0
}

// reserve marks a lookup as queued. It returns false if one of the same key is queued or running.
func (c *cache) reserve(key uint64) (reserved bool) {
	c.pending.Add(key, func(*struct{}) int64 { return 0 }, func(*struct{}) { reserved = true })
	return reserved
}

// release removes the mark of reserve.
func (c *cache) release(key uint64) { c.pending.Remove(key) }

// put stores the answer of a lookup. A failed lookup does not replace another answer.
func (c *cache) put(key uint64, a answer, now time.Time) {
	lifetime := map[answer]time.Duration{confirmed: confirmedLifetime, refuted: refutedLifetime, failed: failedLifetime}[a]
	c.answers[a].add(key).Store(now.Add(lifetime).Unix())
	for other := confirmed; other <= failed && a != failed; other++ {
		if other != a {
			c.answers[other].Remove(key)
		}
	}
}

// counts returns the number of stored addresses by answer, and the number of lookups that are queued or running.
func (c *cache) counts(now time.Time) (n [failed + 1]int, pending int) {
	for a := confirmed; a <= failed; a++ {
		for expires := range c.answers[a].All() {
			if expires.Load() > now.Unix() {
				n[a]++
			}
		}
	}
	for range c.pending.All() {
		pending++
	}
	return n, pending
}
