package status

import "time"

// Counts are the decisions about requests of crawlers in some time.
type Counts struct {
	Requests      uint64 `json:"requests"` // all of the following five
	Passed        uint64 `json:"passed"`
	Denied        uint64 `json:"denied"`
	Throttled     uint64 `json:"throttled"`
	WouldDeny     uint64 `json:"would_deny"` // in monitor mode
	WouldThrottle uint64 `json:"would_throttle"`

	// Requests whose sender can be verified, by what verification says. All
	// are 0 where nothing can be said.
	Verified   uint64 `json:"verified"`
	Unverified uint64 `json:"unverified"`
	Impostors  uint64 `json:"impostors"`
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Requests += other.Requests
	c.Passed += other.Passed
	c.Denied += other.Denied
	c.Throttled += other.Throttled
	c.WouldDeny += other.WouldDeny
	c.WouldThrottle += other.WouldThrottle
	c.Verified += other.Verified
	c.Unverified += other.Unverified
	c.Impostors += other.Impostors
}

// Windows are counts over the time until now.
type Windows struct {
	Hour  Counts `json:"hour"`  // this minute and the 59 before
	Day   Counts `json:"day"`   // this hour and the 23 before
	Month Counts `json:"month"` // this day and the 30 before, in UTC
	Total Counts `json:"total"` // since Summary.Since
}

// PeopleWindows are requests of people over the time until now, as in Windows.
type PeopleWindows struct {
	Hour  uint64 `json:"hour"`
	Day   uint64 `json:"day"`
	Month uint64 `json:"month"`
	Total uint64 `json:"total"`
}

// The spans of a series.
const (
	SpanHour  = "hour"  // 60 minutes
	SpanDay   = "day"   // 24 hours
	SpanMonth = "month" // 31 days, in UTC
)

// Steps tells what the points of series stand for. The last point is the step
// that is not over yet.
type Steps struct {
	Span  string    `json:"span"`  // hour, day or month
	Start time.Time `json:"start"` // of the first step
	Step  int       `json:"step"`  // seconds
	Count int       `json:"count"` // points of each series
}

// Series are counts over the steps of a span, oldest first.
type Series struct {
	Steps
	People        []uint64 `json:"people"`
	Passed        []uint64 `json:"passed"`
	Denied        []uint64 `json:"denied"`
	Throttled     []uint64 `json:"throttled"`
	WouldDeny     []uint64 `json:"would_deny"`
	WouldThrottle []uint64 `json:"would_throttle"`
}

// Page tells which part of a list an answer has.
type Page struct {
	Total  int `json:"total"`  // entries of the whole list
	Offset int `json:"offset"` // of the first entry here
	Next   int `json:"next"`   // offset of the next page; 0 if this is the last one
}

// Pages are the bounds of what is asked for. A Limit of 0 means DefaultLimit;
// more than MaxLimit means MaxLimit.
type Pages struct{ Offset, Limit int }

// Bounds of Pages.Limit.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Of returns the part of a list of n entries that p asks for.
func (p Pages) Of(n int) (page Page, from, to int) {
	limit := p.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	from = min(max(p.Offset, 0), n)
	to = min(from+min(limit, MaxLimit), n)
	page = Page{Total: n, Offset: from}
	if to < n {
		page.Next = to
	}
	return page, from, to
}
