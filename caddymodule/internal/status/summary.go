package status

import "time"

// Summary is what GET /robots/ answers.
type Summary struct {
	Now   time.Time `json:"now"`
	Since time.Time `json:"since"` // when counting began

	Sites    []Site         `json:"sites"`    // that counts are kept of, by name
	Crawlers Windows        `json:"crawlers"` // requests of crawlers
	People   PeopleWindows  `json:"people"`   // requests that robots.txt binds nobody for
	Reasons  []ReasonCounts `json:"reasons"`  // of crawlers' decisions, the most frequent of the last day first
	Series   Series         `json:"series"`   // over the span that is asked for; an hour unless said otherwise
	Policies PolicyTally    `json:"policies"`
	Health   Health         `json:"health"`
}

// Site is a site that has a robots handler, or had one.
type Site struct {
	Name       string        `json:"name"`       // a host, a pattern, or AnySite
	Mode       string        `json:"mode"`       // enforce, monitor, both where it has handlers of both modes, or off where it has none now
	Overridden bool          `json:"overridden"` // the mode was set until the next load
	Crawlers   Windows       `json:"crawlers"`
	People     PeopleWindows `json:"people"`
}

// ReasonCounts are the decisions with one reason.
type ReasonCounts struct {
	Reason string `json:"reason"` // as {http.robots.reason}
	Action string `json:"action"` // pass, deny, throttle, would_deny or would_throttle
	Hour   uint64 `json:"hour"`
	Day    uint64 `json:"day"`
	Month  uint64 `json:"month"`
	Total  uint64 `json:"total"`
}

// PolicyTally counts the policies in force.
type PolicyTally struct {
	Policies int            `json:"policies"`
	Rules    int            `json:"rules"`  // Allow and Disallow
	States   map[string]int `json:"states"` // by Policy.State
}

// SummaryQuery chooses what a Summary has.
type SummaryQuery struct {
	Span string // of Summary.Series: SpanHour (default), SpanDay or SpanMonth
}
