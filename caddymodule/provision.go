package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/headers"
)

// Provision prepares the handler. It reads the local files in the settings, and
// uses no network.
func (h *Handler) Provision(ctx caddy.Context) error {
	app, err := ctx.App("robots")
	if err != nil {
		return err
	}
	return h.provision(ctx, app.(*App))
}

// provision is Provision with a given app.
func (h *Handler) provision(ctx caddy.Context, app *App) error {
	h.app = app
	if h.log == nil {
		h.log = ctx.Logger()
	}
	for _, step := range []func(caddy.Context) error{
		h.checkPlaces, h.provisionAnswers, h.provisionSource, h.provisionBudgets, h.provisionRegistry,
		h.checkRedirects, h.checkMisfits,
	} {
		if err := step(ctx); err != nil {
			return h.Places.At(err)
		}
	}
	return nil
}

// provisionAnswers completes the settings, and prepares what depends on them alone: the
// answers and the fields of responses.
func (h *Handler) provisionAnswers(ctx caddy.Context) (err error) {
	if err := h.Complete(h.app.Defaults); err != nil {
		return err
	}
	h.sourceID = h.Source.ID()
	h.answers = newCustomAnswers(h.Answers)
	if err := h.provisionSteps(ctx); err != nil {
		return err
	}
	var table *headers.Table
	if h.XRobotsTag != nil {
		if table, err = headers.Compile(h.XRobotsTag); err != nil {
			return fmt.Errorf("x_robots_tag: %w", err)
		}
	}
	h.fields = response.Fields{
		Table: table, Views: h.Paths.Views(),
		Noindex: config.On(h.NoindexLines), Signals: config.On(h.Signals)}
	if reader := stepThat[step.Reader](&h.steps); reader != nil {
		h.fields.Reader = reader.NewReader
	}
	return nil
}

// provisionSource makes the source that the settings name.
func (h *Handler) provisionSource(caddy.Context) (err error) {
	if h.source, err = h.NewSource(); err != nil {
		return err
	}
	switch source := h.source.(type) {
	case nil:
		h.source = h.app.own
	case origins.File:
		if source.Path == "" {
			return errors.New("source file: no path")
		}
		stop := h.app.watcher.Watch(source.Path, h.fileChanged) // before it is read, so that no change is missed
		h.onCleanup(func() error { stop(); return nil })
	case io.Closer:
		h.onCleanup(source.Close)
	}
	return nil
}

// provisionBudgets gets the limiter, which outlives the configuration.
func (h *Handler) provisionBudgets(caddy.Context) error {
	if h.CrawlDelay != nil {
		h.app.entries = max(h.app.entries, h.CrawlDelay.MaxEntries)
	}
	h.limiter = h.app.memory
	if sharer := stepThat[step.Sharer](&h.steps); sharer != nil {
		h.limiter = sharer.Limiter()
	}
	return nil
}

// load reads a local source. An error says that there is no file: it is found first, so that
// the log does not have what would follow.
func (h *Handler) load(table *origins.Table) error {
	var missing error
	inTime := h.app.readLocal(func(ctx context.Context) {
		if f, ok := h.source.(origins.File); ok {
			if _, err := f.Fetch(ctx, judge.Origin{}); err != nil && ctx.Err() == nil {
				missing = config.CheckFile(f.Path)
			}
		}
		if missing == nil {
			table.Load(ctx)
		}
	})
	if !inTime {
		return nil // its file system does not answer, and may later
	}
	return missing
}

// provisionRegistry starts the engine with the crawlers in the settings. When the
// app starts, it begins to follow their changes.
func (h *Handler) provisionRegistry(ctx caddy.Context) error {
	location, err := config.Resolve("registry", h.Registry)
	if err != nil {
		return err
	}
	h.registry, err = h.app.registry(ctx, location, h)
	if err != nil {
		return config.InOption("registry", err)
	}
	crawlers, err := h.registry.Read()
	if err != nil {
		return config.InOption("registry", err)
	}
	err = h.CheckNames(crawlers)
	if err != nil && registry.IsURL(location) {
		h.log.Warn("no crawler has this name: it has no effect unless the registry's URL adds such a crawler", zap.Error(err))
	} else if err != nil {
		return err
	}
	if err := h.start(ctx, crawlers); err != nil {
		return err
	}
	h.app.onStart(func() {
		stop := h.registry.Follow(h.restart)
		h.onCleanup(func() error { stop(); return nil })
	})
	return nil
}

// warnForgeableExemptions warns of exempt names that any client can send.
func (h *Handler) warnForgeableExemptions(current *running) {
	for _, x := range h.Exempt {
		row := current.Registry().Lookup(x.Name)
		if len(x.From) > 0 || row == nil || current.verification != nil && current.verification.Checker.Verifiable(row) {
			continue
		}
		h.log.Warn("every client that sends the name of this exempt crawler is exempt: "+
			"give its addresses with from, or set verify if its operator documents a method", zap.String("crawler", x.Name))
	}
}

// checkMisfits returns an error if the settings of a step can't work with a local source.
func (h *Handler) checkMisfits(caddy.Context) (err error) {
	if !h.IsLocal() {
		return nil
	}
	h.running.Load().Origins().All(func(_ judge.Origin, rules *judge.Rules) {
		for _, p := range h.steps.misfits(rules) {
			if p.Severity == statusapi.Severe && err == nil {
				err = errors.New(p.Message)
			}
		}
	})
	return err
}

// logMisfits logs what is wrong with the settings of steps under rules.
func (h *Handler) logMisfits(log *zap.Logger, rules *judge.Rules) {
	for _, p := range h.steps.misfits(rules) {
		log.Warn("a line of the configuration does not fit robots.txt", zap.String("what", p.Message), zap.String("what_to_do", p.Advice))
	}
}

// fileChanged reads the source file again, also if it changed while it was read for
// the first time.
func (h *Handler) fileChanged() {
	h.changed.Store(true)
	if current := h.running.Load(); current != nil {
		current.Origins().Changed()
	}
}

// running holds the engine and the counters for one registry. It is replaced as
// a whole, because its parts are indexed by a crawler's position in the
// registry.
type running struct {
	*enforce.Engine
	verification *judge.Verification // nil if nothing checks claims
	unbind       func()              // ends the use of its Checker
	log          *counters.Log
	observer     *metrics.Reads
	unreport     func()
	modes        *live.Modes
}

// newEngine makes the engine of a running. v is nil if nothing checks claims.
type newEngine func(v *judge.Verification, observer *metrics.Reads) (*enforce.Engine, error)

// newRunning returns a running for a registry, whose metrics are reported.
func (h *Handler) newRunning(registry *crawler.Registry, modes *live.Modes, build newEngine) (r *running, err error) {
	r = &running{modes: modes, unbind: func() {}}
	if h.steps.verifier != nil {
		r.verification = new(h.steps.claims)
		if r.verification.Checker, r.unbind, err = h.steps.verifier.Bind(registry); err != nil {
			return nil, err
		}
	}
	r.observer = metrics.NewReads(h.log, h.SourceKind(), registry, h.XRobotsTag, h.reviewFile)
	r.observer.Needed = h.NeedsFile()
	if r.Engine, err = build(r.verification, r.observer); err != nil {
		return nil, errors.Join(err, r.observer.Close())
	}
	r.log, r.unreport = counters.NewLog(h.log, h.block), metrics.ReportEngine(r.Engine, h.SourceKind())
	return r, nil
}

// reviewFile lets the steps look at a robots.txt that comes into force.
func (h *Handler) reviewFile(log *zap.Logger, rules *judge.Rules) {
	h.logMisfits(log, rules)
	for _, s := range stepsThat[step.Reviewer](&h.steps) {
		s.Review(log, rules)
	}
}

// block returns a name for the site block, the same after a reload.
func (h *Handler) block() string {
	key := h.app.siteOf(h).Key
	return key.Handler + " " + strings.Join(key.Hosts, " ")
}

// retire ends what does not belong to the engine: the metrics, the reviews of
// files, and the lists of addresses that only this registry uses.
func (r *running) retire() error {
	r.unreport()
	r.unbind()
	return r.observer.Close()
}

// start makes the engine with a registry. It reads a local source at once.
func (h *Handler) start(ctx caddy.Context, registry *crawler.Registry) error {
	rules, err := h.EngineSettings()
	if err != nil {
		return err
	}
	rules.Registry = registry
	for _, placed := range stepsThat[step.Placed](&h.steps) {
		rules.Places = append(rules.Places, placed.Places()...)
	}
	current, err := h.newRunning(registry, live.NewModes(&h.Settings, registry), func(v *judge.Verification, observer *metrics.Reads) (*enforce.Engine, error) {
		rules.Verification = v
		return enforce.NewEngine(rules, h.source, h.limiter, h.app.remembered, origins.Config{
			Refresh:    time.Duration(h.Refresh),
			MaxOrigins: h.MaxOrigins,
			DenyFailed: h.OnError == config.OnErrorDeny,
			Ceiling:    h.app.ceiling,
			Copies:     h.app.copies.of(h.Source),
			Handler:    func() origins.HandlerKey { return h.app.siteOf(h).Key },
			Published:  config.On(h.Publish),
			Fetched:    h.fetched(observer),
			Evicted:    metrics.CountEviction,
			Now:        clock.Now,
		})
	})
	if err == nil && h.IsLocal() {
		if err = h.load(current.Origins()); err != nil {
			err = errors.Join(err, current.Close(), current.retire())
		} else {
			h.warnOfFile(current)
		}
	}
	if err != nil {
		return err
	}
	if h.running.Store(current); h.changed.Load() {
		h.fileChanged()
	}
	h.app.onStart(func() { h.running.Load().Origins().Connect() })
	h.onCleanup(h.end)
	h.app.add(h)
	h.warnForgeableExemptions(current)
	return nil
}

// warnOfFile logs what a local source says that is most likely not meant. The other
// findings of its review are logged too, before Caddy has started.
func (h *Handler) warnOfFile(current *running) {
	for s := range current.Origins().States(nil) {
		if s.Rules.Outcome() != judge.Loaded {
			continue
		}
		f := mistakes.File{Subject: "this site", Needed: h.NeedsFile(), Last: s.Last, Rules: s.Rules, Review: current.observer.Review(s.Rules),
			State: func() string { return "robots.txt of this site is empty" }}
		if p := f.Problem(); p.Severity != "" && p.Line == 0 { // a line was logged by the review
			h.log.Warn("robots.txt is most likely not what is meant", zap.String("what", p.Message), zap.String("what_to_do", p.Advice))
		}
	}
}

// restart replaces the registry. Requests that are being decided, or held,
// continue with the old one.
func (h *Handler) restart(registry *crawler.Registry) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	before := h.running.Load()
	current, err := h.newRunning(registry, before.modes.Bind(registry), func(
		v *judge.Verification, observer *metrics.Reads,
	) (*enforce.Engine, error) {
		return before.With(func(s *judge.Settings) { s.Registry, s.Verification = registry, v }, h.fetched(observer))
	})
	if err != nil {
		return err
	}
	h.running.Store(current)
	return before.retire()
}

// setModes changes the modes.
func (h *Handler) setModes(modes *live.Modes) {
	h.changing.Lock()
	defer h.changing.Unlock()
	current := *h.running.Load()
	current.modes = modes.Bind(current.Registry())
	h.running.Store(&current)
}

// end closes the engine. Requests that still run in an old configuration can use
// it afterwards.
func (h *Handler) end() error {
	current := h.running.Load()
	return errors.Join(current.Close(), current.retire())
}
