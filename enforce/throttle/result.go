package throttle

import (
	"context"
	"time"
)

// Reason is the kind of line that refused a request, as logs and
// metrics write it.
type Reason string

// The reasons.
const (
	None        Reason = ""
	VisitTime   Reason = "visit_time"
	CrawlDelay  Reason = "crawl_delay"
	RequestRate Reason = "request_rate"
)

// Result is the decision on one request.
type Result struct {
	// OK reports whether the request may go on. If so, it has used budget.
	OK bool

	// Reason and Line identify the robots.txt line that refused the request. If
	// several lines did, it is a Visit-time line, or otherwise the line that refuses
	// for the longest time.
	Reason Reason
	Line   int

	// Use is the index of the use with that line: of several, the one with the
	// longest wait.
	Use int

	// RetryAfter is the time after which every line of all uses accepts the
	// request, if no other request of the same keys comes before. It is exact to the
	// microsecond, so round it up to whole seconds for an HTTP field. Zero if
	// OK is true.
	RetryAfter time.Duration
}

// Limiter applies Limits to requests, and keeps the budgets. Its methods are
// safe for concurrent use.
type Limiter interface {
	// Take decides on one request at the time now, by the Limits and the
	// budgets of all uses: at most MaxUses, further ones are ignored. No two
	// uses may have the same key, and all must have the same home: about other
	// uses, a Limiter with a cluster of servers decides without it. An accepted request uses
	// budget of every line that has an open window. A request that one use refuses
	// uses no budget of any. Take keeps no reference to uses.
	//
	// A Limiter with a server waits for it until ctx ends at the latest. Take
	// returns no error, because a Limiter that can't reach its server decides
	// alone.
	Take(ctx context.Context, now time.Time, uses []Use) Result

	// GiveBack gives back what a request used that was accepted at the instant at, and reports
	// whether it did: not if one of the budgets has accepted a later request since. Then all
	// stay as they are.
	GiveBack(now, at time.Time, uses []Use) bool

	// Forget resets k's budget to unused.
	Forget(ctx context.Context, now time.Time, k Key) error
}

// MaxLead is how far a Clock may be ahead of the wall clock. So if a budget has a
// request that was accepted later than now plus MaxLead, a clock was set back.
const MaxLead = 10 * time.Minute
