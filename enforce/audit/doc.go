// Package audit reads access logs and tells what robots did to a site, and
// what its robots.txt would have done, had it been enforced.
//
// It tells the format of a log by itself, judges each line with the engine
// that judges live requests, at the line's own time, and sums up what it found
// in a Report. It knows the format of Caddy's access logs and nothing else of
// Caddy. It writes no files and starts no network I/O of its own.
//
// Memory is bounded whatever the size of the log. Figures that are estimates
// for that reason are named in Report.Estimates.
package audit
