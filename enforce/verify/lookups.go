package verify

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Bounds of lookups. A flood of claims to be one crawler delays the lookups of that crawler only.
const (
	setQueue      = 128 // waiting lookups of a set of suffixes
	setWorkers    = 8   // lookups of a set of suffixes at a time
	maxSuffixSets = 4096
)

// suffixSet is a set of suffixes of host names, shared by all crawlers that have the same.
type suffixSet struct {
	id       uint32
	suffixes []string
	queue    chan netip.Addr
	ready    atomic.Bool // waits for a worker
	running  atomic.Int32
}

// lookups asks DNS in the background, with a bounded number of workers that
// serve the sets of suffixes in turn.
type lookups struct {
	env      *environment
	resolver Resolver
	cache    *cache
	ready    chan *suffixSet

	mu   sync.Mutex
	sets map[string]*suffixSet
}

func newLookups(env *environment, resolver Resolver) *lookups {
	return &lookups{
		env: env, resolver: resolver, cache: newCache(), ready: make(chan *suffixSet, maxSuffixSets), sets: make(map[string]*suffixSet),
	}
}

// set returns the one set of these suffixes, nil where there are too many sets.
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

// ask queues a lookup, unless one of the same is queued or under way, or too many are.
func (l *lookups) ask(s *suffixSet, addr netip.Addr) {
	key := makeKey(s.id, addr)
	if len(s.queue) == cap(s.queue) || !l.cache.reserve(key) {
		if len(s.queue) == cap(s.queue) {
			l.env.observer.LookupDropped()
		}
		return
	}
	select {
	case s.queue <- addr:
		l.offer(s)
	default:
		l.cache.release(key)
		l.env.observer.LookupDropped()
	}
}

// offer hands s to the workers where it has work and too few of them.
func (l *lookups) offer(s *suffixSet) {
	if len(s.queue) > 0 && s.running.Load() < setWorkers && s.ready.CompareAndSwap(false, true) {
		l.ready <- s // never blocks: each set is in it once at most
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

func (l *lookups) check(ctx context.Context, s *suffixSet, addr netip.Addr) {
	key := makeKey(s.id, addr)
	defer l.cache.release(key)
	begin := l.env.now()
	f := checkReverse(ctx, l.resolver, addr, s.suffixes)
	if ctx.Err() != nil {
		return
	}
	now := l.env.now()
	l.cache.put(key, f.answer, now)
	l.env.observer.Lookup(addr, s.suffixes, f.state(), now.Sub(begin), f.err)
}

func (f *finding) state() State {
	switch f.answer {
	case yes:
		return Verified
	case no:
		return Impostor
	}
	return Unverified
}
