package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// Fleet makes the servers that serve a site hold each crawler to one budget,
// through a Redis or Valkey that they share. While it is away each server
// goes on alone, with intervals as many times as long as there are servers, so
// that the whole budget holds.
type Fleet struct {
	// Where Redis or Valkey is: `redis://[[user]:password@]host[:port][/database]`,
	// `rediss://` with TLS, or `redis+unix:///path/to/socket`; the same with
	// `valkey`. Parameters: `addr` for more nodes of a cluster or more
	// Sentinels, `master_set` for Sentinels. Placeholders that are known when
	// the configuration is loaded, such as `{env.REDIS_PASSWORD}`, are
	// replaced.
	URL string `json:"url,omitempty"`

	// How many servers share it. Default: 1.
	Instances int `json:"instances,omitempty"`

	// What the keys in it begin with. Default: `robots:`.
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

// pooledFleet is the value of pool for one fleet. It connects when the first
// request comes, so that loading a configuration, and checking one, has
// nothing to do with the network.
type pooledFleet struct {
	config throttle.FleetConfig
	local  *throttle.Memory
	log    atomic.Pointer[zap.Logger] // of the newest configuration
	fleet  atomic.Pointer[throttle.Fleet]
	closed atomic.Bool
}

// Take implements throttle.Limiter.
func (p *pooledFleet) Take(ctx context.Context, now time.Time, k throttle.Key, t *throttle.Terms, maxWait time.Duration) throttle.Result {
	if f := p.fleet.Load(); f != nil {
		return f.Take(ctx, now, k, t, maxWait)
	}
	return p.local.Take(ctx, now, k, t, maxWait)
}

// connect starts the fleet's engine, once. It does not wait for the server.
func (p *pooledFleet) connect() {
	if p == nil || p.fleet.Load() != nil || p.closed.Load() {
		return
	}
	f, err := throttle.NewFleet(p.config, p.local, p)
	if err != nil {
		p.log.Load().Error("fleet: each server counts for itself", zap.Error(err))
		return
	}
	if !p.fleet.CompareAndSwap(nil, f) {
		_ = f.Close() // another request was first
	}
}

// Close implements throttle.Limiter.
func (p *pooledFleet) Close() error {
	p.closed.Store(true)
	if f := p.fleet.Load(); f != nil {
		return f.Close()
	}
	return nil
}

// Destruct implements caddy.Destructor.
func (p *pooledFleet) Destruct() error { return p.Close() }

// FleetState implements throttle.Observer.
func (p *pooledFleet) FleetState(s throttle.FleetState, err error) {
	up := 0.0
	if s == throttle.FleetUp {
		up = 1
	}
	fleetUp.Set(up)
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

// pooledFleet returns the engine of the handler's fleet, which outlives the
// configuration.
func (h *Handler) pooledFleet(local *throttle.Memory) (throttle.Limiter, error) {
	config, err := h.Fleet.config(caddy.NewReplacer())
	if err != nil {
		return nil, err
	}
	key := poolKey(fmt.Sprintf("fleet:%+v", *h.Fleet))
	v, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) {
		return &pooledFleet{config: config, local: local}, nil
	})
	if err != nil {
		return nil, err
	}
	h.cleanup = append(h.cleanup, func() error { _, err := pool.Delete(key); return err })
	p := v.(*pooledFleet)
	p.log.Store(h.log)
	h.fleet = p
	return p, nil
}

// Interface guards
var (
	_ throttle.Limiter  = (*pooledFleet)(nil)
	_ throttle.Observer = (*pooledFleet)(nil)
)
