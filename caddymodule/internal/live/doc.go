// Package live reports on the robots handlers of the running configuration: to
// the admin API, the dashboard and the command status. It knows a handler only by
// what the caller fills in, and keeps no state but the modes that the operator
// set, and the file of counters.
//
//	reporter := live.New(live.App{Handlers: handlers, Counters: counters, …})
//	err := statusapi.ServeHTTP(w, r, "health", reporter, statusapi.AllSites())
package live
