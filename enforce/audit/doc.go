// Package audit reads access logs. It reports what crawlers did, and what an
// enforced robots.txt would have done with each request.
//
// Run detects the format of each log. It judges each request with the engine that
// judges live requests, at the time in the log, and returns a Report.
//
// The package can read Caddy's access logs, but it does not depend on Caddy. It
// writes no files. It uses the network only for Options.Verify, with the checkers of
// Site.Rules.
//
// The use of memory is bounded, whatever the size of the log. Some figures are
// therefore estimates: Report.Estimates names them.
package audit
