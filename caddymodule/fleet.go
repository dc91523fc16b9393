package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// maxInstances bounds Fleet.Instances.
const maxInstances = 10_000

// maxFleetDeadline bounds Fleet.Deadline: requests wait for it.
const maxFleetDeadline = time.Second

// Fleet makes all servers of a site share one budget for each crawler, through
// Redis or Valkey. While Redis or Valkey can't be reached, each server decides
// alone and multiplies its intervals by the number of servers, so that all
// together keep to the budget.
type Fleet struct {
	// The URL of Redis or Valkey:
	// `redis://[[user]:password@]host[:port][/database]`, `rediss://` with TLS,
	// or `redis+unix:///path/to/socket`; the same with `valkey`. Parameters:
	// `addr` for more nodes of a cluster or more Sentinels, `master_set` for
	// Sentinels. Placeholders that are known when the configuration is loaded,
	// such as `{env.REDIS_PASSWORD}`, are replaced.
	URL string `json:"url,omitempty"`

	// The number of servers that share it. Default: 1.
	Instances int `json:"instances,omitempty"`

	// The prefix of its keys. Default: `robots:`.
	Prefix string `json:"prefix,omitempty"`

	// The longest time for which a request waits for it; at most 1s.
	// Default: 25ms.
	Deadline caddy.Duration `json:"deadline,omitempty"`
}

// parseFleet parses
//
//	fleet <url> {
//		instances <number>
//		prefix    <text>
//		deadline  <duration>
//	}
func parseFleet(h *Handler, d *caddyfile.Dispenser) error {
	f := new(Fleet)
	var err error
	if f.URL, err = one(d); err != nil {
		return err
	}
	if !strings.Contains(f.URL, "{") {
		if _, err := throttle.ParseFleetURL(f.URL); err != nil {
			return d.Errf("fleet: %v", err)
		}
	}
	h.Fleet = f
	return parseBlock(h, d, map[string]subdirective{
		"instances": number(func(*Handler) *int { return &f.Instances }, 1, maxInstances),
		"prefix":    text(func(*Handler) *string { return &f.Prefix }),
		"deadline":  duration(func(*Handler) *caddy.Duration { return &f.Deadline }, time.Millisecond),
	})
}

func (f *Fleet) validate() error {
	switch {
	case f.URL == "":
		return errors.New("fleet: no URL")
	case f.Instances < 0 || f.Instances > maxInstances:
		return fmt.Errorf("fleet instances %d is not between 1 and %d", f.Instances, maxInstances)
	case f.Deadline < 0 || time.Duration(f.Deadline) > maxFleetDeadline:
		return fmt.Errorf("fleet deadline %s is not between 1ms and %s", time.Duration(f.Deadline), maxFleetDeadline)
	}
	return nil
}

// config is the fleet as the limiter takes it.
func (f *Fleet) config(repl *caddy.Replacer) (throttle.FleetConfig, error) {
	c, err := throttle.ParseFleetURL(repl.ReplaceAll(f.URL, ""))
	if err != nil {
		return c, fmt.Errorf("fleet: %w", err)
	}
	c.Prefix, c.Instances, c.Deadline = f.Prefix, max(f.Instances, 1), time.Duration(f.Deadline)
	return c, nil
}

// pooledFleet is the value of pool for one fleet. It connects when the app
// starts, so that loading or checking a configuration does not use the network.
type pooledFleet struct {
	config throttle.FleetConfig
	local  *throttle.Memory
	log    atomic.Pointer[zap.Logger] // of the newest configuration
	fleet  atomic.Pointer[throttle.Fleet]
	up     atomic.Bool                 // whether the server answers
	last   atomic.Pointer[fleetChange] // nil before the first one

	mu     sync.Mutex // held while fleet and closed are changed
	closed bool
}

// Take implements throttle.Limiter.
func (p *pooledFleet) Take(ctx context.Context, now time.Time, k throttle.Key, t *throttle.Terms, maxWait time.Duration) throttle.Result {
	if f := p.fleet.Load(); f != nil {
		return f.Take(ctx, now, k, t, maxWait)
	}
	return p.local.Take(ctx, now, k, t, maxWait)
}

// fleetChange is the time and the cause of a fleet's last change of state.
type fleetChange struct {
	at  time.Time
	err error
}

// Peek implements throttle.Inspector.
func (p *pooledFleet) Peek(now time.Time, k throttle.Key, t *throttle.Terms) (throttle.Result, bool) {
	return p.local.Peek(now, k, t)
}

// Forget implements throttle.Inspector.
func (p *pooledFleet) Forget(ctx context.Context, now time.Time, k throttle.Key) error {
	if f := p.fleet.Load(); f != nil {
		return f.Forget(ctx, now, k)
	}
	return p.local.Forget(ctx, now, k)
}

// connect starts the fleet's engine, once. It does not wait for the server.
func (p *pooledFleet) connect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.fleet.Load() != nil {
		return
	}
	fleetUp.fleets.Store(p, nil)
	f, err := throttle.NewFleet(p.config, p.local, p)
	if err != nil {
		p.log.Load().Error("fleet: each server counts for itself", zap.Error(err))
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
		p.log.Load().Error("fleet: Redis is away, each server counts for itself until it is back",
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

// limiter returns the engine that holds the budgets of a handler. It outlives
// the configuration.
func (a *App) limiter(s *Settings) (throttle.Limiter, error) {
	if s.CrawlDelay != nil {
		a.entries = max(a.entries, s.CrawlDelay.MaxEntries)
	}
	if s.Fleet == nil {
		return a.memory, nil
	}
	config, err := s.Fleet.config(caddy.NewReplacer())
	if err != nil {
		return nil, err
	}
	// The key has what placeholders stand for, such as a password.
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
