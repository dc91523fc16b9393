package verify

import (
	"hash/maphash"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
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

// suffixSet returns the set of these suffixes, and adds it if it is new; nil if there are maxSuffixSets others.
func (v *Verifier) suffixSet(suffixes []string) *suffixSet {
	normal := make([]string, len(suffixes))
	for i, s := range suffixes {
		normal[i] = normalName(s)
	}
	slices.Sort(normal)
	normal = slices.Compact(normal)
	key := strings.Join(normal, " ")
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.sets[key]
	if s == nil && len(v.sets) < maxSuffixSets {
		s = &suffixSet{id: uint32(len(v.sets)) + 1, suffixes: normal, places: make(chan struct{}, setWorkers)}
		v.sets[key] = s
	}
	return s
}

// enqueue begins a lookup in the background. It drops the lookup if there are too many.
func (v *Verifier) enqueue(s *suffixSet, addr netip.Addr, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := v.answers.key(s.id, addr)
	switch {
	case !v.started || v.closed:
	case s.queued.Load() >= setQueue:
		v.config.Observer.LookupDropped()
	case v.answers.reserve(key, now):
		s.queued.Add(1)
		v.running.Go("verify: a DNS lookup", func() {
			defer s.queued.Add(-1)
			v.lookUp(s, addr, key)
		})
	}
}

// lookUp does one lookup, when there is a place for it, and stores its answer.
func (v *Verifier) lookUp(s *suffixSet, addr netip.Addr, key uint64) {
	for _, places := range []chan struct{}{s.places, v.places} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-v.ctx.Done():
			return
		}
	}
	begin := v.config.Now()
	f := checkReverse(v.ctx, v.config.Resolver, addr, s.suffixes)
	if v.ctx.Err() != nil {
		return
	}
	now := v.config.Now()
	v.answers.put(key, f.answer, now)
	v.config.Observer.Lookup(addr, s.suffixes, states[f.answer], now.Sub(begin), f.err)
}

// states are the states for Observer.Lookup.
var states = [...]claim.State{confirmed: claim.Verified, refuted: claim.Impostor, failed: claim.Unverified}

// lifetimes are those of DNS answers.
var lifetimes = [...]time.Duration{confirmed: 24 * time.Hour, refuted: time.Hour, failed: 5 * time.Minute}

// confirmedRefresh is when a confirmed address is looked up again: when less of its lifetime is left, so that it stays verified during an
// outage of DNS.
const confirmedRefresh = 6 * time.Hour

// maxAnswers is the number of addresses in the cache. A full table takes 33 octets for each.
const maxAnswers = 98_304

// answer is the result of a DNS lookup of an address.
type answer uint8

const (
	noAnswer  answer = iota // the cache has none
	confirmed               // it belongs to the crawler
	refuted                 // it does not
	failed                  // DNS gave no usable answer
)

// cache stores DNS answers. It is safe for concurrent use.
type cache struct {
	seed    maphash.Seed
	answers *table.Table[cached]
}

// cached is an answer and the time at which it expires, in seconds since 1970, times four.
type cached struct {
	atomic.Int64
	next atomic.Int64 // the next lookup does not begin before, in seconds since 1970
}

// load returns the answer, and how many seconds it can still be used. For requests in log files, now can be long before the lookup.
func (c *cached) load(now time.Time) (a answer, left int64) {
	value := c.Load()
	return answer(value & 3), value>>2 - now.Unix()
}

// worth puts confirmed addresses first, so that no number of refuted or failed ones can displace one.
func (c *cached) worth() int64 {
	value := c.Load()
	if answer(value&3) == confirmed {
		value |= 1 << 62
	}
	return value
}

func newCache() *cache {
	return &cache{seed: maphash.MakeSeed(), answers: table.New[cached](maxAnswers)}
}

// key identifies an address and the suffix set with which it is checked.
func (c *cache) key(set uint32, addr netip.Addr) uint64 {
	octets := addr.As16()
	return maphash.Bytes(c.seed, octets[:]) ^ uint64(set)*0x9e3779b97f4a7c15
}

// get returns the cached answer, and whether the address should be looked up again.
func (c *cache) get(key uint64, now time.Time) (a answer, refresh bool) {
	known := c.answers.Get(key)
	if known == nil {
		return noAnswer, true
	}
	a, left := known.load(now)
	if left <= 0 {
		a = noAnswer
	}
	isDue := a == noAnswer || a == confirmed && left < int64(confirmedRefresh/time.Second)
	return a, isDue && !isAhead(known.next.Load(), now)
}

// isAhead reports whether the next lookup does not begin now. A time far ahead is from before the clock was set back.
func isAhead(next int64, now time.Time) bool {
	left := next - now.Unix()
	return left > 0 && left <= int64(lifetimes[failed]/time.Second)
}

// reserve marks a lookup as begun. It returns false if one of the same key began less than five minutes ago.
func (c *cache) reserve(key uint64, now time.Time) bool {
	known := c.answers.Add(key, (*cached).worth, nil)
	before := known.next.Load()
	return !isAhead(before, now) && known.next.CompareAndSwap(before, now.Add(lifetimes[failed]).Unix())
}

// put stores the answer of a lookup. A failed lookup does not replace another answer.
func (c *cache) put(key uint64, a answer, now time.Time) {
	known := c.answers.Add(key, (*cached).worth, nil)
	if before, left := known.load(now); a != failed || before == failed || left <= 0 {
		known.Store(now.Add(lifetimes[a]).Unix()<<2 | int64(a))
	}
}
