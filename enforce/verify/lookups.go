package verify

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Limits of lookups. Each set of suffixes has a queue of its own, so many claims to be one crawler do not delay the lookups for others.
const (
	setQueue      = 128 // lookups of a set of suffixes that wait
	setWorkers    = 8   // lookups of a set of suffixes at a time
	maxSuffixSets = 4096
)

// suffixSet is a set of suffixes of host names. Crawlers with the same suffixes share it.
type suffixSet struct {
	id       uint32
	suffixes []string
	queue    chan netip.Addr
	ready    atomic.Bool  // it is in lookups.ready and waits for a worker
	running  atomic.Int32 // workers that serve it
}

// lookups queries DNS in the background. A fixed number of workers serve the
// sets of suffixes in turn.
type lookups struct {
	config *Config
	cache  *cache
	ready  chan *suffixSet

	mu   sync.Mutex
	sets map[string]*suffixSet // by the sorted suffixes, with spaces between
}

func newLookups(c *Config) *lookups {
	return &lookups{config: c, cache: newCache(), ready: make(chan *suffixSet, maxSuffixSets), sets: make(map[string]*suffixSet)}
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
		s = &suffixSet{id: uint32(len(l.sets)) + 1, suffixes: normal, queue: make(chan netip.Addr, setQueue)}
		l.sets[key] = s
	}
	return s
}

// enqueue queues a lookup, unless the same one is queued or running. It drops the lookup if the queue is full.
func (l *lookups) enqueue(s *suffixSet, addr netip.Addr) {
	key := l.cache.key(s.id, addr)
	if len(s.queue) == cap(s.queue) || !l.cache.reserve(key) {
		if len(s.queue) == cap(s.queue) {
			l.config.Observer.LookupDropped()
		}
		return
	}
	select {
	case s.queue <- addr:
		l.offer(s)
	default:
		l.cache.release(key)
		l.config.Observer.LookupDropped()
	}
}

// offer gives s to the workers if it has queued lookups and fewer than setWorkers workers.
func (l *lookups) offer(s *suffixSet) {
	if len(s.queue) > 0 && s.running.Load() < setWorkers && s.ready.CompareAndSwap(false, true) {
		l.ready <- s // never blocks: it has room for all sets, each at most once
	}
}

// work does lookups until ctx ends.
func (l *lookups) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-l.ready:
			s.running.Add(1)
			s.ready.Store(false)
			select {
			case addr := <-s.queue:
				l.offer(s)
				l.check(ctx, s, addr)
			default:
			}
			s.running.Add(-1)
			l.offer(s)
		}
	}
}

// check does one lookup and stores its answer.
func (l *lookups) check(ctx context.Context, s *suffixSet, addr netip.Addr) {
	key := l.cache.key(s.id, addr)
	defer l.cache.release(key)
	begin := l.config.Now()
	f := checkReverse(ctx, l.config.Resolver, addr, s.suffixes)
	if ctx.Err() != nil {
		return
	}
	now := l.config.Now()
	l.cache.put(key, f.answer, now)
	l.config.Observer.Lookup(addr, s.suffixes, f.state(), now.Sub(begin), f.err)
}

// state returns the state for Observer.Lookup.
func (f *finding) state() State {
	switch f.answer {
	case confirmed:
		return Verified
	case refuted:
		return Impostor
	}
	return Unverified
}
