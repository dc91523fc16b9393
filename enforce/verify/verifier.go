package verify

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/document"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Config has the settings of a [Verifier].
type Config struct {
	Lists, DNS, Signatures bool // the methods that are on

	// for reads of lists and directories; its CheckRedirect, Timeout and Jar are not used, and a read takes 30 seconds at most. nil: a client
	// of the Verifier's own
	Client   *http.Client
	Resolver Resolver         // nil: the system's
	Observer Observer         // nil: none
	Now      func() time.Time // the clock for ages of copies and answers. nil: time.Now
}

// Verifier has the lists, the directories and the DNS answers with which claims are checked. All sites of a server can share one. Its
// methods are safe for concurrent use.
type Verifier struct {
	config  Config
	reader  *document.Reader
	answers *cache                     // of DNS
	places  chan struct{}              // for lookups of all sets that run
	nonces  *table.Table[atomic.Int64] // when verified signatures expire, in seconds since 1970
	proofs  *table.Table[claim.Proof]

	binding  sync.Mutex
	checkers map[*crawler.Registry]*Checker

	mu              sync.Mutex
	sources         map[string]*source    // by source.key
	sets            map[string]*suffixSet // by the sorted suffixes, with spaces between
	started, closed bool
	ctx             context.Context
	cancel          context.CancelFunc
	running         background.Group
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
	v := &Verifier{config: config, checkers: make(map[*crawler.Registry]*Checker), sources: make(map[string]*source)}
	v.reader = document.NewReader(document.Config{
		Client: config.Client, Folder: "robots/verify", Now: config.Now,
	})
	v.answers, v.places, v.sets = newCache(), make(chan struct{}, dnsConcurrency), make(map[string]*suffixSet)
	v.nonces = table.New[atomic.Int64](maxNonces)
	v.proofs = table.New[claim.Proof](maxProofs)
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Start starts the background work: reads of lists and directories, whose copies are in a storage unless that is nil, and DNS
// lookups. Further calls only change the storage.
func (v *Verifier) Start(storage Storage) {
	if storage != nil {
		v.reader.KeepIn(storage)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.started || v.closed {
		return
	}
	v.started = true
	for _, s := range v.sources {
		v.read(s)
	}
}

// Close stops all background work and waits for its end. Claims can still be
// checked, with the data that the Verifier has. Further calls have no effect.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.closed = true // so no lookup begins
	v.mu.Unlock()
	v.cancel()
	v.running.Wait()
	v.reader.Close()
}

// Sources returns the states of all lists and directories, in no particular order.
func (v *Verifier) Sources() []SourceState {
	v.mu.Lock()
	defer v.mu.Unlock()
	states := make([]SourceState, 0, len(v.sources))
	for _, s := range v.sources {
		states = append(states, s.state())
	}
	return states
}

// SourceKind is the kind of a document that a [Verifier] reads.
type SourceKind string

// The kinds.
const (
	listSource      SourceKind = "list"      // of addresses
	DirectorySource SourceKind = "directory" // of keys
)

// SourceState is the state of a list or a directory.
type SourceState struct {
	Kind     SourceKind
	URL      string
	Entries  int       // prefixes or keys of the copy in use; 0 if there is none
	Read     time.Time // when a read last found the copy to be current; zero if there is none
	Failures int       // failed reads since the last successful one
	Err      error     // of the last read; nil if it succeeded, or there was none

	StorageError error // why the stored copy could not be loaded or stored; nil if nothing failed
}

// Observer receives what happens in the background. Its methods must be safe for
// concurrent use and must not block.
type Observer interface {
	// SourceRead is called after each read of a list or directory. Without s.Err, the copy in use is current.
	SourceRead(s SourceState)
	// Lookup is called after each forward-confirmed reverse DNS lookup. state is Verified, Impostor (the address has no host name, or only
	// names outside suffixes) or Unverified (the lookup failed with err).
	Lookup(addr netip.Addr, suffixes []string, state claim.State, took time.Duration, err error)
	// LookupDropped is called if a lookup was not queued because 64 lookups of addresses with the same suffixes already wait or run.
	LookupDropped()
}

// noObserver ignores everything.
type noObserver struct{}

func (noObserver) SourceRead(SourceState)                                         {}
func (noObserver) Lookup(netip.Addr, []string, claim.State, time.Duration, error) {}
func (noObserver) LookupDropped()                                                 {}

// Storage stores the last good copy of each list and directory, so that a restart does not lose it. Caddy's certmagic.Storage implements
// it.
type Storage = document.Storage

const (
	// FreshPeriod is how long a list can refute claims after a read last found it
	// to be current. An older list can only confirm claims.
	FreshPeriod = 3 * 24 * time.Hour

	// A new list is compared with the copy in use only until comparePeriod after the last successful read. After that, a list with far fewer
	// addresses is accepted, because its operator may really have given them up.
	comparePeriod = 7 * 24 * time.Hour

	maxSources = 1000 // lists and directories of a Verifier
)

// content is the parsed content of a document: a *list or a *directory.
type content interface{ entries() int }

// source is a list or directory that is read regularly.
type source struct {
	document.Source[content]
	kind    SourceKind
	failure atomic.Pointer[error] // of the last read
	users   int                   // crawlers of open Checkers that use it; guarded by Verifier.mu
	end     context.CancelFunc    // ends its reads; nil before the Verifier starts; guarded by Verifier.mu
}

// key identifies a source. One document can be a list and a directory.
func (s *source) key() string { return string(s.kind) + " " + s.URL }

// fresh reports whether a copy was read or confirmed at most FreshPeriod before now. For requests in log files, now can be before the read:
// then it reports whether the read was at most FreshPeriod after now.
func fresh(c *document.Copy[content], now time.Time) bool {
	return now.Sub(c.Read()).Abs() <= FreshPeriod
}

func (s *source) state() SourceState {
	state := SourceState{Kind: s.kind, URL: s.URL, Failures: s.Failures(), StorageError: s.StorageError()}
	if err := s.failure.Load(); err != nil {
		state.Err = *err
	}
	if c := s.Copy(); c != nil {
		state.Entries, state.Read = c.Value.entries(), c.Read()
	}
	return state
}

// read starts the reads of s, until s is released or v is closed. The caller must hold v.mu.
func (v *Verifier) read(s *source) {
	ctx, cancel := context.WithCancel(v.ctx)
	s.end = cancel
	v.running.Keep(ctx.Done(), "verify: a list or directory", func() {
		s.Run(ctx, v.reader, func(_ bool, err error) {
			s.failure.Store(&err)
			v.config.Observer.SourceRead(s.state())
		})
	})
}

// list returns the source of the list at address. The caller must release it.
func (v *Verifier) list(address string) (*source, error) {
	u, err := document.ParseOpenURL(address)
	if err != nil {
		return nil, err
	}
	return v.acquire(&source{kind: listSource, Source: document.Source[content]{
		URL: address, Accept: "application/json, text/plain;q=0.9, */*;q=0.5",
		Parse: func(r *document.Response, old *document.Copy[content], now time.Time) (content, error) {
			if old != nil && now.Sub(old.Read()).Abs() <= comparePeriod {
				return parseList(r.Body, u.Fragment, old.Value.(*list))
			}
			return parseList(r.Body, u.Fragment, nil)
		},
	}})
}

// directory returns the source of the agent's directory. The caller must release it.
func (v *Verifier) directory(agent string) (*source, error) {
	u, err := document.ParseOpenURL(agent)
	if err != nil {
		return nil, err
	}
	return v.acquire(&source{kind: DirectorySource, Source: document.Source[content]{
		URL: directoryURL(u), Accept: directoryAccept,
		NoRedirect:  true, // draft-ietf-webbotauth-httpsig-protocol-01, section 5.5
		ParseAlways: true, // keys expire, and signatures of the response change
		Parse: func(r *document.Response, _ *document.Copy[content], now time.Time) (content, error) {
			return parseDirectory(r, now)
		},
	}})
}

// acquire adds a use of the source with the key of s and returns it. If there is none, it adds s, and starts its reads if v was started.
func (v *Verifier) acquire(s *source) (*source, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.sources[s.key()]; known != nil {
		known.users++
		return known, nil
	}
	if len(v.sources) >= maxSources {
		return nil, fmt.Errorf("the crawlers have more than %d lists and directories", maxSources)
	}
	s.users = 1
	v.sources[s.key()] = s
	if v.started && !v.closed {
		v.read(s)
	}
	return s, nil
}

// release removes a use of s. After the last one, s is no longer read.
func (v *Verifier) release(s *source) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	delete(v.sources, s.key())
	if s.end != nil {
		s.end()
	}
}
