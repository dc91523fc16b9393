package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// FreshPeriod is how long a list can refute claims after it was last found to
// be current. An older list can only confirm them.
const FreshPeriod = 3 * 24 * time.Hour

// Times of a list or directory.
const (
	refreshInterval = 6 * time.Hour
	refreshJitter   = 30 * time.Minute // taken off the interval at random
	firstRetry      = time.Minute      // doubled with each failure, up to refreshInterval

	// settlePeriod is after which a document is no longer compared with a copy that no read has confirmed since: an operator who gives
	// up most of the addresses must not be distrusted for ever.
	settlePeriod = 7 * 24 * time.Hour
)

// content is what a document holds: addresses or keys.
type content interface{ entries() int }

// held is a document in use. It is immutable.
type held[T content] struct {
	value T
	info  copyInfo
}

// source is a document that is read again and again. Its last good copy stays in use whatever the reads bring.
type source[T content] struct {
	address string // its URL
	kind    SourceKind
	accept  string
	// parse reads a document. old is the copy in use, nil without one. A document that it refuses changes nothing.
	parse func(r *response, old T, now time.Time) (T, error)

	current  atomic.Pointer[held[T]]
	failures atomic.Int32
	reading  sync.Mutex // one read at a time
	restored bool       // guarded by reading

	users int                // Checkers that use it, as often as they do; guarded by Verifier.mu
	end   context.CancelFunc // ends run; nil before; guarded by Verifier.mu
}

// environment is what all sources of a Verifier share.
type environment struct {
	fetcher  *fetcher
	storage  Storage // nil: copies are kept in memory only
	observer Observer
	now      func() time.Time
	slots    chan struct{} // reads at a time
}

// fresh reports whether the copy in use was found to be current in the 3 days before now, or, where now is a time of the past, after it.
func (h *held[T]) fresh(now time.Time) bool { return now.Sub(h.info.Read).Abs() <= FreshPeriod }

func (s *source[T]) state() SourceState {
	state := SourceState{Kind: s.kind, URL: s.address, Failures: int(s.failures.Load())}
	if h := s.current.Load(); h != nil {
		state.Entries, state.Read = h.value.entries(), h.info.Read
	}
	return state
}

// run keeps the document current until ctx ends.
func (s *source[T]) run(ctx context.Context, env *environment) {
	s.restore(ctx, env)
	timer := time.NewTimer(s.untilNextRead(env.now()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			return
		case env.slots <- struct{}{}:
		}
		err := s.read(ctx, env)
		<-env.slots
		if ctx.Err() != nil {
			return
		}
		env.observer.SourceRead(s.state(), err)
		timer.Reset(s.untilNextRead(env.now()))
	}
}

// untilNextRead returns how long to wait for the next read, with jitter, so that the servers of a fleet do not ask all at once.
func (s *source[T]) untilNextRead(now time.Time) time.Duration {
	if n := s.failures.Load(); n > 0 {
		wait := min(firstRetry<<min(n-1, 16), refreshInterval)
		return wait - rand.N(wait/4)
	}
	h := s.current.Load()
	if h == nil {
		return 0
	}
	return max(0, refreshInterval-now.Sub(h.info.Read)-rand.N(refreshJitter))
}

// restore takes the stored copy, once.
func (s *source[T]) restore(ctx context.Context, env *environment) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.restored || env.storage == nil {
		return
	}
	s.restored = true
	info, body, err := loadCopy(ctx, env.storage, s.address)
	if err == nil && info == nil {
		return
	}
	var value T
	if err == nil {
		if now := env.now(); info.Read.After(now) {
			info.Read = now
		}
		value, err = s.parse(&response{body: body, mediaType: info.MediaType}, value, info.Read)
	}
	if err != nil {
		if ctx.Err() == nil {
			env.observer.StorageFailed(s.address, fmt.Errorf("loading the last copy: %w", err))
		}
		return
	}
	s.current.Store(&held[T]{value, *info})
}

// read reads the document once. On an error the copy in use stays.
func (s *source[T]) read(ctx context.Context, env *environment) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	old := s.current.Load()
	next, body, err := s.next(ctx, env, old)
	if err != nil {
		s.failures.Add(1)
		return err
	}
	s.failures.Store(0)
	s.current.Store(next)
	if env.storage != nil {
		if err := storeCopy(ctx, env.storage, &next.info, body); err != nil && ctx.Err() == nil {
			env.observer.StorageFailed(s.address, fmt.Errorf("storing the copy: %w", err))
		}
	}
	return nil
}

// next returns the copy to use from now on, and the body where it is new.
func (s *source[T]) next(ctx context.Context, env *environment, old *held[T]) (*held[T], []byte, error) {
	var etag, lastModified string
	var value T
	if old != nil {
		etag, lastModified, value = old.info.ETag, old.info.LastModified, old.value
	}
	res, err := env.fetcher.get(ctx, s.address, s.accept, etag, lastModified)
	if err != nil {
		return nil, nil, err
	}
	now := env.now()
	if res.notModified {
		if old == nil {
			return nil, nil, errors.New("status 304, but there is no copy that could be current")
		}
		next := *old
		next.info.Read = now
		return &next, nil, nil
	}
	if old != nil && now.Sub(old.info.Read) > settlePeriod {
		value = *new(T)
	}
	value, err = s.parse(res, value, now)
	if err != nil {
		return nil, nil, err
	}
	return &held[T]{value, copyInfo{
		URL: s.address, Read: now, ETag: res.etag, LastModified: res.lastModified, MediaType: res.mediaType, SHA256: digest(res.body),
	}}, res.body, nil
}
