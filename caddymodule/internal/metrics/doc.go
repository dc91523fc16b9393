// Package metrics makes the metrics and the log lines of the plugin: about reads of
// robots.txt and what is wrong in them, and, for other packages, the means to make their own.
// It decides nothing, and it does not count decisions; package counters does.
//
// The metrics belong to the process, because each load of a configuration has a
// new registry and counters must not start again at zero:
//
//	err := metrics.Register(ctx.GetMetricsRegistry())
package metrics
