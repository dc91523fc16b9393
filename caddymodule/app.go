package caddymodule

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() {
	caddy.RegisterModule(new(App))
}

// App holds the state that the robots handlers of all sites share: defaults for
// their settings, budgets, cached robots.txt files, file watchers, counters and
// the memory limit. Caddy also runs it if the configuration has robots handlers
// and does not name the app. In a Caddyfile, the global option robots configures
// it:
//
//	{
//		robots {
//			max_memory <size>
//			persist    <file>
//			metrics    per_site [<max_sites>]
//			# and the subdirectives of robots, as defaults for all sites
//		}
//	}
type App struct {
	config.Global

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

	// policyWanted is set if a matcher needs the policy of every request, also
	// of people's.
	policyWanted atomic.Bool

	// traced is set if a handler of the configuration begins trace spans.
	traced atomic.Bool

	servers   sync.Map // *caddyhttp.Server to *serverSites
	findSites sync.Once
	sites     map[caddyhttp.MiddlewareHandler]*routes.Site // of handlers in the configuration

	mu           sync.Mutex
	handlers     []*Handler
	modes        modeSwitch
	visitors     *pooledWatch             // nil without suspects
	suspectFleet *pooledFleet             // the fleet that signals are shared with; nil without one
	remotes      map[string]*registry.URL // by address
	watcher      *enforce.Watcher         // nil until Start
	checks       []func() error           // called by Start, when all sites are known
	starts       []func()                 // called by Start
	stops        []func() error           // called by Stop
	started      bool
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "robots",
		New: func() caddy.Module { return new(App) },
	}
}

// clock gives the time of all requests. It is a wall clock that does not go
// back when the system's clock is set back by a little, so that no budget is
// lost or doubled.
var clock throttle.Clock

// maxRecent bounds the reads of robots.txt that are remembered, one for each
// crawler and origin. They take 512 KiB.
const maxRecent = 1 << 16

// maxVisits bounds the crawlers whose visits are remembered, one for each
// crawler and origin. They take 1 MiB for crawlers in the registry and 1 MiB
// for all others.
const maxVisits = 1 << 15

// Provision validates the configuration and gets the shared values. It reads no
// files and uses no network.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.log = ctx, ctx.Logger()
	a.report.app = a
	if a.storage == nil {
		a.storage = caddy.Context.Storage
	}
	if err := a.Check(); err != nil {
		return err
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
		return pooledLimiter{throttle.NewMemory(config.DefaultBudgets)}, nil
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

// Start runs the handlers' final checks, whose errors keep the configuration
// from being loaded. Then it starts the work that needs files or the network.
func (a *App) Start() error {
	for _, check := range a.checks {
		if err := check(); err != nil {
			return err
		}
	}
	a.memory.Resize(clock.Now(), cmp.Or(a.entries, config.DefaultBudgets))
	a.startCounters()
	a.findTracing()
	watcher, err := enforce.NewWatcher()
	if err != nil {
		a.log.Error("files can't be watched for changes: robots.txt files are read again only at each refresh", zap.Error(err))
	}
	a.mu.Lock()
	a.watcher, a.started = watcher, true
	starts := a.starts
	a.starts = nil
	a.mu.Unlock()
	for _, start := range starts {
		start()
	}
	ctx, stop := context.WithCancel(a.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.prefetch(ctx)
	}()
	a.mu.Lock()
	a.stops = append(a.stops, func() error { stop(); <-done; return nil })
	a.mu.Unlock()
	return nil
}

// Stop ends the work that Start began, and writes the counters to their file.
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

// Cleanup releases the app's shared values. Caddy also calls it if Provision
// failed.
func (a *App) Cleanup() error {
	err := runCleanup(a.cleanup)
	a.cleanup = nil
	return err
}

// add records a handler of the configuration.
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
// may only be called after Start. An error is logged; the file is then read
// again only at each refresh.
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

// registry returns the registry of a URL. All sites that name the URL share it.
// It is read from Start to Stop.
func (a *App) registry(ctx caddy.Context, rawURL string) (*registry.URL, error) {
	a.mu.Lock()
	u := a.remotes[rawURL]
	a.mu.Unlock()
	if u != nil {
		return u, nil
	}
	if err := registry.CheckURL(rawURL); err != nil {
		return nil, err
	}
	document, err := pooled(a, "registry "+rawURL, func() (*registry.Document, error) { return registry.NewDocument(rawURL), nil })
	if err != nil {
		return nil, err
	}
	u = registry.NewURL(document, a.storage(ctx), a.log, func(outcome string) { registryReads.WithLabelValues(outcome).Inc() })
	a.mu.Lock()
	if a.remotes == nil {
		a.remotes = make(map[string]*registry.URL)
	}
	a.remotes[rawURL] = u
	a.mu.Unlock()
	a.onStart(func() {
		running, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); u.Run(running) }()
		a.mu.Lock()
		a.stops = append(a.stops, func() error { stop(); <-ended; return nil })
		a.mu.Unlock()
	})
	return u, nil
}

// pool keeps values that outlive a configuration: a reload must lose neither
// budgets nor the last good robots.txt.
var pool = caddy.NewUsagePool()

// pooled returns the value of pool with a key. If there is none, create makes
// it. The app's Cleanup releases it.
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
	// siteCopies has the cached copies of each source.
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

// of returns the cached copies of a source. The number of sources is bounded by
// the configurations that were loaded.
func (c *siteCopies) of(source *config.Source) *enforce.Copies {
	key := config.Source{Kind: config.SourceSite}
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
