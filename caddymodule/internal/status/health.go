package status

import "time"

// Health tells what works and what does not.
type Health struct {
	OK       bool      `json:"ok"`       // there are no problems
	Problems []Problem `json:"problems"` // the most severe first; at most MaxProblems
	More     int       `json:"more"`     // problems that are not told
	Fleets   []Fleet   `json:"fleets"`   // only in the scope of all sites
	Lists    []List    `json:"lists"`    // only in the scope of all sites
	DNS      *DNS      `json:"dns"`      // only in the scope of all sites; null without verify
	Memory   *Memory   `json:"memory"`   // only in the scope of all sites
	Persist  *Persist  `json:"persist"`  // only in the scope of all sites; null without the option persist
}

// MaxProblems is how many problems are told.
const MaxProblems = 50

// The severities of a Problem.
const (
	Severe  = "error"   // rules are not enforced, or budgets are not shared
	Warning = "warning" // something is, but not as it should
)

// Problem is something wrong.
type Problem struct {
	Severity string     `json:"severity"`
	Kind     string     `json:"kind"`    // policy, merge, fleet, list, dns, memory, persist or mode
	Subject  string     `json:"subject"` // what it is about, such as an origin or a URL
	Message  string     `json:"message"` // "robots.txt of shop.example.com could not be read for 12 minutes; the copy of 14:02 is in force"
	Advice   string     `json:"advice"`  // what the operator can do
	Since    *time.Time `json:"since"`   // null if not known
}

// Fleet is a Redis or Valkey that servers share.
type Fleet struct {
	Address   string     `json:"address"` // without credentials
	Instances int        `json:"instances"`
	Up        bool       `json:"up"`
	Since     *time.Time `json:"since"` // of the state; null before the first one
	Error     string     `json:"error"`
	Message   string     `json:"message"`
}

// List is a list of addresses or a directory of keys.
type List struct {
	Kind     string     `json:"kind"` // list or directory
	URL      string     `json:"url"`  // without query
	Entries  int        `json:"entries"`
	Read     *time.Time `json:"read"`     // when the copy was last found to be current; null without one
	Failures int        `json:"failures"` // reads in a row that failed
	Stale    bool       `json:"stale"`    // too old to accuse anybody
	Error    string     `json:"error"`
	Message  string     `json:"message"`
}

// DNS is what is known of reverse DNS.
type DNS struct {
	Confirmed int    `json:"confirmed"` // addresses in the cache, by answer
	Refuted   int    `json:"refuted"`
	Failed    int    `json:"failed"`
	InFlight  int    `json:"in_flight"`
	OK        bool   `json:"ok"`
	Message   string `json:"message"`
}

// Memory is what is kept in memory, in octets as estimated and in entries.
type Memory struct {
	Policies    int64 `json:"policies"` // octets
	MaxPolicies int64 `json:"max_policies"`
	Crawlers    int   `json:"crawlers"` // counted, a site each
	MaxCrawlers int   `json:"max_crawlers"`
	Rules       int   `json:"rules"` // counted
	MaxRules    int   `json:"max_rules"`
}

// Persist is the file that keeps counters over restarts.
type Persist struct {
	File    string     `json:"file"`
	Written *time.Time `json:"written"` // null before the first time
	Octets  int64      `json:"octets"`
	Error   string     `json:"error"` // of the last write or of the read; "" if it worked
}
