package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/enforce"
)

var (
	policyCount = newDesc("origins", "Origins with a robots.txt in memory, by kind of source and state of the file.", "source", "state")
	policyRules = newDesc("rules", "Allow and Disallow rules in force for all origins together, by kind of source.", "source")

	engines = newLive(prometheus.GaugeValue, sendRules, policyCount, policyRules)
)

// engine is an engine and the kind of its source.
type engine struct {
	*enforce.Engine
	kind string
}

// ReportEngine reports the rules of an engine, with the kind of its source, until
// stop is called.
func ReportEngine(e *enforce.Engine, kind string) (stop func()) {
	engines.values.Store(e, engine{e, kind})
	return func() { engines.values.Delete(e) }
}

// sendRules sends the metrics of the engines.
func sendRules(engines []engine, send sender) {
	type key struct{ kind, state string }
	counts, rules := map[key]int{}, map[string]int{}
	for _, e := range engines {
		e.Origins().All(func(_ enforce.Origin, r *enforce.Rules) {
			counts[key{e.kind, r.Outcome().String()}]++
			rules[e.kind] += r.RuleCount()
		})
	}
	for k, n := range counts {
		send(policyCount, float64(n), k.kind, k.state)
	}
	for kind, n := range rules {
		send(policyRules, float64(n), kind)
	}
}
