// Package evidence says what really happened to requests, out of Caddy's own log: Ask
// answers which requests were refused, by which line, and Collect writes down for an
// abuse desk what one crawler did after it had read robots.txt.
//
//	r, err := evidence.Ask(ctx, &evidence.Query{Options: audit.Options{Files: files}})
//	// r.Refused, r.Rows, r.List
//
// Caddy's log has the decision of the robots handler on each request (its field
// robots). What it would have decided is package audit's. Memory is bounded whatever the
// logs: what does not fit is counted. The package writes no files.
package evidence
