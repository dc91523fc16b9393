package shared

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Fleet is a limiter whose budgets several servers share. It connects at Start,
// so that validating a configuration does not use the network; before, it counts
// alone. Its methods are safe for concurrent use.
type Fleet struct {
	*metrics.Fleet
	Config throttle.FleetConfig

	local     *throttle.Memory
	connected atomic.Pointer[throttle.Fleet]

	mu     sync.Mutex // guards closed, and changes of connected
	closed bool
}

// NewFleet returns a fleet that is not connected. It counts in local while Redis
// does not answer.
func NewFleet(config throttle.FleetConfig, local *throttle.Memory) *Fleet {
	return &Fleet{Fleet: metrics.NewFleet(max(1, config.Instances)), Config: config, local: local}
}

// Start connects to Redis, once. It does not wait for an answer. It logs to log
// from now on.
func (f *Fleet) Start(log *zap.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.Fleet.Start(log)
	if f.connected.Load() != nil {
		return
	}
	c, err := throttle.NewFleet(f.Config, f.local, f.Fleet)
	if err != nil {
		f.Failed(err)
		return
	}
	f.connected.Store(c)
}

// Close closes the connection.
func (f *Fleet) Close() error {
	f.Fleet.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if c := f.connected.Load(); c != nil {
		return c.Close()
	}
	return nil
}

// Connected returns the connection, nil before Start.
func (f *Fleet) Connected() *throttle.Fleet { return f.connected.Load() }

// Take implements throttle.Limiter.
func (f *Fleet) Take(ctx context.Context, now time.Time, uses []throttle.Use) throttle.Result {
	if c := f.connected.Load(); c != nil {
		return c.Take(ctx, now, uses)
	}
	return f.local.Take(ctx, now, uses)
}

// Peek implements throttle.Limiter.
func (f *Fleet) Peek(now time.Time, k throttle.Key, t *throttle.Limits) (throttle.Result, bool) {
	return f.local.Peek(now, k, t)
}

// Forget implements throttle.Limiter.
func (f *Fleet) Forget(ctx context.Context, now time.Time, k throttle.Key) error {
	if c := f.connected.Load(); c != nil {
		return c.Forget(ctx, now, k)
	}
	return f.local.Forget(ctx, now, k)
}
