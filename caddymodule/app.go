package caddymodule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() {
	caddy.RegisterModule(new(App))
}

// App holds what the robots handlers of all sites share: defaults for their
// settings, budgets, copies of robots.txt files, file watchers and the bound on
// memory. It also runs if the configuration does not name it.
type App struct {
	// Settings for all robots handlers. A handler's own setting overrides them.
	Defaults *Settings `json:"defaults,omitempty"`

	// The most memory that the policies of all sites may use together, in
	// octets, as estimated. If they need more, policies of hosts that no site
	// names are dropped first; each handler keeps at least one. Default:
	// 67108864 (64 MiB).
	MaxMemory int64 `json:"max_memory,omitempty"`

	// The file that keeps counters over a restart. It is written every five
	// minutes and when the server stops, and read when it starts; a damaged one
	// is logged and ignored. Each server has a file of its own. Placeholders
	// that are known when the configuration is loaded are replaced. Default:
	// none; the counters then start at zero with the process.
	Persist string `json:"persist,omitempty"`

	// Optional metrics.
	Metrics *Metrics `json:"metrics,omitempty"`

	ctx       caddy.Context
	report    reporter
	counters  *pooledCounters
	anySite   *counters.Site // for requests that came through no server
	ceiling   *enforce.Ceiling
	memory    *throttle.Memory // the budgets of all handlers
	waiters   *throttle.Waiters
	entries   int // the largest max_entries of a handler; 0 if none sets it
	readers   *enforce.Recent
	copies    *siteCopies
	visits    *enforce.Visits
	histories *enforce.Histories
	log       *zap.Logger
	cleanup   []func() error
	storage   func(caddy.Context) certmagic.Storage

	// policyWanted is set where a matcher needs the policy of requests, of
	// people's too.
	policyWanted atomic.Bool

	// traced is set where a handler of the configuration begins spans.
	traced atomic.Bool

	findPlaces sync.Once
	places     map[*Handler]enforce.Place // where handlers stand

	mu           sync.Mutex
	handlers     []*Handler
	modes        modeSwitch
	visitors     *pooledWatch            // nil without suspects
	suspectFleet *pooledFleet            // to share suspicion with; nil without one
	remotes      map[string]*registryURL // registries from URLs
	watcher      *enforce.Watcher        // nil until Start
	checks       []func() error          // what handlers check when all sites are known
	starts       []func()                // what handlers begin at Start
	stops        []func() error          // what ends at Stop
	started      bool
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "robots",
		New: func() caddy.Module { return new(App) },
	}
}

// clock is the time of all requests: a wall clock that does not go back when it
// is set back by a little, so that no budget is lost or doubled.
var clock throttle.Clock

// maxRecent is how many reads of a robots.txt are remembered, by origin and
// crawler: 512 KiB.
const maxRecent = 1 << 16

// maxVisits is of how many crawlers it is remembered when they came, at each
// origin: 1 MiB for those that are known, and 1 MiB for all others.
const maxVisits = 1 << 15

// Provision makes the app ready. It does no I/O.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.log = ctx, ctx.Logger()
	a.report.app = a
	if a.storage == nil {
		a.storage = caddy.Context.Storage
	}
	if a.MaxMemory < 0 {
		return fmt.Errorf("max_memory %d is below 0", a.MaxMemory)
	}
	if a.Defaults != nil {
		if err := a.Defaults.validate(); err != nil {
			return err
		}
	}
	a.ceiling = enforce.NewCeiling(a.MaxMemory)
	readers, err := pooled(a, "readers", func() (pooledReaders, error) {
		return pooledReaders{enforce.NewRecent(maxRecent)}, nil
	})
	if err != nil {
		return err
	}
	a.readers = readers.Recent
	limiter, err := pooled(a, "limiter", func() (pooledLimiter, error) {
		return pooledLimiter{throttle.NewMemory(maxEntries)}, nil
	})
	if err != nil {
		return err
	}
	a.memory = limiter.Memory
	waiters, err := pooled(a, "waiters", func() (pooledWaiters, error) {
		return pooledWaiters{throttle.NewWaiters(enforce.MaxHeld)}, nil
	})
	if err != nil {
		return err
	}
	a.waiters = waiters.Waiters
	a.copies, err = pooled(a, "copies", func() (*siteCopies, error) { return new(siteCopies), nil })
	if err != nil {
		return err
	}
	visits, err := pooled(a, "visits", func() (pooledVisits, error) { return pooledVisits{enforce.NewVisits(maxVisits)}, nil })
	if err != nil {
		return err
	}
	a.visits = visits.Visits
	histories, err := pooled(a, "histories", func() (pooledHistories, error) { return pooledHistories{enforce.NewHistories()}, nil })
	if err != nil {
		return err
	}
	a.histories = histories.Histories
	return a.provisionCounters()
}

// Start starts the work that needs files or the network, and starts the
// handlers.
func (a *App) Start() error {
	for _, check := range a.checks {
		if err := check(); err != nil {
			return err
		}
	}
	a.memory.Resize(clock.Now(), cmp.Or(a.entries, maxEntries))
	a.startCounters()
	a.findTracing()
	watcher, err := enforce.NewWatcher()
	if err != nil {
		// Files are read again at each refresh all the same.
		a.log.Error("files can't be watched: robots.txt files are read again at each refresh only", zap.Error(err))
	}
	a.mu.Lock()
	a.watcher, a.started = watcher, true
	starts := a.starts
	a.starts = nil
	a.mu.Unlock()
	for _, start := range starts {
		start()
	}
	return nil
}

// Stop stops the work that Start started.
func (a *App) Stop() error {
	a.mu.Lock()
	watcher, stops := a.watcher, a.stops
	a.watcher, a.stops = nil, nil
	a.mu.Unlock()
	err := runCleanup(stops)
	sites.app.CompareAndSwap(a, nil)
	a.counters.save()
	if watcher == nil {
		return err
	}
	return errors.Join(err, watcher.Close())
}

// Cleanup releases what Provision acquired, also if Provision failed.
func (a *App) Cleanup() error {
	err := runCleanup(a.cleanup)
	a.cleanup = nil
	return err
}

// add notes a handler of the configuration.
func (a *App) add(h *Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handlers = append(a.handlers, h)
}

// beforeStart registers check to be called when the app starts: an error keeps
// the configuration from being loaded.
func (a *App) beforeStart(check func() error) { a.checks = append(a.checks, check) }

// onStart registers start to be called when the app starts, or calls it at once
// if the app has started.
func (a *App) onStart(start func()) {
	a.mu.Lock()
	if !a.started {
		a.starts = append(a.starts, start)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	start()
}

// watch calls changed when a file may have changed, until stop is called. It
// is called after Start. An error is logged: the file is then read again at
// each refresh only.
func (a *App) watch(path string, changed func()) (stop func()) {
	a.mu.Lock()
	watcher := a.watcher
	a.mu.Unlock()
	if watcher == nil {
		return func() {}
	}
	stop, err := watcher.Watch(path, changed)
	if err != nil {
		a.log.Error("a file can't be watched for changes", zap.String("file", path), zap.Error(err))
		return func() {}
	}
	return stop
}

// registry returns the registry of a URL, which all sites that name it share.
// It is read once the app has started, until it stops.
func (a *App) registry(ctx caddy.Context, rawURL string) (*registryURL, error) {
	a.mu.Lock()
	u := a.remotes[rawURL]
	a.mu.Unlock()
	if u != nil {
		return u, nil
	}
	if err := checkRegistryURL(rawURL); err != nil {
		return nil, err
	}
	state, err := pooled(a, "registry "+rawURL, func() (*registryState, error) { return new(registryState), nil })
	if err != nil {
		return nil, err
	}
	u = newRegistryURL(rawURL, state, a.storage(ctx), a.log)
	a.mu.Lock()
	if a.remotes == nil {
		a.remotes = make(map[string]*registryURL)
	}
	a.remotes[rawURL] = u
	a.mu.Unlock()
	a.onStart(func() {
		running, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); u.run(running) }()
		a.mu.Lock()
		a.stops = append(a.stops, func() error { stop(); <-ended; return nil })
		a.mu.Unlock()
	})
	return u, nil
}

// pool keeps what outlives a configuration: a reload must forget neither
// budgets nor the last good robots.txt.
var pool = caddy.NewUsagePool()

// pooled returns the value of pool with a key, made by create if there is none.
// It is released with the app.
func pooled[T caddy.Destructor](a *App, key string, create func() (T, error)) (value T, err error) {
	v, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) { return create() })
	if err != nil {
		return value, err
	}
	a.cleanup = append(a.cleanup, func() error { _, err := pool.Delete(key); return err })
	return v.(T), nil
}

// The values of pool.
type (
	pooledReaders   struct{ *enforce.Recent }
	pooledLimiter   struct{ *throttle.Memory }
	pooledWaiters   struct{ *throttle.Waiters }
	pooledVisits    struct{ *enforce.Visits }
	pooledHistories struct{ *enforce.Histories }
	// siteCopies has the copies of each source.
	siteCopies struct{ sources sync.Map }
)

// Destruct implements caddy.Destructor.
func (pooledReaders) Destruct() error { return nil }

// Destruct implements caddy.Destructor.
func (l pooledLimiter) Destruct() error { return l.Close() }

// Destruct implements caddy.Destructor.
func (w pooledWaiters) Destruct() error { return w.Close() }

// Destruct implements caddy.Destructor.
func (*siteCopies) Destruct() error { return nil }

// Destruct implements caddy.Destructor.
func (pooledVisits) Destruct() error { return nil }

// Destruct implements caddy.Destructor.
func (pooledHistories) Destruct() error { return nil }

// of returns where the good copies of a source live. The number of sources is
// bounded by the configurations that were loaded.
func (c *siteCopies) of(source *Source) *enforce.Copies {
	key := Source{Kind: sourceSite}
	if source != nil {
		key = *source
	}
	key.Text = "" // needs no copy
	v, _ := c.sources.LoadOrStore(key, enforce.NewCopies())
	return v.(*enforce.Copies)
}

// runCleanup calls functions from the last to the first.
func runCleanup(cleanup []func() error) error {
	var errs []error
	for i := len(cleanup) - 1; i >= 0; i-- {
		errs = append(errs, cleanup[i]())
	}
	return errors.Join(errs...)
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
