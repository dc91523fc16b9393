package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// redis is the connection to a server of Redis or Valkey, with the steps that use it. It
// connects at the first start, so that validating a configuration does not use the network;
// before, it counts alone. Its methods are safe for concurrent use.
type redis struct {
	observer
	config throttle.FleetConfig

	local     *throttle.Memory
	connected atomic.Pointer[throttle.Fleet]
	stop      context.CancelFunc
	ended     background.Group
	told      toldCache

	mu     sync.Mutex // guards the following, and changes of connected
	closed bool
	steps  []*Fleet // that have started, the newest last
	twins  int      // how often, one after the other, a value before was of another process
}

// newRedis returns a redis that is not connected. It counts in local while Redis does not
// answer.
func newRedis(config throttle.FleetConfig, local *throttle.Memory) *redis {
	return &redis{observer: observer{instances: max(1, config.Instances)}, config: config, local: local}
}

// start connects to Redis, once. It does not wait for an answer.
func (r *redis) start(f *Fleet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.steps = append(r.steps, f)
	r.log.Set(f.site.Log())
	if r.connected.Load() != nil {
		return
	}
	c, err := throttle.NewFleet(r.config, r.local, &r.observer)
	if err != nil {
		r.failed(err)
		return
	}
	r.connected.Store(c)
	connections.Report(r, r)
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.ended.Keep(ctx.Done(), "fleet: counts", func() { r.tell(ctx) })
}

// leave ends the use by a step.
func (r *redis) leave(f *Fleet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = slices.DeleteFunc(r.steps, func(other *Fleet) bool { return other == f })
}

// sites returns the sites of all steps, and the newest one, nil if there is none.
func (r *redis) sites() (sites []string, newest *Fleet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, newest = range r.steps {
		sites = append(sites, newest.site.Hosts()...)
	}
	slices.Sort(sites)
	return slices.Compact(sites), newest
}

// errNotConnected is returned before the start.
var errNotConnected = errors.New("the server is not connected yet")

// address returns the addresses, without credentials.
func (r *redis) address() string { return strings.Join(r.config.Addresses, ", ") }

// Close closes the connection.
func (r *redis) Close() error {
	connections.Forget(r)
	r.observer.close()
	r.mu.Lock()
	r.closed = true
	c := r.connected.Load()
	r.mu.Unlock()
	if c == nil {
		return nil
	}
	r.stop()
	r.ended.Wait()
	return c.Close()
}

// Take implements throttle.Limiter.
func (r *redis) Take(ctx context.Context, now time.Time, uses []throttle.Use) throttle.Result {
	if c := r.connected.Load(); c != nil {
		return c.Take(ctx, now, uses)
	}
	return r.local.Take(ctx, now, uses)
}

// Connected returns the connection, nil before the start.
func (r *redis) Connected() *throttle.Fleet { return r.connected.Load() }

// Peek implements throttle.Limiter.
func (r *redis) Peek(now time.Time, k throttle.Key, t *throttle.Limits) (throttle.Result, bool) {
	return r.local.Peek(now, k, t)
}

// Forget implements throttle.Limiter.
func (r *redis) Forget(ctx context.Context, now time.Time, k throttle.Key) error {
	if c := r.connected.Load(); c != nil {
		return c.Forget(ctx, now, k)
	}
	return r.local.Forget(ctx, now, k)
}

// Members implements step.Store.
func (r *redis) Members(ctx context.Context, set string, most int) (list []step.Member, err error) {
	c := r.connected.Load()
	if c == nil {
		return nil, errNotConnected
	}
	members, _, err := c.Members(ctx, set, "-", most)
	for _, m := range members {
		list = append(list, step.Member(m))
	}
	return list, err
}

// AddMembers implements step.Store.
func (r *redis) AddMembers(ctx context.Context, set string, list []step.Member, keep time.Duration, most int) error {
	c := r.connected.Load()
	if c == nil {
		return errNotConnected
	}
	var members []throttle.Member
	for _, m := range list {
		members = append(members, throttle.Member(m))
	}
	return c.AddMembers(ctx, set, members, keep, most)
}
