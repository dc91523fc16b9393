package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

var (
	fleetUp = NewDesc("fleet_up",
		"1 while the fleet's Redis or Valkey answers (in a cluster, every master), 0 while each server counts alone. Absent without a fleet.")
	fleets = NewLive(prometheus.GaugeValue, sendFleets, fleetUp)

	fleetCalls = Collected(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "caddy_robots_fleet_call_duration_seconds",
		Help:    "Round-trip times to the fleet's Redis or Valkey, in seconds, by result.",
		Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .1},
	}, []string{"result"}))
	fleetRefusals = NewCounter("fleet_refusals_total",
		"Requests throttled with a fleet, by the engine that decided: local, remote (Redis or Valkey), or fallback while "+
			"Redis or Valkey does not answer.",
		"engine")
	fleetFallbacks = NewCounter("fleet_fallbacks_total",
		"Requests decided by one server alone, because the fleet's Redis or Valkey did not answer.").WithLabelValues()
)

// Fleet is a throttle.Observer.
type Fleet struct {
	log       Logger
	instances int
	last      atomic.Pointer[FleetChange] // nil before the first change

	mu     sync.Mutex
	outage bool        // the log says that Redis does not answer
	steady *time.Timer // logs the end of the outage
}

// steadyAfter is how long Redis must answer until the log says so, after an
// outage. So one that comes and goes causes two lines in all.
const steadyAfter = 10 * time.Second

// FleetChange is a change between up and down.
type FleetChange struct {
	Up    bool
	Time  time.Time
	Error error
}

// NewFleet returns the observer of a fleet of a number of servers.
func NewFleet(instances int) *Fleet { return &Fleet{instances: instances} }

// Start begins to report the fleet, and logs to log from now on.
func (f *Fleet) Start(log *zap.Logger) {
	f.log.Set(log)
	fleets.values.Store(f, f)
}

// Close ends the report.
func (f *Fleet) Close() {
	fleets.values.Delete(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.steady != nil {
		f.steady.Stop()
	}
}

// LastChange returns the last change, nil before the first.
func (f *Fleet) LastChange() *FleetChange { return f.last.Load() }

// Failed logs that no connection can be set up.
func (f *Fleet) Failed(err error) {
	f.log.Load().Error("fleet: the connection to Redis can't be set up: each server counts alone", zap.Error(err))
}

// FleetState implements throttle.Observer.
func (f *Fleet) FleetState(s string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last.Store(&FleetChange{s == throttle.FleetUp, time.Now(), err})
	if f.steady != nil {
		f.steady.Stop()
	}
	switch {
	case s != throttle.FleetUp && !f.outage:
		f.outage = true
		f.log.Load().Error("fleet: Redis does not answer: each server counts alone until it answers again",
			zap.Int("instances", f.instances), zap.Error(err))
	case s == throttle.FleetUp && f.outage:
		f.steady = background.After(steadyAfter, "fleet: the log", f.logReturn)
	case s == throttle.FleetUp:
		f.log.Load().Info("fleet: budgets are shared", zap.String("state", s))
	}
}

// logReturn logs that Redis answers again.
func (f *Fleet) logReturn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.last.Load(); last.Up {
		f.outage = false
		f.log.Load().Info("fleet: budgets are shared", zap.String("state", throttle.FleetUp), zap.Time("since", last.Time))
	}
}

// FleetCall implements throttle.Observer.
func (*Fleet) FleetCall(took time.Duration, err error) {
	fleetCalls.WithLabelValues(resultOf(err, "error")).Observe(took.Seconds())
}

// FleetRefusal implements throttle.Observer.
func (*Fleet) FleetRefusal(by string) { fleetRefusals.WithLabelValues(by).Inc() }

// FleetFallback implements throttle.Observer.
func (*Fleet) FleetFallback() { fleetFallbacks.Inc() }

// sendFleets sends the metric of the fleets.
func sendFleets(fleets []*Fleet, send Sender) {
	if len(fleets) == 0 {
		return
	}
	up := 1.0
	for _, f := range fleets {
		if last := f.LastChange(); last == nil || !last.Up {
			up = 0
		}
	}
	send(fleetUp, up)
}

// resultOf returns "ok" for no error, and failed for any error.
func resultOf(err error, failed string) string {
	if err != nil {
		return failed
	}
	return "ok"
}
