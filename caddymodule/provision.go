package caddymodule

import (
	"cmp"
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
		tags, err := headers.Compile(h.XRobotsTag)
		if err != nil {
			return fmt.Errorf("x_robots_tag: %w", err)
		}
		h.tags = tags
	}
	return h.provisionEngine(ctx)
}

func (h *Handler) provisionEngine(ctx caddy.Context) error {
	rules, err := h.rules()
	if err != nil {
		return err
	}
	source, err := h.newSource(caddy.NewReplacer())
	if err != nil {
		return err
	}
	if c, ok := source.(io.Closer); ok {
		h.cleanup = append(h.cleanup, c.Close)
	}
	limiter, err := h.pooledLimiter()
	if err != nil {
		return err
	}
	copies, err := h.pooledCopies()
	if err != nil {
		return err
	}
	observer := newObserver(h.log, h.kind(), cmp.Or(rules.Registry, crawler.Builtin()))
	h.cleanup = append(h.cleanup, observer.Close)
	h.engine, err = enforce.NewEngine(rules, source, limiter, enforce.PoliciesConfig{
		Refresh:    time.Duration(h.Refresh),
		MaxOrigins: h.MaxOrigins,
		DenyFailed: h.OnError == onErrorDeny,
		Copies:     copies,
		Observer:   observer,
	})
	if err != nil {
		return err
	}
	policies.engines.Store(h.engine, h.kind())
	h.cleanup = append(h.cleanup, func() error { policies.engines.Delete(h.engine); return h.engine.Close() })
	h.outcomes = newOutcomes(h.engine.Registry(), h.monitor, h.log)
	return h.watch(ctx, source)
}

// watch reads a source that is at hand now, and keeps the policy of a file as
// fresh as the file.
func (h *Handler) watch(ctx caddy.Context, source enforce.Source) error {
	file, isFile := source.(enforce.File)
	if _, isInline := source.(enforce.Inline); isFile || isInline {
		h.engine.Policies().Peek(ctx, enforce.Origin{}, time.Now())
	}
	if !isFile {
		return nil
	}
	watching, stop := context.WithCancel(ctx)
	h.cleanup = append(h.cleanup, func() error { stop(); return nil })
	return file.Watch(watching, func() {
		h.engine.Policies().Reread(watching, enforce.Origin{}, time.Now())
	})
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
