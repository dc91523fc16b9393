package throttle

import (
	"context"
	"time"
)

// Reason is the kind of line that refused a request.
type Reason uint8

// The reasons, in the order in which they are looked at.
const (
	None Reason = iota
	VisitTime
	CrawlDelay
	RequestRate
)

var reasonNames = [...]string{None: "", VisitTime: "visit_time", CrawlDelay: "crawl_delay", RequestRate: "request_rate"}

// String returns the reason as logs and metrics write it: visit_time,
// crawl_delay, request_rate, or nothing for None.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return ""
}

// Result is the answer to one request.
type Result struct {
	// OK reports whether the request may go on. Its budget is then used.
	OK bool

	// Reason and Line name the robots.txt line that refused the request, or
	// that made it wait. Visit-time takes precedence. Of the others it is the
	// line that refuses for the longest time.
	Reason Reason
	Line   int

	// RetryAfter is the time from now until every line lets the request
	// through, if no other request of the same key comes first. It is exact to
	// the microsecond: round it up. Zero when OK.
	RetryAfter time.Duration

	// Delay is how long an accepted request has to be held before it goes on:
	// its place in the budget lies that far ahead. Zero if maxWait was zero.
	Delay time.Duration
}

// Limiter holds crawlers to their Terms. Its methods are safe for concurrent
// use.
type Limiter interface {
	// Take asks for one request of k at now, under the terms t. An accepted
	// request uses budget of every line of t whose window is open; a refused
	// one uses none. Nil terms accept everything.
	//
	// With a maxWait above zero a request that would be accepted within that
	// time is accepted for that instant, which Result.Delay tells. A maxWait
	// above MaxWait counts as MaxWait.
	//
	// ctx bounds how long an engine may wait for its server. Take returns no
	// error, because an engine that cannot reach its server decides alone.
	Take(ctx context.Context, now time.Time, k Key, t *Terms, maxWait time.Duration) Result

	// Close releases what the engine holds. A closed engine still answers.
	Close() error
}

// MaxWait is the longest time for which a request can be held. A budget that is
// used further ahead than this shows that a clock was set back.
const MaxWait = 10 * time.Minute
