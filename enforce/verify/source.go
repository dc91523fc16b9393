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

// FreshPeriod is how long a list can refute claims after a read last found it to
// be current. An older list can only confirm claims.
const FreshPeriod = 3 * 24 * time.Hour

// Intervals between reads of a list or directory.
const (
	refreshInterval = 6 * time.Hour
	refreshJitter   = 30 * time.Minute // a random part of it is subtracted from the interval
	firstRetry      = time.Minute      // the delay after a failed read; it doubles with each further failure, up to refreshInterval

	// A new document is compared with the copy in use only until comparePeriod after the last successful read. After that, a list with
	// far fewer addresses is accepted, because its operator may really have given them up.
	comparePeriod = 7 * 24 * time.Hour
)

// content is the parsed content of a document: a list or a directory.
type content interface{ entries() int }

// document is the copy of a list or directory that is in use. It is immutable.
type document[T content] struct {
	value T
	info  copyInfo
}

// source is a list or directory that is read regularly. If a read fails, the last good copy stays in use.
type source[T content] struct {
	address string // the URL
	kind    SourceKind
	accept  string // the field Accept
	// parse parses a document. old is the content in use, nil if there is none. If it returns an error, old stays in use.
	parse func(r *response, old T, now time.Time) (T, error)

	current  atomic.Pointer[document[T]]
	failures atomic.Int32
	reading  sync.Mutex // held during a read
	restored bool       // guarded by reading

	users int                // crawlers of open Checkers that use it; guarded by Verifier.mu
	end   context.CancelFunc // ends run; nil before the Verifier starts; guarded by Verifier.mu
}

// environment has what all sources of a Verifier share.
type environment struct {
	fetcher  *fetcher
	storage  Storage // nil: copies are kept in memory only
	observer Observer
	now      func() time.Time
	slots    chan struct{} // its capacity is the maximum number of reads at the same time
}

// fresh reports whether the copy in use was read or confirmed at most FreshPeriod before now. For requests in log files, now can be before the
// read: then it reports whether the read was at most FreshPeriod after now.
func (h *document[T]) fresh(now time.Time) bool { return now.Sub(h.info.Read).Abs() <= FreshPeriod }

func (s *source[T]) state() SourceState {
	state := SourceState{Kind: s.kind, URL: s.address, Failures: int(s.failures.Load())}
	if h := s.current.Load(); h != nil {
		state.Entries, state.Read = h.value.entries(), h.info.Read
	}
	return state
}

// run reads the document regularly until ctx ends.
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

// untilNextRead returns the delay until the next read. It is random within limits, so that the servers of a fleet do not all read at once.
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

// restore loads the stored copy. Only the first call has an effect.
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
			env.observer.StorageFailed(s.address, fmt.Errorf("loading the stored copy: %w", err))
		}
		return
	}
	s.current.Store(&document[T]{value, *info})
}

// read reads the document once. After an error the copy in use is unchanged.
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

// next reads the document and returns the copy to use from now on. It also returns the body if that is new.
func (s *source[T]) next(ctx context.Context, env *environment, old *document[T]) (*document[T], []byte, error) {
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
			return nil, nil, errors.New("status 304 (not modified), but there is no copy in use")
		}
		next := *old
		next.info.Read = now
		return &next, nil, nil
	}
	if old != nil && now.Sub(old.info.Read) > comparePeriod {
		value = *new(T)
	}
	value, err = s.parse(res, value, now)
	if err != nil {
		return nil, nil, err
	}
	return &document[T]{value, copyInfo{
		URL: s.address, Read: now, ETag: res.etag, LastModified: res.lastModified, MediaType: res.mediaType, SHA256: digest(res.body),
	}}, res.body, nil
}
