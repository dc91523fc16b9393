package live

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// addShared adds the parts that belong to no single site.
func (r *Reporter) addShared(health *statusapi.Health, now time.Time) {
	used, most := r.app.Ceiling.Usage()
	m := &statusapi.Memory{Octets: used, MaxOctets: most, Rows: r.app.Counters.Rows(), MaxRows: counters.MaxRows}
	m.Evictions, m.Repeated = metrics.Evictions(now)
	if health.Memory = m; m.Repeated >= manyRepeated {
		health.Problems = append(health.Problems, mistakes.Evictions(m))
	}
	var problems []statusapi.Problem
	health.Persist, problems = r.app.Counters.state()
	health.Problems = append(append(health.Problems, problems...), r.app.Problems()...)
	for _, p := range background.Panics() {
		if now.Sub(p.Last) <= panicFor {
			health.Problems = append(health.Problems, warning("panic", p.What, fmt.Sprintf("a fault of the plugin or of what it calls: %s "+
				"panicked, %s, last at %s, and goes on: %s", p.What, quantity(p.Count, "time"), formatTime(p.Last, now), metrics.Clip(p.Value)),
				"Please report it with the stack that the log has. This message ends a day after the last time."))
		}
	}
}

// panicFor is how long a panic in the background is a problem.
const panicFor = 24 * time.Hour

// manyRepeated is how many repeated reads in a minute are a problem.
const manyRepeated = 10
