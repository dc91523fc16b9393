package statusapi

import (
	"fmt"
	"time"
)

// Lines is the answer to GET /robots/lines: the lines that have decided about requests, those
// with the most refusals in the last day first, and the files that have them.
type Lines struct {
	Total int      `json:"total"` // number of all lines
	Lines []Line   `json:"lines"`
	Files []Origin `json:"files,omitempty"` // only if LinesQuery.Text is set: at most MaxTexts
}

// Line is a line that has decided about requests to an origin.
type Line struct {
	Origin string `json:"origin"` // of the requests
	Site   string `json:"site"`
	Layer  string `json:"layer"`     // file, policy, hidden or limit
	Number int    `json:"line"`      // in File
	InText int    `json:"text_line"` // in Origin.Text, from 1; 0 if it is not in it
	// that has Line: robots.txt or, for source inline and the other layers, the configuration file, such as Caddyfile; "" if its name is not
	// known
	File  string `json:"file"`
	Group string `json:"group"` // the first product token of its group
	// Tokens has the product tokens of its group: the counts are those of all
	// crawlers that one of them names. It has Group alone if the group is no
	// longer in the file, and is empty for a hidden path and a limit.
	Tokens []string `json:"tokens"`
	Rule   string   `json:"rule"` // as the file writes it; the name of the record for a rate limit; "" for a hidden path
	Reason string   `json:"reason"`
	// Removed reports that the line refused requests before, and that the file in
	// force does not have it any more. It is never set for a hidden path.
	Removed bool `json:"removed"`
	LineCounts
}

// LineCounts has the number of decisions of a line. They are totals since
// Summary.Since, except Hour and Day.
type LineCounts struct {
	Decided[uint64]
	Hour uint64    `json:"hour"`          // refused in the last hour, or would have been in monitor mode
	Day  uint64    `json:"day"`           // the same for the last day
	Last time.Time `json:"last,omitzero"` // when the line last decided, to the second
}

// LinesQuery selects lines.
type LinesQuery struct {
	ID      string // only lines of the Origin with this ID; "": all
	Refused bool   // only lines that refused requests, or would have in monitor mode
	Text    bool   // with the files
	Limit   int    // the largest number of lines; 0: DefaultLimit
}

// MaxTexts is the maximum number of files with text in one answer.
const MaxTexts = 20

// Origin is the robots.txt in force for one origin. If the source of a handler is not
// the site itself, all origins of the handler share one Origin.
type Origin struct {
	ID       string   `json:"id"`       // the same after a reload of the configuration
	Origin   string   `json:"origin"`   // such as https://example.com; "" if all origins of the handler share it
	Sites    []string `json:"sites"`    // of the handler, as far as they are in the scope
	Matcher  string   `json:"matcher"`  // describes the matchers in front of the handler, but for hosts; "" if there are none
	Mode     string   `json:"mode"`     // enforce, monitor or both
	Source   string   `json:"source"`   // site, file, inline or url
	Location string   `json:"location"` // of a file or url, without credentials and query

	State   string     `json:"state"`      // of the rules in force: loaded, missing, not_robots, forbidden, redirected, failed or pending
	Error   string     `json:"error"`      // of the last fetch; "" if it worked
	Message string     `json:"message"`    // the state in words
	Advice  string     `json:"advice"`     // what the operator can do; "" if OK
	OK      bool       `json:"ok"`         // there is no problem
	ReadAt  *time.Time `json:"fetched_at"` // when the rules in force were last fetched or confirmed; null if they were not
	Kept    bool       `json:"kept"`       // the last fetch gave no usable file, so the last good copy stays in force

	Version       string   `json:"version"` // the entity tag, without quotes; "" if there is no file
	Rules         int      `json:"rules"`
	Unenforceable []string `json:"unenforceable"` // product tokens that no crawler sends in its User-Agent
	Grace         []Grace  `json:"grace"`         // earlier versions that some crawlers may still follow, newest first

	// Only in Lines.Files:
	Text     string    `json:"text,omitempty"`     // as it is in force, with the lines that the configuration adds
	Before   string    `json:"before,omitempty"`   // the text of Grace[0], as it was in force
	Findings []Finding `json:"findings,omitempty"` // of the linter
}

// Grace is an earlier version of the file. Crawlers that came before it was replaced
// may follow it until they read the file again.
type Grace struct {
	Crawler  string    `json:"crawler"` // which crawlers: search (those of search engines) or all
	Version  string    `json:"version"` // the entity tag of the version, without quotes; "" if there was no file
	State    string    `json:"state"`   // of the version: loaded, missing, not_robots, forbidden or redirected
	Status   int       `json:"status"`  // the HTTP status of the answer that there was no file, such as 403; otherwise 0
	Replaced time.Time `json:"replaced"`
	Until    time.Time `json:"until"` // after this time, no crawler may follow the version
}

// Name returns the version for people: its entity tag, or what was answered instead
// of a file, such as "none (403)". No file means that everything is allowed.
func (g *Grace) Name() string {
	switch {
	case g.Version != "":
		return g.Version
	case g.Status != 0:
		return fmt.Sprintf("none (%d)", g.Status)
	}
	return "none (no robots.txt)"
}

// Finding is a mistake that the linter found.
type Finding struct {
	Line     int    `json:"line"`     // in Origin.Text, from 1
	File     string `json:"file"`     // that has the line: robots.txt or, for source inline and added lines, the configuration
	At       int    `json:"at"`       // the line in File
	Severity string `json:"severity"` // error, warning or info
	Code     string `json:"code"`
	Text     string `json:"text"`
	Message  string `json:"message"`
}
