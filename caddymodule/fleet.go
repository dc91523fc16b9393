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

// maxFleetDeadline bounds Fleet.Deadline, because requests wait that long.
const maxFleetDeadline = time.Second

// Fleet makes several servers of a site share one budget for each crawler,
// through Redis or Valkey (version 6 or later). Without it, a crawler could send
// as many requests to each server as robots.txt allows in total. While Redis or
// Valkey can't be reached, each server counts alone, with intervals that are
// `instances` times as long, so that all servers together keep to the budget.
type Fleet struct {
	// The URL of Redis or Valkey:
	// `redis://[[user]:password@]host[:port][/database]`; `rediss://…` with
	// TLS; or `redis+unix:///path/to/socket`. The schemes `valkey`, `valkeys`
	// and `valkey+unix` work too. Query parameters: `addr=host:port`, once for
	// each further node of a cluster or Sentinel; `master_set=name`, for
	// Sentinels; `sentinel_username` and `sentinel_password`, for their login;
	// `db=number`, the database, in place of the path; `skip_verify=true`, to
	// accept any TLS certificate. Placeholders that are known when the
	// configuration is loaded, such as `{env.REDIS_PASSWORD}`, are replaced.
	// Required.
	URL string `json:"url,omitempty"`

	// The number of servers that share the budgets, from 1 to 10000. If it is
	// too low, crawlers may send too many requests while Redis or Valkey can't
	// be reached. Default: 1.
	Instances int `json:"instances,omitempty"`

	// The prefix of all keys in Redis or Valkey. Servers with the same prefix
	// share their budgets. Default: `robots:`.
	Prefix string `json:"prefix,omitempty"`

	// The longest time for which a request waits for one answer of Redis or
	// Valkey, from 1ms to 1s. Default: 25ms.
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
		"deadline":  withCheck(duration(func(*Handler) *caddy.Duration { return &f.Deadline }, time.Millisecond), f.validate),
	})
}

func (f *Fleet) validate() error {
	switch {
	case f.URL == "":
		return errors.New("fleet: the URL of Redis or Valkey is missing")
	case f.Instances < 0 || f.Instances > maxInstances:
		return fmt.Errorf("fleet instances %d is not between 1 and %d", f.Instances, maxInstances)
	case f.Deadline < 0 || time.Duration(f.Deadline) > maxFleetDeadline:
		return fmt.Errorf("fleet deadline %s is not between 1ms and %s", time.Duration(f.Deadline), maxFleetDeadline)
	}
	return nil
}

// config converts the settings to the limiter's.
func (f *Fleet) config(repl *caddy.Replacer) (throttle.FleetConfig, error) {
	c, err := throttle.ParseFleetURL(repl.ReplaceAll(f.URL, ""))
	if err != nil {
		return c, fmt.Errorf("fleet: %w", err)
	}
	c.Prefix, c.Instances, c.Deadline = f.Prefix, max(f.Instances, 1), time.Duration(f.Deadline)
	return c, nil
}

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
