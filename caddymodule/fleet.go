package caddymodule

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// pooledFleet is the value of pool for one fleet. It connects when the app
// starts, so that validating a configuration does not use the network. Its
// methods are safe for concurrent use.
type pooledFleet struct {
	config throttle.FleetConfig
	local  *throttle.Memory
	log    atomic.Pointer[zap.Logger] // of the newest configuration
	fleet  atomic.Pointer[throttle.Fleet]
	up     atomic.Bool                 // Redis answers
	last   atomic.Pointer[fleetChange] // nil before the first change

	mu     sync.Mutex // guards closed, and changes of fleet
	closed bool
}

// Take implements throttle.Limiter.
func (p *pooledFleet) Take(ctx context.Context, now time.Time, k throttle.Key, t *throttle.Limits, maxWait time.Duration) throttle.Result {
	if f := p.fleet.Load(); f != nil {
		return f.Take(ctx, now, k, t, maxWait)
	}
	return p.local.Take(ctx, now, k, t, maxWait)
}

// fleetChange is a change between up and down.
type fleetChange struct {
	at  time.Time
	err error
}

// Peek implements throttle.Inspector.
func (p *pooledFleet) Peek(now time.Time, k throttle.Key, t *throttle.Limits) (throttle.Result, bool) {
	return p.local.Peek(now, k, t)
}

// Forget implements throttle.Inspector.
func (p *pooledFleet) Forget(ctx context.Context, now time.Time, k throttle.Key) error {
	if f := p.fleet.Load(); f != nil {
		return f.Forget(ctx, now, k)
	}
	return p.local.Forget(ctx, now, k)
}

// connect makes the connection to Redis, once. It does not wait for an answer.
func (p *pooledFleet) connect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.fleet.Load() != nil {
		return
	}
	fleetUp.fleets.Store(p, nil)
	f, err := throttle.NewFleet(p.config, p.local, p)
	if err != nil {
		p.log.Load().Error("fleet: the connection to Redis can't be set up: each server counts alone", zap.Error(err))
		return
	}
	p.fleet.Store(f)
}

// Close implements throttle.Limiter.
func (p *pooledFleet) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if f := p.fleet.Load(); f != nil {
		return f.Close()
	}
	return nil
}

// Destruct implements caddy.Destructor.
func (p *pooledFleet) Destruct() error {
	fleetUp.fleets.Delete(p)
	return p.Close()
}

// FleetState implements throttle.Observer.
func (p *pooledFleet) FleetState(s throttle.FleetState, err error) {
	p.up.Store(s == throttle.FleetUp)
	p.last.Store(&fleetChange{time.Now(), err})
	if s == throttle.FleetDown {
		p.log.Load().Error("fleet: Redis does not answer: each server counts alone until it answers again",
			zap.Int("instances", p.config.Instances), zap.Error(err))
		return
	}
	p.log.Load().Info("fleet: budgets are shared", zap.Stringer("state", s))
}

// FleetCall implements throttle.Observer.
func (*pooledFleet) FleetCall(took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	fleetCalls.WithLabelValues(result).Observe(took.Seconds())
}

// FleetRefusal implements throttle.Observer.
func (*pooledFleet) FleetRefusal(by throttle.Engine) {
	fleetRefusals.WithLabelValues(by.String()).Inc()
}

// FleetFallback implements throttle.Observer.
func (*pooledFleet) FleetFallback() { fleetFallbacks.Inc() }

// limiter returns the limiter that holds the budgets of a handler. It outlives
// the configuration.
func (a *App) limiter(s *config.Settings) (throttle.Limiter, error) {
	if s.CrawlDelay != nil {
		a.entries = max(a.entries, s.CrawlDelay.MaxEntries)
	}
	if s.Fleet == nil {
		return a.memory, nil
	}
	config, err := s.Fleet.Config(caddy.NewReplacer())
	if err != nil {
		return nil, err
	}
	// The placeholders are replaced in the key, so that a changed password makes
	// a new connection.
	address := caddy.NewReplacer().ReplaceAll(s.Fleet.URL, "")
	p, err := pooled(a, fmt.Sprintf("fleet:%q %q %d %d", address, config.Prefix, config.Instances, config.Deadline), func() (*pooledFleet, error) {
		return &pooledFleet{config: config, local: a.memory}, nil
	})
	if err != nil {
		return nil, err
	}
	p.log.Store(a.log)
	a.onStart(p.connect)
	return p, nil
}

// Interface guards
var (
	_ throttle.Limiter   = (*pooledFleet)(nil)
	_ throttle.Observer  = (*pooledFleet)(nil)
	_ throttle.Inspector = (*pooledFleet)(nil)
)
