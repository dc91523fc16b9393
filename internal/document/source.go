package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"io/fs"
	"math/rand/v2"
	"path"
	"sync"
	"sync/atomic"
	"time"
)

// Intervals between reads of a document.
const (
	RefreshInterval = 6 * time.Hour
	storeRetry      = 10 * time.Minute // for a copy that could not be stored
	refreshJitter   = 30 * time.Minute // a random part of it is subtracted from RefreshInterval
	// The delay after a failed read, with a copy and while there is none: then the network may not
	// be up yet. It doubles with each further failure, up to RefreshInterval.
	firstRetry, firstRetryWithout = time.Minute, time.Second
)

// Source is a document that is read regularly. If a read fails, the last good copy
// stays in use. The methods are safe for concurrent use.
type Source[T any] struct {
	URL    string
	Accept string // the request field; may be empty

	NoRedirect bool // a redirect is an error

	// Parse parses a document that was read at the time now. old is the copy in
	// use, nil if there is none. If it returns an error, old stays in use.
	Parse func(r *Response, old *Copy[T], now time.Time) (T, error)

	// ParseAlways makes Parse parse a document again that has not changed, because
	// the result depends on more than the document. (A document is never parsed
	// again if the server answers that it is not modified.)
	ParseAlways bool

	current  atomic.Pointer[Copy[T]]
	failures atomic.Int32
	unstored atomic.Pointer[error]
	reading  sync.Mutex // held during a read
	restored bool       // guarded by reading
}

// Copy is a good copy of a document. It is immutable.
type Copy[T any] struct {
	Value T
	about description
}

// Read returns when a read last found that the copy is current.
func (c *Copy[T]) Read() time.Time { return c.about.Read }

// Copy returns the copy in use, nil if there is none.
func (s *Source[T]) Copy() *Copy[T] { return s.current.Load() }

// Failures returns the number of failed reads since the last successful one.
func (s *Source[T]) Failures() int { return int(s.failures.Load()) }

// StorageError returns why the stored copy could not be loaded or stored, until it is
// stored; nil if nothing failed.
func (s *Source[T]) StorageError() error {
	if err := s.unstored.Load(); err != nil {
		return *err
	}
	return nil
}

// Run reads the document regularly until ctx ends, and calls fetched after each
// read. err is nil if the copy in use is current, and changed is whether it has
// another value than before. The first read is at once, unless there is a copy.
func (s *Source[T]) Run(ctx context.Context, r *Reader, fetched func(changed bool, err error)) {
	s.Restore(ctx, r)
	s.failures.Store(0)
	timer := time.NewTimer(s.untilNextRead(r.Now()))
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
		case r.slots <- struct{}{}:
		}
		changed, err := s.read(ctx, r)
		<-r.slots
		if ctx.Err() != nil {
			return
		}
		fetched(changed, err)
		timer.Reset(s.untilNextRead(r.Now()))
	}
}

// untilNextRead returns the delay until the next read. It is random within limits,
// so that the servers of a fleet do not all read at once.
func (s *Source[T]) untilNextRead(now time.Time) time.Duration {
	n, c, first := s.failures.Load(), s.current.Load(), firstRetry
	if c == nil {
		first = firstRetryWithout
	}
	switch {
	case n > 0:
		wait := min(first<<min(n-1, 16), RefreshInterval)
		return wait - rand.N(wait/4)
	case c == nil:
		return 0
	}
	wait := max(0, RefreshInterval-now.Sub(c.Read()).Abs()-rand.N(refreshJitter))
	if s.StorageError() != nil {
		wait = min(wait, storeRetry-rand.N(storeRetry/4))
	}
	return wait
}

// Fetch returns the copy in use, after reading the document if there is no copy or
// the copy is older than RefreshInterval. An error means that the read failed; the
// copy may still be usable.
func (s *Source[T]) Fetch(ctx context.Context, r *Reader) (*Copy[T], error) {
	s.Restore(ctx, r)
	if c := s.current.Load(); c != nil && r.Now().Sub(c.Read()).Abs() < RefreshInterval {
		return c, nil
	}
	_, err := s.read(ctx, r)
	return s.current.Load(), err
}

// Restore puts the stored copy in use if there is none in use. Only the first call
// has an effect. It reports whether it put a copy in use.
func (s *Source[T]) Restore(ctx context.Context, r *Reader) bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.restored || r.kept.Load() == nil {
		return false
	}
	s.restored = true
	if s.current.Load() != nil {
		return false
	}
	about, body, err := r.load(ctx, s.URL)
	if err == nil && body == nil {
		return false
	}
	var value T
	if err == nil {
		if now := r.Now(); about.Read.After(now) {
			about.Read = now
		}
		value, err = s.Parse(&Response{Body: body, MediaType: about.MediaType}, nil, about.Read)
	}
	switch {
	case err == nil:
		s.current.Store(&Copy[T]{value, about})
	case ctx.Err() == nil:
		s.unstored.Store(new(fmt.Errorf("loading the stored copy: %w", err)))
	}
	return err == nil
}

// read reads the document once. After an error the copy in use is unchanged.
func (s *Source[T]) read(ctx context.Context, r *Reader) (changed bool, err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	old := s.current.Load()
	var next *Copy[T]
	var body []byte
	err = background.Try("a document", func() (err error) {
		next, body, changed, err = s.next(ctx, r, old)
		return err
	})
	if err != nil {
		s.failures.Add(1)
		return false, err
	}
	s.failures.Store(0)
	s.current.Store(next)
	if r.kept.Load() != nil {
		if err := r.store(ctx, &next.about, body); err == nil {
			s.unstored.Store(nil)
		} else if ctx.Err() == nil {
			s.unstored.Store(new(fmt.Errorf("storing the copy: %w", err)))
		}
	}
	return changed, nil
}

// next reads the document and returns the copy to use from now on, and whether it has
// changed. It also returns the body if that must be stored.
func (s *Source[T]) next(ctx context.Context, r *Reader, old *Copy[T]) (c *Copy[T], body []byte, changed bool, err error) {
	var next Copy[T]
	if old != nil {
		next = *old
	}
	client := &r.client
	if s.NoRedirect {
		client = &r.direct
	}
	about, isStored := next.about, s.StorageError() == nil
	if !isStored {
		about = description{} // so that the body comes
	}
	res, err := get(ctx, client, s.URL, s.Accept, about)
	if err != nil {
		return nil, nil, false, err
	}
	now := r.Now()
	if next.about.Read = now; res == nil {
		return &next, nil, false, nil
	}
	sum, field := digest(res.Body), func(name string) string {
		if value := res.Header.Get(name); len(value) <= maxValidator {
			return value
		}
		return ""
	}
	same := old != nil && old.about.SHA256 == sum
	if !same || s.ParseAlways {
		if next.Value, err = s.Parse(res, old, now); err != nil {
			return nil, nil, false, err
		}
	}
	next.about = description{
		URL: s.URL, Read: now, ETag: field("ETag"), LastModified: field("Last-Modified"), MediaType: res.MediaType, SHA256: sum,
	}
	if same && isStored {
		return &next, nil, false, nil
	}
	return &next, res.Body, !same, nil
}

// Storage stores the last good copy of each document, so that a restart does not
// lose it. For a key that does not exist, Load must return an error for which
// errors.Is(err, [fs.ErrNotExist]) is true. A Storage must be safe for concurrent
// use. Caddy's certmagic.Storage implements it.
type Storage interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// storageTimeout is the timeout for loading or storing one copy. Without it, a
// storage that hangs would block all reads.
const storageTimeout = 30 * time.Second

// description describes a copy of a document, even in Storage.
type description struct {
	URL          string    `json:"url"`
	Read         time.Time `json:"read"` // when a read last found the document to be current
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	MediaType    string    `json:"media_type,omitempty"`
	SHA256       string    `json:"sha256"` // of the document, in hexadecimal digits
}

// key returns the key of a copy of address. suffix is .json for the description,
// .txt for the document.
func (r *Reader) key(address, suffix string) string {
	sum := sha256.Sum256([]byte(address))
	return path.Join(r.Folder, hex.EncodeToString(sum[:16])+suffix)
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// load returns the stored copy of address. If there is none, it returns no body
// and no error.
func (r *Reader) load(ctx context.Context, address string) (d description, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	storage := *r.kept.Load()
	text, err := storage.Load(ctx, r.key(address, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	if err != nil {
		return d, nil, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, nil, fmt.Errorf("the stored copy is damaged: %w", err)
	}
	body, err = storage.Load(ctx, r.key(address, ".txt"))
	if err != nil {
		return d, nil, err
	}
	if d.URL != address || d.SHA256 != digest(body) || len(body) > MaxSize {
		return d, nil, errors.New("the stored copy is damaged: the document does not match its description")
	}
	return d, body, nil
}

// store stores a description, and the document unless body is nil. body is nil if
// the stored document is current already.
func (r *Reader) store(ctx context.Context, d *description, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	storage := *r.kept.Load()
	if body != nil {
		if err := storage.Store(ctx, r.key(d.URL, ".txt"), body); err != nil {
			return err
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return storage.Store(ctx, r.key(d.URL, ".json"), text)
}
