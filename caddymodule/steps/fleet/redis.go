package fleet

import (
	"slices"
	"sync"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// redis is the connection to a server of Redis or Valkey, with the steps that use it. It
// connects at the first start, so that validating a configuration does not use the network.
type redis struct {
	*limiter
	log metrics.Logger

	once  sync.Once // begins to connect
	using sync.Mutex
	steps []*Fleet // that have started, the newest last; guarded by using
}

// newRedis returns a redis that is not connected. It counts in local while Redis does not
// answer.
func newRedis(c config, local *throttle.Memory) *redis {
	r := new(redis)
	r.limiter = newLimiter(c, local, r)
	return r
}

// start connects to Redis, once. It does not wait for an answer.
func (r *redis) start(f *Fleet) {
	r.using.Lock()
	r.steps = append(r.steps, f)
	r.using.Unlock()
	r.log.Set(metrics.Limited(f.site.Log, logLines))
	r.once.Do(func() {
		r.connect()
		connections.Report(r, r)
	})
}

// leave ends the use by a step.
func (r *redis) leave(f *Fleet) {
	r.using.Lock()
	defer r.using.Unlock()
	r.steps = slices.DeleteFunc(r.steps, func(other *Fleet) bool { return other == f })
}

// sites returns the sites of all steps, and the newest one, nil if there is none.
func (r *redis) sites() (sites []string, newest *Fleet) {
	r.using.Lock()
	defer r.using.Unlock()
	for _, newest = range r.steps {
		sites = append(sites, newest.site.Hosts()...)
	}
	slices.Sort(sites)
	return slices.Compact(sites), newest
}

// Close closes the connection.
func (r *redis) Close() error {
	connections.Forget(r)
	r.limiter.close()
	return nil
}
