package statusapi

import (
	"fmt"
	"time"
)

// Origins is the answer to GET /robots/origins: those whose lines refused most in the
// last day first.
type Origins struct {
	Page
	Origins []Origin `json:"origins"`
}

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
	Dialect  string   `json:"dialect"`  // rfc9309, 1994 or 1996

	State     string     `json:"state"`      // of the rules in force: loaded, missing, not_robots, forbidden, redirected, failed or pending
	LastRead  string     `json:"last_fetch"` // the result of the last fetch, as in State
	Error     string     `json:"error"`      // of the last fetch; "" if it worked
	Message   string     `json:"message"`    // the state in words
	Advice    string     `json:"advice"`     // what the operator can do; "" if OK
	OK        bool       `json:"ok"`         // there is no problem
	ReadAt    *time.Time `json:"fetched_at"` // when the rules in force were last fetched or confirmed; null if they were not
	CheckedAt *time.Time `json:"checked_at"` // when the last fetch began; null before the first one
	// the first request after this time makes the handler fetch the source again; without requests, it lies in the past
	NextRead  *time.Time `json:"next_fetch"`
	Failing   *time.Time `json:"failing"`    // the first failed fetch since the last one that worked; null if the last one worked
	Failures  int        `json:"failures"`   // number of failed fetches since the last one that worked
	Kept      bool       `json:"kept"`       // the last fetch gave no usable file, so the last good copy stays in force
	DeniesAll bool       `json:"denies_all"` // crawlers may fetch nothing, because the source can't be read

	Octets        int      `json:"octets"`
	Groups        int      `json:"groups"`
	Rules         int      `json:"rules"`
	Published     bool     `json:"published"`     // the handler answers /robots.txt itself, with the lines that the configuration adds
	MergeError    string   `json:"merge_error"`   // why these lines are not in force; "" if they are
	Unenforceable []string `json:"unenforceable"` // product tokens that no crawler sends in its User-Agent
	Ignored       []string `json:"ignored"`       // product tokens that browsers send, so that their groups are not enforced
	Grace         []Grace  `json:"grace"`         // earlier versions that some crawlers may still follow, newest first

	// Only if OriginsQuery.Text is set:
	Text     string     `json:"text,omitempty"`     // as it is in force, and published if Published
	Before   string     `json:"before,omitempty"`   // the text of Grace[0], as it was in force
	Lines    []TextLine `json:"lines,omitempty"`    // of Text that have counts, or come from the configuration
	Findings []Finding  `json:"findings,omitempty"` // of the linter
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

// TextLine is a line of Origin.Text that decided about requests, or that the
// configuration adds.
type TextLine struct {
	Number int        `json:"number"` // in Text, from 1
	Layer  string     `json:"layer"`  // file, or that of a step, such as policy
	At     int        `json:"at"`     // the line in the site's own robots.txt or in the configuration
	Counts LineCounts `json:"counts"`
}

// Finding is a mistake that the linter found.
type Finding struct {
	Line     int    `json:"line"` // in Origin.Text, from 1
	File     string `json:"file"` // that has the line: robots.txt or, for source inline and added lines, the configuration
	At       int    `json:"at"`   // the line in File
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error, warning or info
	Code     string `json:"code"`
	Text     string `json:"text"`
	Message  string `json:"message"`
}

// OriginsQuery selects origins.
type OriginsQuery struct {
	Pages
	ID     string // only the one with this ID; "": all
	Text   bool   // with text, lines and findings; then a page has at most MaxTexts origins
	Broken bool   // only origins that are not OK
	Grace  bool   // only origins with a grace period that is running
}

// MaxTexts is the maximum number of origins with text in one answer.
const MaxTexts = 20
