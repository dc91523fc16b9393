package metrics

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/release"
)

// collectors are the collectors of all metrics.
var collectors []prometheus.Collector

// Register registers all metrics in a configuration's registry.
func Register(registry *prometheus.Registry) error {
	for _, c := range collectors {
		var already prometheus.AlreadyRegisteredError
		if err := registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}

// Collected adds a collector to those that Register registers.
func Collected[C prometheus.Collector](c C) C {
	collectors = append(collectors, c)
	return c
}

var _ = Collected(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
	Name: "caddy_robots_build_info", Help: "1, with the version of the plugin.", ConstLabels: prometheus.Labels{"version": release.Version()},
}, func() float64 { return 1 }))

// NewCounter returns a new counter for each set of label values.
func NewCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return Collected(prometheus.NewCounterVec(prometheus.CounterOpts{Name: "caddy_robots_" + name, Help: help}, labels))
}

// NewDesc describes a metric of a Live.
func NewDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("caddy_robots_"+name, help, labels, nil)
}

// Live is a prometheus.Collector. At each scrape it computes its metrics from the
// values that are in use, those of all running configurations.
type Live[V any] struct {
	kind    prometheus.ValueType
	descs   []*prometheus.Desc
	collect func(values []V, send Sender)

	values sync.Map // a key to a V
}

// Sender sends the current value of a metric.
type Sender func(d *prometheus.Desc, value float64, labels ...string)

// NewLive returns a Live with these metrics of one kind. collect is called at each scrape.
func NewLive[V any](kind prometheus.ValueType, collect func(values []V, send Sender), descs ...*prometheus.Desc) *Live[V] {
	return Collected(&Live[V]{kind: kind, descs: descs, collect: collect})
}

// Report reports a value until stop is called, in place of that of an earlier call with
// the key.
func (l *Live[V]) Report(key any, value V) (stop func()) {
	l.values.Store(key, value)
	return func() { l.values.CompareAndDelete(key, value) }
}

// Forget ends the report with a key.
func (l *Live[V]) Forget(key any) { l.values.Delete(key) }

// Values returns the values that are reported.
func (l *Live[V]) Values() (list []V) {
	for _, v := range l.values.Range {
		list = append(list, v.(V))
	}
	return list
}

// Describe implements prometheus.Collector.
func (l *Live[V]) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range l.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (l *Live[V]) Collect(ch chan<- prometheus.Metric) {
	_ = background.Run("metrics", func() { // in a goroutine of Prometheus
		l.collect(l.Values(), func(d *prometheus.Desc, value float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, l.kind, value, labels...)
		})
	})
}
