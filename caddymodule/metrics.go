package caddymodule

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Collectors are the process's, not the configuration's: each load has a new
// registry, and counters must not start again.
var (
	decisions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "decisions_total",
		Help: "Decisions about requests of crawlers, by the crawler's name in the registry or its class.",
	}, []string{"crawler", "action", "reason"})

	policyReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "policy_reads_total",
		Help: "Attempts to read a robots.txt, by kind of source and outcome.",
	}, []string{"source", "outcome"})

	policyReadTime = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "policy_last_good_read_timestamp_seconds",
		Help: "When a robots.txt was read successfully the last time, by kind of source.",
	}, []string{"source"})

	registryReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "registry_reads_total",
		Help: "Attempts to read a registry file that changed, by outcome.",
	}, []string{"outcome"})

	fleetUp = &fleetCollector{
		up: prometheus.NewDesc("caddy_robots_fleet_up",
			"Whether the Redis or Valkey that servers share answers: 1, or 0 while each counts for itself. Absent without a fleet.", nil, nil),
	}

	fleetCalls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "fleet_call_duration_seconds",
		Help:    "Round trips to the Redis or Valkey that servers share, by result.",
		Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .1},
	}, []string{"result"})

	fleetRefusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "fleet_refusals_total",
		Help: "Requests refused for their pace, by what refused them: local, remote, or fallback while Redis is away.",
	}, []string{"engine"})

	fleetFallbacks = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "fleet_fallbacks_total",
		Help: "Requests decided without the Redis or Valkey that servers share, because it could not be asked.",
	})

	verifications = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verifications_total",
		Help: "Requests of crawlers whose claim can be verified, by the crawler, the method that confirmed it, and the outcome: verified, impostor or unverified.",
	}, []string{"crawler", "method", "outcome"})

	verifiedThrottled = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verified_throttled_total",
		Help: "Requests of verified crawlers that were refused for their pace, by the crawler and its purpose.",
	}, []string{"crawler", "purpose"})

	lookups = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verification_lookups_total",
		Help: "Addresses looked up in reverse DNS, by outcome: verified, impostor, unverified; or dropped where too many were waiting.",
	}, []string{"outcome"})

	sourceReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verification_reads_total",
		Help: "Attempts to read a list of addresses or a directory of keys, by kind and outcome.",
	}, []string{"kind", "outcome"})

	storageFailures = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verification_storage_failures_total",
		Help: "Copies of lists and directories that could not be loaded from storage or stored.",
	})

	verifiers = &verifierCollector{
		age: prometheus.NewDesc("caddy_robots_verification_age_seconds",
			"How long ago the copy in use of a list or directory was found to be current. Absent without a copy.", []string{"kind", "url"}, nil),
		entries: prometheus.NewDesc("caddy_robots_verification_entries",
			"Prefixes of the copy in use of a list, or keys of that of a directory.", []string{"kind", "url"}, nil),
		cache: prometheus.NewDesc("caddy_robots_verification_cache_entries",
			"Addresses whose lookup in reverse DNS is remembered, by what it said.", []string{"answer"}, nil),
		inFlight: prometheus.NewDesc("caddy_robots_verification_lookups_in_flight",
			"Lookups in reverse DNS that wait or are under way.", nil, nil),
	}

	sites = &siteCollector{
		decisions: prometheus.NewDesc("caddy_robots_site_decisions_total",
			"Decisions about requests of crawlers, by site. Absent without the option metrics per_site.", []string{"site", "action"}, nil),
		people: prometheus.NewDesc("caddy_robots_site_people_total",
			"Requests that robots.txt binds nobody for, by site. Absent without the option metrics per_site.", []string{"site"}, nil),
	}

	suspectSignals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "suspect_signals_total",
		Help: "Signals of robots raised by clients that send a browser's User-Agent, by signal.",
	}, []string{"signal"})

	suspectsFound = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "suspects_found_total",
		Help: "Clients that became suspects: two independent signals were raised.",
	})

	suspectShares = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "suspect_shares_total",
		Help: "Attempts to tell the servers of the fleet of signals, by result.",
	}, []string{"result"})

	suspectWatches = &suspectCollector{
		count: prometheus.NewDesc("caddy_robots_suspects", "Clients that are suspects. Absent without suspects in the configuration.", nil, nil),
	}

	policies = &policyCollector{
		count: prometheus.NewDesc("caddy_robots_policies",
			"Origins whose robots.txt is held, by kind of source and state of the file.", []string{"source", "state"}, nil),
		rules: prometheus.NewDesc("caddy_robots_policy_rules",
			"Allow and Disallow rules in force over all origins, by kind of source.", []string{"source"}, nil),
	}
)

// collectors returns the collectors of all metrics.
func collectors() []prometheus.Collector {
	return []prometheus.Collector{
		decisions, policyReads, policyReadTime, registryReads, policies, fleetUp, fleetCalls, fleetRefusals, fleetFallbacks,
		verifications, verifiedThrottled, lookups, sourceReads, storageFailures, verifiers,
		suspectSignals, suspectsFound, suspectShares, suspectWatches, sites,
	}
}

// registerMetrics registers the collectors in a configuration's registry.
func registerMetrics(registry *prometheus.Registry) error {
	for _, c := range collectors() {
		var already prometheus.AlreadyRegisteredError
		if err := registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}

// policyCollector reports on the policies of all handlers that are running.
type policyCollector struct {
	count, rules *prometheus.Desc
	engines      sync.Map // *enforce.Engine to its kind of source
}

// Describe implements prometheus.Collector.
func (c *policyCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.count
	ch <- c.rules
}

// Collect implements prometheus.Collector.
func (c *policyCollector) Collect(ch chan<- prometheus.Metric) {
	type key struct{ source, state string }
	counts, rules := map[key]int{}, map[string]int{}
	c.engines.Range(func(e, source any) bool {
		kind := source.(string)
		e.(*enforce.Engine).Policies().All(func(_ enforce.Origin, p *enforce.Policy) {
			counts[key{kind, p.Outcome().String()}]++
			rules[kind] += p.Rules()
		})
		return true
	})
	for k, n := range counts {
		ch <- prometheus.MustNewConstMetric(c.count, prometheus.GaugeValue, float64(n), k.source, k.state)
	}
	for kind, n := range rules {
		ch <- prometheus.MustNewConstMetric(c.rules, prometheus.GaugeValue, float64(n), kind)
	}
}

// fleetCollector reports on the fleets of all configurations that are running.
type fleetCollector struct {
	up     *prometheus.Desc
	fleets sync.Map // *pooledFleet to nothing
}

// Describe implements prometheus.Collector.
func (c *fleetCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.up }

// Collect implements prometheus.Collector.
func (c *fleetCollector) Collect(ch chan<- prometheus.Metric) {
	exists, all := false, 1.0
	c.fleets.Range(func(f, _ any) bool {
		exists = true
		if !f.(*pooledFleet).up.Load() {
			all = 0
		}
		return true
	})
	if exists {
		ch <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, all)
	}
}
