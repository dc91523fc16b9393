package statusapi

import "time"

// Summary is the answer to GET /robots/.
type Summary struct {
	Now   time.Time `json:"now"`
	Since time.Time `json:"since"` // when counting began

	// Sites are ordered by name, without hosts that the scope does not name; with SummaryQuery.Limit,
	// they are the Limit worst of all, the worst first
	Sites    []Site          `json:"sites"`
	Hosts    int             `json:"hosts"`    // number of hosts with counters that only a pattern names
	Modes    map[string]int  `json:"modes"`    // number of sites and hosts by Site.Mode
	Crawlers Windows[Counts] `json:"crawlers"` // requests of crawlers
	Search   Windows[Counts] `json:"search"`   // of Crawlers, those of search engines
	People   Windows[uint64] `json:"people"`   // requests to which robots.txt does not apply
	// requests of browsers without a pass that were refused or checked, or would have been: neither of Crawlers nor of People
	Strangers Windows[uint64] `json:"strangers"`
	Verify    bool            `json:"verify"`  // a handler has the setting verify
	Reasons   []ReasonCounts  `json:"reasons"` // of decisions about crawlers, the most frequent of the last day first
	Series    Series          `json:"series"`  // for SummaryQuery.Span
	Changes   []Change        `json:"changes"` // since the start of Series, newest first: at most MaxChanges
	Origins   OriginTally     `json:"origins"`
	Health    Health          `json:"health"`
	Empty     *Empty          `json:"empty"` // null as soon as a crawler has come
}

// Empty is what to show while no crawler has come.
type Empty struct {
	Message string      `json:"message"`
	Sites   []EmptySite `json:"sites"` // some of the scope
}

// EmptySite is a site to which no crawler has come.
type EmptySite struct {
	Site    string `json:"site"`
	Refuses string `json:"refuses"` // in words: what its robots.txt refuses
	Try     Action `json:"try"`     // a request of a crawler, that is refused if any is
}

// MaxChanges is the maximum length of Summary.Changes.
const MaxChanges = 20

// Change is a change of the robots.txt or the mode of sites.
type Change struct {
	Time time.Time `json:"time"` // when it was seen
	Mode string    `json:"mode"` // the new Site.Mode; "" if robots.txt changed
	Site string    `json:"site"`
	More int       `json:"more"` // number of further sites that changed at the same time
}

// Site has the counts of a site that has a robots handler, or had one before a reload
// of the configuration, for SummaryQuery.Span.
type Site struct {
	Name    string `json:"name"`              // a host, a pattern, or AnySite
	Pattern string `json:"pattern,omitempty"` // of a host that only a pattern names: that pattern, whose counts include the host's
	// enforce, monitor, both (some crawlers, or some handlers, are only monitored), or off (it has no handler now)
	Mode       string `json:"mode"`
	Overridden bool   `json:"overridden"` // the mode was set until the next load of the configuration
	// the Problem.Kind of its first problem, or else the Origin.State of its robots.txt; pending if none was read
	State  string `json:"state"`
	OK     bool   `json:"ok"`     // it has no problem
	Minute uint64 `json:"minute"` // requests of crawlers in the last minute that is over
	Total  uint64 `json:"total"`  // requests of crawlers since Summary.Since
	Counts
	SearchRefused uint64 `json:"search_refused,omitempty"` // Counts.VerifiedRefused of search engines
	People        uint64 `json:"people"`
	Strangers     uint64 `json:"strangers,omitempty"`

	Any bool `json:"-"` // anything was counted since Summary.Since
}

// ReasonCounts has the number of decisions with one reason and one action.
type ReasonCounts struct {
	Reason string `json:"reason"` // as {http.robots.reason}
	Action string `json:"action"` // pass, deny, throttle, challenge, would_deny, would_throttle or would_challenge; challenge counts among the throttled elsewhere
	Windows[uint64]
}

// OriginTally has the number of robots.txt files in force.
type OriginTally struct {
	Origins int            `json:"origins"`
	Rules   int            `json:"rules"`  // number of Allow and Disallow rules in all of them
	States  map[string]int `json:"states"` // number of origins by Origin.State
}

// SummaryQuery selects the series and the sites of a Summary.
type SummaryQuery struct {
	Span  string // of Summary.Series and Sites: SpanHour (default), SpanDay or SpanMonth
	Limit int    // the number of Summary.Sites; 0: all
	Name  string // with Limit, only sites with this text in their name
	Brief bool   // only counts and Series
}
