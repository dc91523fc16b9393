package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/headers"
)

const (
	maxWait     = throttle.MaxWait
	maxBurst    = 1000
	maxEntries  = 100_000    // budgets held by the process, by default
	mostEntries = 10_000_000 // and at most
)

// pool keeps what outlives a configuration: a reload must forget neither
// budgets nor the last good robots.txt.
var pool = caddy.NewUsagePool()

type poolKey string

const (
	limiterKey poolKey = "limiter"
	copiesKey  poolKey = "copies"
)

// pooledLimiter and pooledCopies are the values of pool.
type (
	pooledLimiter struct{ *throttle.Memory }
	pooledCopies  struct{ *enforce.Copies }
)

// Destruct implements caddy.Destructor.
func (l pooledLimiter) Destruct() error { return l.Close() }

// Destruct implements caddy.Destructor.
func (pooledCopies) Destruct() error { return nil }

// Provision makes the handler ready. It does no network I/O.
func (h *Handler) Provision(ctx caddy.Context) error {
	if h.log == nil {
		h.log = ctx.Logger()
	}
	if err := h.Validate(); err != nil {
		return err
	}
	if err := registerMetrics(ctx.GetMetricsRegistry()); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	h.monitor = h.Mode == modeMonitor
	if len(h.XRobotsTag) > 0 {
		tags, err := headers.Compile(h.XRobotsTag)
		if err != nil {
			return fmt.Errorf("x_robots_tag: %w", err)
		}
		h.tags = tags
	}
	return h.provisionEngine(ctx)
}

// provisionEngine makes what decides, and keeps it fresh.
func (h *Handler) provisionEngine(ctx caddy.Context) (err error) {
	if h.source, err = h.newSource(caddy.NewReplacer()); err != nil {
		return err
	}
	if c, ok := h.source.(io.Closer); ok {
		h.cleanup = append(h.cleanup, c.Close)
	}
	if h.limiter, err = h.pooledLimiter(); err != nil {
		return err
	}
	if h.copies, err = h.pooledCopies(); err != nil {
		return err
	}
	file := registryFile{path: h.registryPath()}
	registry, err := file.read(h.Crawlers)
	if err != nil {
		return err
	}
	if err := h.start(registry); err != nil {
		return err
	}
	if file.path != "" {
		if err := h.watchRegistry(ctx, &file); err != nil {
			return err
		}
	}
	f, ok := h.source.(enforce.File)
	if !ok {
		return nil
	}
	reread := func() { h.running.Load().Policies().Reread(ctx, enforce.Origin{}, time.Now()) }
	if err := h.watchFile(ctx, f, reread); err != nil {
		return err
	}
	reread() // it may have changed after it was read and before it was watched
	return nil
}

// running is what decides and counts, for one registry. It is replaced whole,
// for what it holds goes by the places of crawlers in the registry.
type running struct {
	*enforce.Engine
	outcomes *outcomes
	observer *observer
}

// start has requests decided with a registry. A source that is at hand is
// read now.
func (h *Handler) start(registry *crawler.Registry) error {
	rules, err := h.rules()
	if err != nil {
		return err
	}
	rules.Registry = registry
	observer := newObserver(h.log, h.kind(), registry, h.XRobotsTag)
	engine, err := enforce.NewEngine(rules, h.source, h.limiter, enforce.PoliciesConfig{
		Refresh:    time.Duration(h.Refresh),
		MaxOrigins: h.MaxOrigins,
		DenyFailed: h.OnError == onErrorDeny,
		Copies:     h.copies,
		Observer:   observer,
	})
	if err != nil {
		return errors.Join(err, observer.Close())
	}
	if kind := h.kind(); kind == fromFile || kind == fromInline {
		engine.Policies().Peek(context.Background(), enforce.Origin{}, time.Now())
	}
	policies.engines.Store(engine, h.kind())
	h.running.Store(&running{engine, newOutcomes(registry, h.monitor, h.log), observer})
	h.cleanup = append(h.cleanup, h.end)
	return nil
}

// restart has requests decided with another registry from now on. Requests
// that are being decided, or held, go on as they began.
func (h *Handler) restart(registry *crawler.Registry) error {
	before := h.running.Load()
	observer := newObserver(h.log, h.kind(), registry, h.XRobotsTag)
	engine, err := before.With(registry, observer)
	if err != nil {
		return errors.Join(err, observer.Close())
	}
	policies.engines.Store(engine, h.kind())
	h.running.Store(&running{engine, newOutcomes(registry, h.monitor, h.log), observer})
	policies.engines.Delete(before.Engine)
	return before.observer.Close()
}

// end ends what decides. It stays in place, for the requests that are still
// on their way through an old configuration.
func (h *Handler) end() error {
	now := h.running.Load()
	policies.engines.Delete(now.Engine)
	return errors.Join(now.Close(), now.observer.Close())
}

// watchFile calls changed when a file may have changed, until the handler is
// cleaned up.
func (h *Handler) watchFile(ctx caddy.Context, file enforce.File, changed func()) error {
	watching, stop := context.WithCancel(ctx)
	h.cleanup = append(h.cleanup, func() error { stop(); return nil })
	return file.Watch(watching, changed)
}

// pooledLimiter returns the engine that holds the budgets.
func (h *Handler) pooledLimiter() (throttle.Limiter, error) {
	entries := maxEntries
	if h.CrawlDelay != nil && h.CrawlDelay.MaxEntries > 0 {
		entries = h.CrawlDelay.MaxEntries
	}
	key := limiterKey + poolKey(fmt.Sprintf(":%d", entries))
	v, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) {
		return pooledLimiter{throttle.NewMemory(entries)}, nil
	})
	if err != nil {
		return nil, err
	}
	h.cleanup = append(h.cleanup, func() error { _, err := pool.Delete(key); return err })
	local := v.(pooledLimiter).Memory
	if h.Fleet != nil {
		return h.pooledFleet(local)
	}
	return local, nil
}

// pooledCopies returns where the good copies of this handler's source live.
func (h *Handler) pooledCopies() (*enforce.Copies, error) {
	key := copiesKey + poolKey(":"+h.kind())
	if h.Source != nil {
		key += poolKey(":" + h.Source.Path + h.Source.URL)
	}
	v, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) {
		return pooledCopies{enforce.NewCopies()}, nil
	})
	if err != nil {
		return nil, err
	}
	h.cleanup = append(h.cleanup, func() error { _, err := pool.Delete(key); return err })
	return v.(pooledCopies).Copies, nil
}

// Cleanup lets go of what Provision took, as far as it came.
func (h *Handler) Cleanup() error {
	var errs []error
	for i := len(h.cleanup) - 1; i >= 0; i-- {
		errs = append(errs, h.cleanup[i]())
	}
	h.cleanup = nil
	return errors.Join(errs...)
}
