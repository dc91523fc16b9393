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
)

const (
	maxWait    = throttle.MaxWait
	maxBurst   = 1000
	maxEntries = 100_000 // budgets held by the process
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
	h.log = ctx.Logger()
	if err := h.Validate(); err != nil {
		return err
	}
	if err := registerMetrics(ctx.GetMetricsRegistry()); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	h.monitor = h.Mode == modeMonitor
	if len(h.XRobotsTag) > 0 {
		tags, err := compileTags(h.XRobotsTag)
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
	registry, err := knownCrawlers(h.registryFile(), h.Crawlers)
	if err != nil {
		return err
	}
	h.cleanup = append(h.cleanup, h.end)
	if err := h.enforce(registry); err != nil {
		return err
	}
	if err := h.watchRegistry(ctx); err != nil {
		return err
	}
	file, ok := h.source.(enforce.File)
	if !ok {
		return nil
	}
	return h.watchFile(ctx, file, func() {
		h.running.Load().Policies().Reread(ctx, enforce.Origin{}, time.Now())
	})
}

// running is what decides and counts, for one registry.
type running struct {
	*enforce.Engine
	outcomes *outcomes
	observer *observer
}

// enforce has requests decided with a registry from now on. A source that is
// at hand is read now.
func (h *Handler) enforce(registry *crawler.Registry) error {
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
	return h.replace(&running{engine, newOutcomes(registry, h.monitor, h.log), observer})
}

// replace puts what decides in place of what did, which ends. After the
// handler was cleaned up it only ends the new one.
func (h *Handler) replace(now *running) error {
	h.replacing.Lock()
	defer h.replacing.Unlock()
	if h.ended {
		return now.end()
	}
	policies.engines.Store(now.Engine, h.kind())
	if before := h.running.Swap(now); before != nil {
		return before.end()
	}
	return nil
}

// end ends what decides. It stays in place, for the requests that are still
// on their way through an old configuration.
func (h *Handler) end() error {
	h.replacing.Lock()
	defer h.replacing.Unlock()
	h.ended = true
	if now := h.running.Load(); now != nil {
		return now.end()
	}
	return nil
}

func (r *running) end() error {
	policies.engines.Delete(r.Engine)
	return errors.Join(r.Close(), r.observer.Close())
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
	v, _, err := pool.LoadOrNew(limiterKey, func() (caddy.Destructor, error) {
		return pooledLimiter{throttle.NewMemory(maxEntries)}, nil
	})
	if err != nil {
		return nil, err
	}
	h.cleanup = append(h.cleanup, func() error { _, err := pool.Delete(limiterKey); return err })
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
