package statusapi

import (
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Decided has a value for each decision about requests of crawlers.
type Decided[T any] struct {
	Passed        T `json:"passed"`
	Denied        T `json:"denied"`
	Throttled     T `json:"throttled"`  // also those that got a check, which has status 429 too
	WouldDeny     T `json:"would_deny"` // passed only because of monitor mode
	WouldThrottle T `json:"would_throttle"`
}

// Of returns the value for an action, which may be monitored.
func (d *Decided[T]) Of(action judge.Action, monitored bool) *T {
	switch {
	case action == judge.Pass:
		return &d.Passed
	case action == judge.Deny && monitored:
		return &d.WouldDeny
	case action == judge.Deny:
		return &d.Denied
	case monitored:
		return &d.WouldThrottle
	}
	return &d.Throttled
}

// Refused returns how many of some requests were refused, or would have been in monitor mode.
func Refused(d Decided[uint64]) uint64 {
	return d.Denied + d.Throttled + d.WouldDeny + d.WouldThrottle
}

// Counts has the requests of crawlers in a span of time. Requests is the sum of those that are
// decided, but a request that several handlers refuse counts once in Requests and once for
// each refusal.
type Counts struct {
	Requests uint64 `json:"requests"`
	Decided[uint64]

	// Requests that claim to be from a crawler that can be verified, by the result.
	// All are 0 without verification.
	Verified   uint64 `json:"verified,omitempty"`
	Unverified uint64 `json:"unverified,omitempty"`
	Impostors  uint64 `json:"impostors,omitempty"`

	// Requests that were denied or throttled, but not by the pace of a group that
	// names the crawler: of clients that are verified, and of clients that only
	// claim to be a crawler of the registry. Impostors are in neither.
	VerifiedRefused uint64 `json:"verified_refused,omitempty"`
	ClaimsRefused   uint64 `json:"claims_refused,omitempty"`
	VerifiedWould   uint64 `json:"verified_would_refuse,omitempty"` // VerifiedRefused in monitor mode
}

// Windows has a count, or Counts, for several spans of time that end now.
type Windows[T any] struct {
	Hour  T `json:"hour"`  // this minute and the 59 before it
	Day   T `json:"day"`   // this hour and the 23 before it
	Month T `json:"month"` // this day and the 30 before it, in UTC
	Total T `json:"total"` // since Summary.Since
}

// Add adds more requests to each count, by add.
func (w *Windows[T]) Add(more *Windows[uint64], add func(to *T, more uint64)) {
	add(&w.Hour, more.Hour)
	add(&w.Day, more.Day)
	add(&w.Month, more.Month)
	add(&w.Total, more.Total)
}

// In returns the count of the span SpanHour, SpanMonth or, for any other name, SpanDay.
func (w *Windows[T]) In(span string) *T {
	switch span {
	case SpanHour:
		return &w.Hour
	case SpanMonth:
		return &w.Month
	}
	return &w.Day
}

// The names of spans.
const (
	SpanHour  = "hour"  // 60 minutes
	SpanDay   = "day"   // 24 hours
	SpanMonth = "month" // 31 days, in UTC
)

// Steps describes the points of a series. Each point has the count of one step. The
// last step is not over yet.
type Steps struct {
	Span  string    `json:"span"`  // hour, day or month
	Start time.Time `json:"start"` // of the first step
	Step  int       `json:"step"`  // length in seconds
	Count int       `json:"count"` // number of steps
}

// Series has the counts of each step of a span, oldest first.
type Series struct {
	Steps
	People    []uint64 `json:"people"`
	Strangers []uint64 `json:"strangers"`
	Decided[[]uint64]
}
