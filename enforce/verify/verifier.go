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

// Limits of a Verifier.
const (
	maxSources  = 1000 // lists and directories
	readsAtOnce = 4    // reads at the same time
)

// Config has the settings of a [Verifier].
type Config struct {
	Lists, DNS, Signatures bool // the methods that are on

	Client   *http.Client     // for reads of lists and directories; its CheckRedirect, Timeout and Jar are not used, and a read takes 30 seconds at most. nil: a client of the Verifier's own
	Storage  Storage          // for copies of lists and directories. nil: none are stored
	Resolver Resolver         // nil: net.DefaultResolver
	Observer Observer         // nil: none
	Now      func() time.Time // the clock for ages of copies and answers. nil: time.Now

	allowTestKeys bool // accept the keys of RFC 9421, which test vectors use
}

// Verifier has the lists, the directories and the DNS answers with which claims are checked. All sites of a server can share one. Its methods
// are safe for concurrent use.
type Verifier struct {
	config    Config
	env       *environment
	lookups   *lookups
	replays   replays
	transport *http.Transport // nil if Config.Client is set
	proofs    atomic.Pointer[map[string]*hostProofs]

	mu          sync.Mutex
	lists       map[string]*source[*list]
	directories map[string]*source[*directory]
	started     bool
	closed      bool
	ctx         context.Context
	cancel      context.CancelFunc
	running     sync.WaitGroup
}

// New returns a Verifier. It uses no network before [Verifier.Start], except for [Checker.Explain] and [Checker.LookUp].
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
	v.proofs.Store(&map[string]*hostProofs{})
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Start starts the background work: reads of lists and directories, and DNS
// lookups. Further calls, and calls after Close, have no effect.
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

// begin starts the reads of s, until s is released or v is closed. The caller must hold v.mu.
func begin[T content](v *Verifier, s *source[T]) {
	ctx, cancel := context.WithCancel(v.ctx)
	s.end = cancel
	v.running.Go(func() { s.run(ctx, v.env) })
}

// Close stops all background work and waits for its end. Claims can still be
// checked, with the data that the Verifier has. Further calls have no effect.
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

// list returns the source of the list at address. The caller must release it.
func (v *Verifier) list(address string) (*source[*list], error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	return acquire(v, v.lists, &source[*list]{
		address: address, kind: ListSource, accept: "application/json, text/plain;q=0.9, */*;q=0.5", parse: parseList,
	})
}

// directory returns the source of the agent's directory. The caller must release it.
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

// acquire adds a use of the source at the address of s and returns it. If there is none, it adds s, and starts its reads if v was started.
func acquire[T content](v *Verifier, sources map[string]*source[T], s *source[T]) (*source[T], error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := sources[s.address]; known != nil {
		known.users++
		return known, nil
	}
	if len(v.lists)+len(v.directories) >= maxSources {
		return nil, fmt.Errorf("the crawlers have more than %d lists and directories", maxSources)
	}
	s.users = 1
	sources[s.address] = s
	if v.started && !v.closed {
		begin(v, s)
	}
	return s, nil
}

// release removes a use of s. After the last one, s is no longer read.
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

// Sources returns the states of all lists and directories, in no particular order.
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

// Stats are the numbers of entries in the cache of DNS answers.
type Stats struct {
	Confirmed, Refuted, Failed int // addresses by the answer of the last lookup
	InFlight                   int // lookups that are queued or running
}

// Stats counts the entries of the cache. It reads the whole cache, so do not call it for each request.
func (v *Verifier) Stats() Stats {
	n, pending := v.lookups.cache.counts(v.config.Now())
	return Stats{Confirmed: n[confirmed], Refuted: n[refuted], Failed: n[failed], InFlight: pending}
}
