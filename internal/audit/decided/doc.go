// Package decided says what really happened to requests, out of Caddy's own log: Ask
// answers which requests were refused, by which line, and Forbidden finds the requests
// of one crawler that a rule forbade.
//
//	r, err := decided.Ask(ctx, &decided.Query{Options: audit.Options{Files: files}})
//	// r.Refused, r.Rows, r.Shown
//
// Caddy's log has the decision of the robots handler on each request (its field
// robots). What it would have decided is package audit's. Memory is bounded whatever the
// logs: what does not fit is counted. The package writes no files.
package decided
