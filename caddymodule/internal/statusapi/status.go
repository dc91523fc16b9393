package statusapi

import (
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Status is the answer to GET /robots/, which `caddy robots status` and the page show.
type Status struct {
	*Summary

	Sites   []Site         `json:"sites"`  // the worst first; hosts that only a pattern names are sites too
	Hosts   int            `json:"hosts"`  // number of hosts with counters that only a pattern names
	Modes   map[string]int `json:"modes"`  // number of sites and hosts by Site.Mode
	Verify  bool           `json:"verify"` // a handler has the setting verify
	Origins OriginTally    `json:"origins"`
	Health  Health         `json:"health"`

	Busiest []Crawler `json:"busiest_crawlers"` // those with most requests
	Rules   []Line    `json:"busiest_rules"`    // the lines that refuse most
	Files   []Origin  `json:"robots_txt"`       // with problems first, then those in a grace period, then those that refuse most
	Recent  []Refusal `json:"recent"`           // the newest first
	Last    uint64    `json:"last"`             // the highest Refusal.Seq; pass it as Query.After to get the refusals that follow

	// The numbers of all crawlers and rules; Origins has that of all files.
	CrawlersTotal int `json:"crawlers_total"`
	RulesTotal    int `json:"rules_total"`
}

// Query says what a Status has.
type Query struct {
	Span  string // of the counts for one span: SpanHour (default), SpanDay or SpanMonth
	Limit int    // the largest number of sites, crawlers, rules, files and refusals; 0: DefaultLimit
	Name  string // only sites with this text in their name
	After uint64 // only refusals with a higher Seq
	ID    string // a file that is not left out, by Origin.ID
}

// Bounds of limits.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Summary has the counts of all sites of a scope together.
type Summary struct {
	Since    time.Time       `json:"since"`    // when counting began
	Servers  int             `json:"servers"`  // of a fleet whose counts these are; 0 without one, or if no other answers
	Crawlers Windows[Counts] `json:"crawlers"` // requests of crawlers
	Search   Windows[Counts] `json:"search"`   // of Crawlers, those of search engines
	Programs Windows[uint64] `json:"programs"` // of Crawlers, those of HTTP libraries and programs
	People   Windows[uint64] `json:"people"`   // requests to which robots.txt does not apply
	// requests of browsers without a pass that were refused or checked, or would have been: neither of Crawlers nor of People
	Strangers Windows[uint64] `json:"strangers"`
	Reasons   []ReasonCounts  `json:"reasons"` // of decisions about crawlers, the most frequent of the last day first
	Series    Series          `json:"series"`  // for Query.Span
	Hour      Series          `json:"hour"`    // the last hour by minutes, for any Query.Span
}

// Site has the counts of a site that has a robots handler, or had one before a reload
// of the configuration, for Query.Span.
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
	Origins int `json:"origins"`
	Rules   int `json:"rules"` // number of Allow and Disallow rules in all of them
}

// Crawler has the counts of one crawler, at all sites of the scope together.
type Crawler struct {
	Name     string    `json:"name"`     // its name in the registry, or the token that it sent
	Class    string    `json:"class"`    // as {http.robots.class}
	Known    bool      `json:"known"`    // the crawler is in the registry
	Other    bool      `json:"other"`    // the counts are those of all crawlers of a class that are not counted by name; Name is the class
	Operator string    `json:"operator"` // "" if not known
	Purposes []string  `json:"purposes"` // the main one first; [] if not known
	Last     time.Time `json:"last"`     // the minute of its last request
	Windows[Counts]
	Series []uint64 `json:"series"` // requests in each step of Query.Span
}

// MaxRecent is the maximum number of refusals that are kept.
const MaxRecent = 1000

// Refusal is a request that was refused, or would have been refused in monitor mode. For each
// crawler at each site, only a limited number of refusals per minute is kept. Omitted counts
// the others.
type Refusal struct {
	Seq       uint64    `json:"seq"` // number of the refusal, ascending
	Time      time.Time `json:"time"`
	Site      string    `json:"site"`
	Host      string    `json:"host"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`   // without query; "" for a hidden path
	Client    string    `json:"client"` // the client's network: IPv4 /24 or IPv6 /48
	UserAgent string    `json:"user_agent"`
	verdict.Decision
	RetryAfter int `json:"retry_after"` // seconds; 0 if none was sent
	// number of refusals of this crawler at this site, between the previous one that was kept and this one, that were not kept
	Omitted int64 `json:"omitted"`

	Addr netip.Addr `json:"-"` // the address in Client, which is never shown
	Busy bool       `json:"-"` // a probe that requested too many URLs, and is bound as a self-declared crawler
}
