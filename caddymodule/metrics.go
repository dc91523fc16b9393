package caddymodule

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// The collectors belong to the process, because each load of a configuration has
// a new registry and counters must not start again at zero.
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
		Help: "The time of the last successful read of a robots.txt, as a Unix time in seconds, by kind of source.",
	}, []string{"source"})

	registryReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "registry_reads_total",
		Help: "Attempts to read a registry file that changed, by outcome.",
	}, []string{"outcome"})

	fleetUp = &fleetCollector{
		up: prometheus.NewDesc("caddy_robots_fleet_up",
			"1 while the fleet's Redis or Valkey answers, 0 while each server counts alone. Absent without a fleet.", nil, nil),
	}

	fleetCalls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "fleet_call_duration_seconds",
		Help:    "Round-trip times to the fleet's Redis or Valkey, in seconds, by result.",
		Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .1},
	}, []string{"result"})

	fleetRefusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "fleet_refusals_total",
		Help: "Requests throttled with a fleet, by the engine that decided: local, remote (Redis or Valkey), or fallback while Redis or Valkey does not answer.",
	}, []string{"engine"})

	fleetFallbacks = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "fleet_fallbacks_total",
		Help: "Requests decided by one server alone, because the fleet's Redis or Valkey did not answer.",
	})

	verifications = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verifications_total",
		Help: "Requests of crawlers whose claim can be checked, by crawler, method that confirmed the claim, and outcome: verified, impostor or unverified.",
	}, []string{"crawler", "method", "outcome"})

	verifiedThrottled = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verified_throttled_total",
		Help: "Requests of verified crawlers that were throttled, by crawler and purpose.",
	}, []string{"crawler", "purpose"})

	lookups = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verification_lookups_total",
		Help: "Addresses looked up in reverse DNS, by outcome: verified, impostor, unverified, or dropped because too many lookups were waiting.",
	}, []string{"outcome"})

	sourceReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verification_reads_total",
		Help: "Attempts to read a list of addresses or a directory of keys, by kind and outcome.",
	}, []string{"kind", "outcome"})

	storageFailures = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "verification_storage_failures_total",
		Help: "Failures to load or store the copy of a list of addresses or directory of keys.",
	})

	verifiers = &verifierCollector{
		age: prometheus.NewDesc("caddy_robots_verification_age_seconds",
			"Seconds since the copy in use of a list or directory was last found to be current. Absent without a copy.", []string{"kind", "url"}, nil),
		entries: prometheus.NewDesc("caddy_robots_verification_entries",
			"Address prefixes in the copy in use of a list, or keys in the copy of a directory.", []string{"kind", "url"}, nil),
		cache: prometheus.NewDesc("caddy_robots_verification_cache_entries",
			"Addresses in the cache of reverse DNS, by answer: confirmed, refuted or failed.", []string{"answer"}, nil),
		inFlight: prometheus.NewDesc("caddy_robots_verification_lookups_in_flight",
			"Reverse DNS lookups that wait or run.", nil, nil),
	}

	sites = &siteCollector{
		decisions: prometheus.NewDesc("caddy_robots_site_decisions_total",
			"Decisions about requests of crawlers, by site. Absent without the option metrics per_site.", []string{"site", "action"}, nil),
		people: prometheus.NewDesc("caddy_robots_site_people_total",
			"Requests of people, by site. Absent without the option metrics per_site.", []string{"site"}, nil),
	}

	suspectSignals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "suspect_signals_total",
		Help: "Signals of clients that send a browser's User-Agent and behave like robots, by signal.",
	}, []string{"signal"})

	suspectsFound = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "suspects_found_total",
		Help: "Clients that became suspects, after two independent signals.",
	})

	suspectShares = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "robots", Name: "suspect_shares_total",
		Help: "Attempts to share signals with the other servers of the fleet, by result.",
	}, []string{"result"})

	suspectWatches = &suspectCollector{
		count: prometheus.NewDesc("caddy_robots_suspects", "Clients that are suspects now. Absent without suspects in the configuration.", nil, nil),
	}

	policies = &policyCollector{
		count: prometheus.NewDesc("caddy_robots_policies",
			"Origins with a robots.txt in memory, by kind of source and state of the file.", []string{"source", "state"}, nil),
		rules: prometheus.NewDesc("caddy_robots_policy_rules",
			"Allow and Disallow rules in force for all origins together, by kind of source.", []string{"source"}, nil),
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

// policyCollector reports on the policies of all running handlers.
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
		e.(*enforce.Engine).Origins().All(func(_ enforce.Origin, p *enforce.Rules) {
			counts[key{kind, p.Outcome().String()}]++
			rules[kind] += p.RuleCount()
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

// fleetCollector reports on the fleets of all running configurations.
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
