package status

import "time"

// Policies is what GET /robots/policies answers.
type Policies struct {
	Page
	Policies []Policy `json:"policies"`
}

// Policy is what is in force for one origin, or for all of a handler whose
// source is not the site itself.
type Policy struct {
	ID       string   `json:"id"`       // stable over a reload
	Origin   string   `json:"origin"`   // such as https://example.com; "" where it is one for all sites
	Sites    []string `json:"sites"`    // of the handler
	Mode     string   `json:"mode"`     // enforce or monitor
	Source   string   `json:"source"`   // site, file, inline or url
	Location string   `json:"location"` // of a file or url, without credentials and query
	Dialect  string   `json:"dialect"`  // rfc9309, 1994 or 1996

	State     string     `json:"state"`      // of what is in force: loaded, missing, not_robots, refused, failed or pending
	LastRead  string     `json:"last_read"`  // what the last read came to, as State
	Error     string     `json:"error"`      // why it failed; "" if it did not
	Message   string     `json:"message"`    // the state in words
	Advice    string     `json:"advice"`     // what the operator can do; "" where nothing is wrong
	OK        bool       `json:"ok"`         // nothing is wrong
	ReadAt    *time.Time `json:"read_at"`    // when the copy in force was last found to be current; null without one
	CheckedAt *time.Time `json:"checked_at"` // when the last read began
	NextRead  *time.Time `json:"next_read"`  // the first request after it has the source read again
	Failing   *time.Time `json:"failing"`    // the first of the reads in a row that failed; null if the last one did not
	Failures  int        `json:"failures"`   // reads in a row that failed
	Kept      bool       `json:"kept"`       // an earlier copy is in force
	DeniesAll bool       `json:"denies_all"` // crawlers may fetch nothing, because the source fails

	Octets        int      `json:"octets"`
	Groups        int      `json:"groups"`
	Rules         int      `json:"rules"`
	Hidden        int      `json:"hidden"`        // hidden paths of the operator's policy
	Published     bool     `json:"published"`     // the handler answers /robots.txt, with lines of the operator's policy
	MergeError    string   `json:"merge_error"`   // why the operator's lines are not in force; "" if they are
	Notes         []Note   `json:"notes"`         // on how the operator's lines were merged
	Unenforceable []string `json:"unenforceable"` // tokens of groups that arrive in no request
	Ignored       []string `json:"ignored"`       // tokens of groups that browsers send
	Grace         []Grace  `json:"grace"`         // earlier versions that some crawlers may still go by, newest first

	// Only where PoliciesQuery.Text is set:
	Text     string    `json:"text,omitempty"`     // as it is in force and published
	Lines    []Line    `json:"lines,omitempty"`    // of Text that something is known of
	Findings []Finding `json:"findings,omitempty"` // of the linter
}

// Note is one thing to know of how the operator's lines were merged.
type Note struct {
	Text     string   `json:"text"`
	Crawlers []string `json:"crawlers"` // the first ten
	Of       int      `json:"of"`       // how many crawlers it is about
	Detail   string   `json:"detail"`
	SiteLine int      `json:"site_line"`
	Line     int      `json:"line"` // of the configuration
}

// Grace is an earlier version of the file that crawlers may still go by which
// were seen before it was replaced and have not read the file since.
type Grace struct {
	Crawler  string    `json:"crawler"`  // who: search, the crawlers of search engines; or all
	Version  string    `json:"version"`  // the entity tag of the file, without quotes
	Replaced time.Time `json:"replaced"` // when it was
	Until    time.Time `json:"until"`    // when nobody may go by it any longer
}

// Line is a line of Policy.Text that has decided, or that the operator's
// policy added.
type Line struct {
	Number int        `json:"number"` // in Text, from 1
	Layer  string     `json:"layer"`  // site or policy
	At     int        `json:"at"`     // the line in the site's own robots.txt, or in the configuration
	Counts RuleCounts `json:"counts"`
}

// Finding is what the linter found.
type Finding struct {
	Line     int    `json:"line"` // in Policy.Text, from 1
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error, warning or info
	Code     string `json:"code"`
	Text     string `json:"text"`
	Message  string `json:"message"`
}

// PoliciesQuery chooses policies.
type PoliciesQuery struct {
	Pages
	ID     string // only this one; "": all
	Text   bool   // with text, lines and findings; then at most MaxTexts a page
	Broken bool   // only those that are not OK
	Grace  bool   // only those with a grace period that is running
}

// MaxTexts is how many policies with their text an answer has at most.
const MaxTexts = 20
