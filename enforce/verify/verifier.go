package verify

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/document"
	"github.com/caddy-robots/caddy-robots/internal/table"
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
	config  Config
	reader  *document.Reader
	lookups *lookups
	replays *replays
	proofs  *table.Table[Proof]

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
	v.reader = document.NewReader(document.Config{
		Client: config.Client, Storage: config.Storage, Folder: "robots/verify", Now: config.Now, StorageFailed: config.Observer.StorageFailed,
	})
	v.lookups = newLookups(&v.config)
	v.replays = newReplays()
	v.proofs = table.New[Proof](maxProofs)
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
		start(v, s)
	}
	for _, s := range v.directories {
		start(v, s)
	}
}

// Close stops all background work and waits for its end. Claims can still be
// checked, with the data that the Verifier has. Further calls have no effect.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.cancel()
	v.running.Wait()
	v.reader.Close()
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

// SourceKind is the kind of a document that a [Verifier] reads.
type SourceKind string

// The kinds.
const (
	ListSource      SourceKind = "list"      // of addresses
	DirectorySource SourceKind = "directory" // of keys
)

// SourceState is the state of a list or a directory.
type SourceState struct {
	Kind     SourceKind
	URL      string
	Entries  int       // prefixes or keys of the copy in use; 0 if there is none
	Read     time.Time // when a read last found the copy to be current; zero if there is none
	Failures int       // failed reads since the last successful one
}

// Observer receives what happens in the background. Its methods must be safe for
// concurrent use and must not block.
type Observer interface {
	// SourceRead is called after each read of a list or directory. err is nil if the copy in use is current.
	SourceRead(s SourceState, err error)
	// StorageFailed is called if a copy of the document at url could not be stored or loaded. Verification continues without the copy.
	StorageFailed(url string, err error)
	// Lookup is called after each forward-confirmed reverse DNS lookup. state is Verified, Impostor (the address has no host name, or only
	// names outside suffixes) or Unverified (the lookup failed with err).
	Lookup(addr netip.Addr, suffixes []string, state State, took time.Duration, err error)
	// LookupDropped is called if a lookup was not queued because 128 lookups of addresses with the same suffixes already wait.
	LookupDropped()
}

// noObserver ignores everything.
type noObserver struct{}

func (noObserver) SourceRead(SourceState, error)                            {}
func (noObserver) StorageFailed(string, error)                              {}
func (noObserver) Lookup(netip.Addr, []string, State, time.Duration, error) {}
func (noObserver) LookupDropped()                                           {}
