// Package audit reads access logs. It reports what crawlers did, and what an
// enforced robots.txt would have done with each request.
//
// Run detects the format of each log, judges each request and returns a Report. To
// judge a request is to find out whether the robots.txt that was in force at the time
// in the log would have let it pass, denied it or throttled it. The engine that
// decides on live requests does this.
//
// The package can read Caddy's access logs, but it does not depend on Caddy. It
// writes no files. It uses the network only for Options.Verify, with the Checker in
// Site.Settings.Verification.
//
// The use of memory is bounded, whatever the size of the log. Some figures are
// therefore estimates: Report.Estimates names them. In a test, the heap for a log in
// which each line has a new client, host and User-Agent is about 60 MB.
package audit
