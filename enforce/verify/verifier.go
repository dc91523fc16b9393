package verify

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
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

	Client   *http.Client     // reads lists and directories; redirects and cookies are not left to it. nil: one of the Verifier's own
	Storage  Storage          // keeps copies over a restart. nil: none does
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
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Start begins to read lists and directories and to ask DNS. Calling it again does nothing.
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
		v.running.Go(func() { s.run(v.ctx, v.env) })
	}
	for _, s := range v.directories {
		v.running.Go(func() { s.run(v.ctx, v.env) })
	}
}

// Close ends all work and waits until it has ended. Claims are still judged by what is known, which no longer changes.
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

// list returns the one source of the list at address, and starts to read it where the Verifier has started.
func (v *Verifier) list(address string) (*source[*list], error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	return register(v, v.lists, address, func() *source[*list] {
		return &source[*list]{address: address, kind: ListSource, accept: "application/json, text/plain;q=0.9, */*;q=0.5", parse: parseList}
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
	return register(v, v.directories, address, func() *source[*directory] {
		return &source[*directory]{address: address, kind: DirectorySource, accept: directoryAccept, parse: directoryParser(refused)}
	})
}

func register[T content](v *Verifier, sources map[string]*source[T], address string, make func() *source[T]) (*source[T], error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := sources[address]; s != nil {
		return s, nil
	}
	if len(v.lists)+len(v.directories) >= maxSources {
		return nil, fmt.Errorf("more than %d lists and directories", maxSources)
	}
	s := make()
	sources[address] = s
	if v.started && !v.closed {
		v.running.Go(func() { s.run(v.ctx, v.env) })
	}
	return s, nil
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
