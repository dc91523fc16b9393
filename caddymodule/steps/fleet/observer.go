package fleet

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
)

var (
	up = metrics.NewDesc("fleet_up",
		"1 while Redis or Valkey answers (in a cluster, every master), 0 while each server counts alone.")
	connections = metrics.NewLive(prometheus.GaugeValue, sendUp, up) // that are in use

	calls = metrics.Collected(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "caddy_robots_fleet_call_duration_seconds",
		Help:    "Round-trip times to Redis or Valkey, in seconds.",
		Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .1},
	}, []string{"result"}))
	fallbacks = metrics.NewCounter("fleet_fallbacks_total",
		"Requests decided by one server alone, because Redis or Valkey did not answer.").WithLabelValues()
)

// logLines is the largest number of log lines with the same message in a minute: a server that
// comes and goes writes no more.
const logLines = 5

// changed implements events.
func (r *redis) changed(s string, err error) {
	if s == stateUp {
		r.log.Load().Info("fleet: budgets are shared", zap.String("state", s))
		return
	}
	r.log.Load().Error("fleet: Redis does not answer: each server counts alone until it answers again",
		zap.Int("instances", r.config.Instances), zap.Error(err))
}

// called implements events.
func (*redis) called(took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	calls.WithLabelValues(result).Observe(took.Seconds())
}

// alone implements events.
func (*redis) alone() { fallbacks.Inc() }

// sendUp sends the metric of the connections.
func sendUp(list []*redis, send metrics.Sender) {
	if len(list) == 0 {
		return
	}
	all := 1.0
	for _, r := range list {
		if r.server() == nil {
			all = 0
		}
	}
	send(up, all)
}
