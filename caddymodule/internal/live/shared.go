package live

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// sharedProblems returns the problems that belong to no single site, if the scope is all sites, and adds
// the state of what all share.
func (r *Reporter) sharedProblems(scope statusapi.Scope, health *statusapi.Health) (list []statusapi.Problem) {
	if !scope.All() {
		return nil
	}
	now := r.app.Now()
	used, most := r.app.Ceiling.Usage()
	health.Memory = &statusapi.Memory{Octets: used, MaxOctets: most}
	health.Persist, list = r.app.Counters.state()
	dropped, repeated := metrics.Evictions(now)
	if repeated >= manyRepeated {
		list = append(list, evicted(health.Memory, dropped, repeated))
	}
	for _, p := range background.Panics() {
		if now.Sub(p.Last) <= panicFor {
			list = append(list, warning("panic", p.What, fmt.Sprintf("a fault of the plugin or of what it calls: %s "+
				"panicked, %s, last at %s, and goes on: %s", p.What, quantity(p.Count, "time"), words.Time(p.Last, now), metrics.Clip(p.Value)),
				"Please report it with the stack that the log has. This message ends a day after the last time."))
		}
	}
	return list
}

// panicFor is how long a panic in the background is a problem.
const panicFor = 24 * time.Hour

// manyRepeated is how many repeated reads in a minute are a problem.
const manyRepeated = 10

// evicted returns the problem that files of robots.txt are dropped, and fetched again, too often.
func evicted(m *statusapi.Memory, dropped, repeated int) statusapi.Problem {
	subject, correction := "max_origins", "Set max_origins above the number of your hosts."
	if m.Octets > m.MaxOctets/10*9 {
		subject, correction = "max_memory", "Raise max_memory in the global option robots."
	}
	return warning("memory", subject,
		fmt.Sprintf("in one minute, the robots.txt files of %d hosts were dropped because of %s, and %d files were fetched "+
			"again: crawlers wait for them", dropped, subject, repeated),
		correction)
}
