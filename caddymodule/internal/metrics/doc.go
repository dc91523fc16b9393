// Package metrics makes the metrics, the log lines and the span attributes of the
// plugin: about decisions, claims, reads of robots.txt, checks and
// sites. It decides nothing, and it does not count for the admin API and the
// dashboard; package counters does.
//
// The metrics belong to the process, because each load of a configuration has a
// new registry and counters must not start again at zero:
//
//	err := metrics.Register(ctx.GetMetricsRegistry())
//	decisions := metrics.NewDecisions(crawlers, log)
//	decisions.Count(&request, &decision, r)
package metrics
