package verify

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a Verifier.
const (
	maxSources  = 1000 // lists and directories
	readsAtOnce = 4
)

// Config says how claims are checked. Its fields are not changed after New.
type Config struct {
	Lists, DNS, Signatures bool // which methods are on

	Client   *http.Client     // reads lists and directories; the Verifier handles redirects itself and sends no cookies. nil: a client of the Verifier
	Storage  Storage          // keeps copies over a restart. nil: no copies are kept
	Resolver Resolver         // nil: the system's
	Observer Observer         // nil: none
	Now      func() time.Time // nil: time.Now

	allowTestKeys bool // the keys of RFC 9421, for its vectors
}

// Verifier owns the lists, directories and answers of DNS that claims are checked with. Sites share one. All methods are safe for
// concurrent use.
type Verifier struct {
	config    Config
	env       *environment
	lookups   *lookups
	replays   replays
	transport *http.Transport // nil where the client is the caller's
	places    atomic.Pointer[map[string]*place]

	mu          sync.Mutex
	lists       map[string]*source[*list]
	directories map[string]*source[*directory]
	started     bool
	closed      bool
	ctx         context.Context
	cancel      context.CancelFunc
	running     sync.WaitGroup
}

// New returns a Verifier that does nothing on the network before Start.
func New(config Config) *Verifier {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Observer == nil {
		config.Observer = noObserver{}
	}
	if config.Resolver == nil {
		config.Resolver = net.DefaultResolver
	}
	v := &Verifier{
		config: config, lists: make(map[string]*source[*list]), directories: make(map[string]*source[*directory]),
	}
	client := config.Client
	if client == nil {
		v.transport = newTransport()
		client = &http.Client{Transport: v.transport}
	}
	v.env = &environment{
		fetcher: newFetcher(client), storage: config.Storage, observer: config.Observer, now: config.Now,
		slots: make(chan struct{}, readsAtOnce),
	}
	v.lookups = newLookups(v.env, config.Resolver)
	v.replays.cache = v.lookups.cache
	v.places.Store(&map[string]*place{})
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Start begins to read lists and directories and to ask DNS. Calling it again
// has no effect.
func (v *Verifier) Start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.started || v.closed {
		return
	}
	v.started = true
	for range dnsConcurrency {
		v.running.Go(func() { v.lookups.work(v.ctx) })
	}
	for _, s := range v.lists {
		begin(v, s)
	}
	for _, s := range v.directories {
		begin(v, s)
	}
}

// begin has a source read until it is released or the Verifier is closed. It is called with mu held.
func begin[T content](v *Verifier, s *source[T]) {
	ctx, cancel := context.WithCancel(v.ctx)
	s.end = cancel
	v.running.Go(func() { s.run(ctx, v.env) })
}

// Close stops all background work and waits for its end. Claims are still
// judged, by the data at hand, which no longer changes.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.cancel()
	v.running.Wait()
	if v.transport != nil {
		v.transport.CloseIdleConnections()
	}
}

// list returns the one source of the list at address, and starts to read it where the Verifier has started. It is released when the
// Checker that uses it is closed.
func (v *Verifier) list(address string) (*source[*list], error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	return acquire(v, v.lists, &source[*list]{
		address: address, kind: ListSource, accept: "application/json, text/plain;q=0.9, */*;q=0.5", parse: parseList,
	})
}

func (v *Verifier) directory(agent string) (*source[*directory], error) {
	address, err := directoryURL(agent)
	if err != nil {
		return nil, err
	}
	refused := testKeys
	if v.config.allowTestKeys {
		refused = nil
	}
	return acquire(v, v.directories, &source[*directory]{
		address: address, kind: DirectorySource, accept: directoryAccept, parse: directoryParser(refused),
	})
}

// acquire returns the source at the address of s, which is s where there was none.
func acquire[T content](v *Verifier, sources map[string]*source[T], s *source[T]) (*source[T], error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := sources[s.address]; known != nil {
		known.users++
		return known, nil
	}
	if len(v.lists)+len(v.directories) >= maxSources {
		return nil, fmt.Errorf("more than %d lists and directories", maxSources)
	}
	s.users = 1
	sources[s.address] = s
	if v.started && !v.closed {
		begin(v, s)
	}
	return s, nil
}

// release gives up a use of s. Without any, it is no longer read.
func release[T content](v *Verifier, sources map[string]*source[T], s *source[T]) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	delete(sources, s.address)
	if s.end != nil {
		s.end()
	}
}

// Sources returns the states of all lists and directories, in no order.
func (v *Verifier) Sources() []SourceState {
	v.mu.Lock()
	defer v.mu.Unlock()
	states := make([]SourceState, 0, len(v.lists)+len(v.directories))
	for _, s := range v.lists {
		states = append(states, s.state())
	}
	for _, s := range v.directories {
		states = append(states, s.state())
	}
	return states
}

// Stats is what the cache of DNS answers holds.
type Stats struct {
	Confirmed, Refuted, Failed int // addresses
	InFlight                   int // lookups queued or under way
}

// Stats counts what the cache holds now.
func (v *Verifier) Stats() Stats {
	n, pending := v.lookups.cache.counts(v.config.Now())
	return Stats{Confirmed: n[yes], Refuted: n[no], Failed: n[failed], InFlight: pending}
}
