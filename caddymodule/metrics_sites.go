package caddymodule

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
)

// defaultMetricSites is the default of the setting max_sites.
const defaultMetricSites = 100

// siteCollector reports counters by site, if the configuration that was started
// last has them switched on.
type siteCollector struct {
	decisions, people *prometheus.Desc
	app               atomic.Pointer[App]
	named             atomic.Pointer[map[string]bool] // sites that have a label of their own
}

// Describe implements prometheus.Collector.
func (c *siteCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.decisions
	ch <- c.people
}

// Collect implements prometheus.Collector.
func (c *siteCollector) Collect(ch chan<- prometheus.Metric) {
	app := c.app.Load()
	if app == nil || app.Metrics == nil || !app.Metrics.PerSite {
		return
	}
	counts := app.counters.Decided()
	named := c.label(counts, cmp.Or(app.Metrics.MaxSites, defaultMetricSites))
	type key struct{ site, action string }
	decided, people := make(map[key]uint64), make(map[string]uint64)
	for _, n := range counts {
		name := n.Site
		if !named[name] {
			name = counters.OtherSites
		}
		for action, count := range n.Actions {
			decided[key{name, action}] += count
		}
		people[name] += n.People
	}
	for k, n := range decided {
		if n == 0 && k.site == counters.OtherSites {
			continue
		}
		ch <- prometheus.MustNewConstMetric(c.decisions, prometheus.CounterValue, float64(n), k.site, k.action)
	}
	for site, n := range people {
		if n == 0 && site == counters.OtherSites {
			continue
		}
		ch <- prometheus.MustNewConstMetric(c.people, prometheus.CounterValue, float64(n), site)
	}
}

// label chooses the sites that get a label value of their own. A site that has
// one keeps it, so that no counter goes back.
func (c *siteCollector) label(counts []counters.SiteCounts, most int) map[string]bool {
	before := map[string]bool{}
	if named := c.named.Load(); named != nil {
		before = *named
	}
	slices.SortStableFunc(counts, func(a, b counters.SiteCounts) int {
		if before[a.Site] != before[b.Site] {
			if before[a.Site] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Site, b.Site))
	})
	named := make(map[string]bool)
	for _, n := range counts[:min(len(counts), most)] {
		if n.Total()+n.People > 0 && n.Site != counters.OtherSites {
			named[n.Site] = true
		}
	}
	c.named.Store(&named)
	return named
}
