package caddymodule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/filewatch"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
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
//			# the lines of steps for the process, such as notify, and the subdirectives of robots, as defaults for all sites
//		}
//	}
type App struct {
	config.Global

	lifecycle
	kept
	configured
	ctx     caddy.Context
	log     *zap.Logger
	storage func(caddy.Context) certmagic.Storage
	report  *live.Reporter
	anySite *counters.Site // for requests that came through no server
	ceiling *origins.Ceiling
	entries int           // the largest max_entries of a handler; 0 if none sets it
	changed chan struct{} // has a value after a robots.txt has changed

	// rulesWanted is set if a matcher needs the rules in force of every request, even
	// of people's.
	rulesWanted atomic.Bool

	own     *siteread.Source         // the sites' own robots.txt
	remotes map[string]*registry.URL // by address
}

// kept is what outlives a configuration.
type kept struct {
	counters   *live.Counters
	memory     *throttle.Memory // the budgets of all handlers
	remembered *enforce.Memory
	copies     *siteCopies
	watcher    *filewatch.Watcher
}

// configured is where the handlers of the configuration are.
type configured struct {
	placesOf  sync.Map            // *caddyhttp.Server whose places were checked; *int64 of those that were warned of
	places    []statusapi.Problem // of handlers that are most likely not meant; complete when all are provisioned
	servers   sync.Map            // *caddyhttp.Server to *serverSites
	links     siteread.Links
	findSites sync.Once
	sites     map[caddyhttp.MiddlewareHandler]*routes.Site // of handlers in the configuration
	hung      bool                                         // a file took longer than fileLimit while the handlers were provisioned

	mu       sync.Mutex // guards the following; Caddy provisions, starts and stops in turn
	handlers []*Handler
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "robots", New: func() caddy.Module { return new(App) }}
}

// hostsShare is the part of max_memory that the counters of hosts may take, of which only
// a pattern names the sites.
const hostsShare = 4

// maxClaims bounds the unverified claims that are remembered, one for each crawler,
// origin and address. They take 1.6 MiB at most.
const maxClaims = 1 << 16

// maxVisitors bounds the crawlers whose visits are remembered, one for each
// crawler and origin. They take 1.3 MiB at most for crawlers in the registry, and
// as much for all others.
const maxVisitors = 1 << 15

// Provision validates the configuration and gets the shared values. It reads no
// files and uses no network.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.changed, a.remotes = ctx, make(chan struct{}, 1), make(map[string]*registry.URL)
	if a.log == nil { // otherwise it is a test's
		a.log = ctx.Logger()
	}
	if a.storage == nil {
		a.storage = caddy.Context.Storage
	}
	persist, err := config.Resolve("persist", a.Persist)
	if err := cmp.Or(a.Check(), err); err != nil {
		return a.Places().At(err)
	}
	a.Persist = persist
	a.ceiling = origins.NewCeiling(cmp.Or(a.MaxMemory, config.DefaultMaxMemory()))
	a.remembered = pooled(a, "remembered", func() *enforce.Memory { return enforce.NewMemory(maxClaims, maxVisitors) })
	a.memory = pooled(a, "limiter", func() *throttle.Memory { return throttle.NewMemory(config.DefaultBudgets) })
	a.copies = pooled(a, "copies", func() *siteCopies { return new(siteCopies) })
	a.counters = pooled(a, "counters", live.NewCounters)
	a.watcher = pooled(a, "watcher", filewatch.New)
	a.ceiling.Include(a.counters.HostOctets, a.copies.octets, a.remembered.HistoryOctets)
	a.anySite = a.counters.Site(statusapi.AnySite)
	a.report = a.newReporter()
	a.own = siteread.New(ctx, a.names, &a.links)
	if err := metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	return a.Places().At(a.provisionSteps())
}

// Start starts the work that needs files or the network.
func (a *App) Start() error {
	a.memory.Resize(clock.Now(), cmp.Or(a.entries, config.DefaultBudgets))
	a.counters.Start(a.Persist, a.log)
	_, octets := a.ceiling.Usage()
	a.counters.SetRoom(octets / hostsShare)
	a.counters.Report()
	a.started = true
	background.Report(func(p background.Panic) {
		a.log.Error("work in the background panicked, and goes on", zap.String("work", p.What), zap.String("panic", p.Value),
			zap.Int("times", p.Count), zap.String("stack", p.Stack))
	})
	a.warnWithoutHandler()
	for _, start := range a.starts {
		start()
	}
	a.background("robots.txt: first reads", a.prefetch)
	if slices.ContainsFunc(a.allHandlers(), func(h *Handler) bool { return h.limiter != a.memory }) {
		a.background("fleet: counts", a.report.Exchange)
	} else {
		a.counters.SetOthers(nil)
	}
	a.announceAccidents()
	return nil
}

// Stop ends the work that Start began, and writes the counters to their file.
func (a *App) Stop() error {
	a.stop()
	a.counters.SaveFile()
	return nil
}

// Cleanup releases the app's shared values. Caddy also calls it if Provision
// failed.
func (a *App) Cleanup() error {
	if !a.started && a.ctx.Context != nil && fmt.Sprint(context.Cause(a.ctx)) == validated {
		a.warnWithoutHandler()
	}
	return a.lifecycle.Cleanup()
}

// validated is the cause with which `caddy validate` ends a configuration, when all its
// modules are provisioned.
const validated = "validation complete"

// warnWithoutHandler warns if the configuration has no robots handler.
func (a *App) warnWithoutHandler() {
	if len(a.allHandlers()) == 0 {
		a.log.Warn("no site has the line `robots`: no robots.txt is read, and nothing is refused")
	}
}

// Reporter implements step.App.
func (a *App) Reporter() statusapi.Reporter { return a.report }

// add records a handler of the configuration.
func (a *App) add(h *Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handlers = append(a.handlers, h)
}

// How long a local source may keep Caddy from starting, and how long each of the
// others may after one of them took longer.
const (
	fileLimit = 5 * time.Second
	hungLimit = 100 * time.Millisecond
)

// readLocal calls read while a handler is provisioned, and reports whether it
// ended in time.
func (a *App) readLocal(read func(context.Context)) bool {
	limit := fileLimit
	if a.hung {
		limit = hungLimit
	}
	ctx, cancel := context.WithTimeout(a.ctx, limit)
	defer cancel()
	read(ctx)
	inTime := ctx.Err() == nil
	a.hung = a.hung || !inTime
	return inTime
}

// registry returns the registry of a handler, at a location. All sites that name the same URL
// share what it adds, which is read from Start to Stop.
func (a *App) registry(ctx caddy.Context, location string, h *Handler) (registry.Registry, error) {
	if !registry.IsURL(location) {
		log := registry.Log{Logger: h.log, Count: metrics.CountRegistryRead}
		return &registry.File{Path: location, Add: h.AddCrawlers, Log: log, Watch: a.watcher.Watch}, nil
	}
	u := a.remotes[location]
	if u == nil {
		if err := registry.CheckURL(location); err != nil {
			return nil, err
		}
		document := pooled(a, "registry "+location, func() *registry.Document { return registry.NewDocument(location) })
		u = registry.NewURL(document, a.storage(ctx), registry.Log{Logger: a.log, Count: metrics.CountRegistryRead})
		a.remotes[location] = u
		a.onStart(func() { a.background("registry", u.Run) })
	}
	return u.For(h.AddCrawlers), nil
}

// pooled returns the value with a key that all configurations share. If there is
// none, create makes it. The app's Cleanup releases it.
func pooled[T any](a *App, key string, create func() T) T {
	value, release := shared.Get(key, create)
	a.onCleanup(release)
	return value
}

// siteCopies has the cached copies of each source.
type siteCopies struct{ sources sync.Map }

// of returns the cached copies of a source. The number of sources is bounded by
// the configurations that were loaded.
func (c *siteCopies) of(source *config.Source) *origins.Copies {
	key := config.Source{Kind: config.SourceSite}
	if source != nil {
		key = *source
	}
	key.Text, key.File, key.Line = "", "", 0 // inline needs no copy, and a line may move
	v, _ := c.sources.LoadOrStore(key, new(origins.Copies))
	return v.(*origins.Copies)
}

// octets returns the octets of all copies.
func (c *siteCopies) octets() (n int64) {
	for _, copies := range c.sources.Range {
		n += copies.(*origins.Copies).Octets()
	}
	return n
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
	_ step.App           = (*App)(nil)
)
