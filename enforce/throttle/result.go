package throttle

import (
	"context"
	"time"
)

// Reason is the kind of line that refused or delayed a request.
type Reason uint8

// The reasons.
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

// Result is the decision on one request.
type Result struct {
	// OK reports whether the request may go on, after Delay. If so, it has used
	// budget.
	OK bool

	// Reason and Line identify the robots.txt line that refused the request, or
	// that is the reason for Delay. If several lines did, it is a Visit-time
	// line, or otherwise the line that refuses for the longest time.
	Reason Reason
	Line   int

	// RetryAfter is the time after which every line accepts the request, if no
	// other request of the same key comes before. It is exact to the
	// microsecond, so round it up to whole seconds for an HTTP field. Zero if
	// OK is true.
	RetryAfter time.Duration

	// Delay is how long the caller must hold an accepted request before it may
	// go on. It is at most maxWait.
	Delay time.Duration
}

// Limiter applies Limits to requests, and keeps the budgets. Its methods are
// safe for concurrent use.
type Limiter interface {
	// Take decides on one request at the time now, by the terms t and the
	// budget of k. An accepted request uses budget of every line of t that has
	// an open window. A refused request uses none. Nil terms accept every
	// request.
	//
	// If maxWait is greater than zero, Take also accepts a request that every
	// line of t, also a Visit-time, accepts within maxWait, and uses that
	// budget. The caller must then hold the request for Result.Delay. A maxWait
	// below zero counts as zero, and one above MaxWait as MaxWait.
	//
	// A Limiter with a server waits for it until ctx ends at the latest. Take
	// returns no error, because a Limiter that can't reach its server decides
	// alone.
	Take(ctx context.Context, now time.Time, k Key, t *Limits, maxWait time.Duration) Result

	// Close releases resources. Take can still be called after Close.
	Close() error
}

// MaxWait is the longest time for which a request can be held. So if a budget
// has a request that was accepted for a later time than now plus MaxWait, a
// clock was set back.
const MaxWait = 10 * time.Minute
