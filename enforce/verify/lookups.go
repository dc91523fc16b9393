package verify

import (
	"context"
	"hash/maphash"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Limits of lookups. Each set of suffixes has places of its own, so many claims to be one crawler do not delay the lookups for others.
const (
	setQueue      = 64 // lookups of a set of suffixes that wait or run
	setWorkers    = 8  // lookups of a set of suffixes that run at a time
	maxSuffixSets = 4096
)

// suffixSet is a set of suffixes of host names. Crawlers with the same suffixes share it.
type suffixSet struct {
	id       uint32
	suffixes []string
	queued   atomic.Int32  // lookups that wait or run
	places   chan struct{} // for those that run
}

// lookups queries DNS in the background.
type lookups struct {
	config *Config
	cache  *cache
	places chan struct{} // for lookups of all sets that run

	mu      sync.Mutex
	sets    map[string]*suffixSet // by the sorted suffixes, with spaces between
	ctx     context.Context       // of the lookups; nil before the first one may begin
	running background.Group
}

func newLookups(c *Config) *lookups {
	return &lookups{config: c, cache: newCache(), places: make(chan struct{}, dnsConcurrency), sets: make(map[string]*suffixSet)}
}

// set returns the set of these suffixes, and adds it if it is new; nil if there are maxSuffixSets others.
func (l *lookups) set(suffixes []string) *suffixSet {
	normal := make([]string, len(suffixes))
	for i, s := range suffixes {
		normal[i] = normalName(s)
	}
	slices.Sort(normal)
	normal = slices.Compact(normal)
	key := strings.Join(normal, " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sets[key]
	if s == nil && len(l.sets) < maxSuffixSets {
		s = &suffixSet{id: uint32(len(l.sets)) + 1, suffixes: normal, places: make(chan struct{}, setWorkers)}
		l.sets[key] = s
	}
	return s
}

// start lets lookups begin, until ctx ends.
func (l *lookups) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
}

// enqueue begins a lookup, unless the same one waits or runs. It drops the lookup if there are too many.
func (l *lookups) enqueue(s *suffixSet, addr netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := l.cache.key(s.id, addr)
	switch {
	case l.ctx == nil || l.ctx.Err() != nil:
	case s.queued.Load() >= setQueue:
		l.config.Observer.LookupDropped()
	case l.cache.reserve(key):
		s.queued.Add(1)
		l.running.Go("verify: a DNS lookup", func() {
			defer s.queued.Add(-1)
			defer l.cache.release(key)
			l.check(s, addr, key)
		})
	}
}

// check does one lookup, when there is a place for it, and stores its answer.
func (l *lookups) check(s *suffixSet, addr netip.Addr, key uint64) {
	for _, places := range []chan struct{}{s.places, l.places} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-l.ctx.Done():
			return
		}
	}
	begin := l.config.Now()
	f := checkReverse(l.ctx, l.config.Resolver, addr, s.suffixes)
	if l.ctx.Err() != nil {
		return
	}
	now := l.config.Now()
	l.cache.put(key, f.answer, now)
	l.config.Observer.Lookup(addr, s.suffixes, states[f.answer], now.Sub(begin), f.err)
}

// end calls cancel, which ends the context of start, and waits until no lookup runs.
func (l *lookups) end(cancel context.CancelFunc) {
	l.mu.Lock() // no lookup begins meanwhile
	cancel()
	l.mu.Unlock()
	l.running.Wait()
}

// states are the states for Observer.Lookup.
var states = [...]claim.State{confirmed: claim.Verified, refuted: claim.Impostor, failed: claim.Unverified}

// lifetimes are those of DNS answers.
var lifetimes = [...]time.Duration{confirmed: 24 * time.Hour, refuted: time.Hour, failed: 5 * time.Minute}

// confirmedRefresh is when a confirmed address is looked up again: when less of its lifetime is left, so that it stays verified during an
// outage of DNS.
const confirmedRefresh = 6 * time.Hour

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

// cache stores DNS answers. Each kind of answer has its own table, so that no number of refuted or failed addresses can displace a
// confirmed one. It is safe for concurrent use.
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

// left returns how many seconds an answer can still be used. For requests in log files,
// now can be long before the lookup.
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
	c.answers[a].add(key).Store(now.Add(lifetimes[a]).Unix())
	for other := confirmed; other <= failed && a != failed; other++ {
		if other != a {
			c.answers[other].Remove(key)
		}
	}
}
