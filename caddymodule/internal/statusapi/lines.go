package statusapi

import "time"

// Lines is the answer to GET /robots/lines: the lines that have decided about
// requests, those with the most refusals in the last day first.
type Lines struct {
	Page
	Lines []Line `json:"lines"`
}

// Line is a line that has decided about requests to an origin.
type Line struct {
	OriginID string `json:"origin_id"` // Origin.ID; "" if the line is in no rules in force
	Origin   string `json:"origin"`    // of the requests
	Site     string `json:"site"`
	Layer    string `json:"layer"` // file, policy, hidden or limit
	Number   int    `json:"line"`  // in File
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
	Pages
	OriginID string // only lines of the Origin with this ID; "": all
	Refused  bool   // only lines that refused requests, or would have in monitor mode
}
