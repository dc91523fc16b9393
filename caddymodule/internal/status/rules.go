package status

import "time"

// Rules is what GET /robots/rules answers: the lines that have decided, those
// that refused most in the last day first.
type Rules struct {
	Page
	Rules []Rule `json:"rules"`
}

// Rule is a line that has decided.
type Rule struct {
	Policy string `json:"policy"` // Policy.ID
	Origin string `json:"origin"` // of the requests that it decided
	Site   string `json:"site"`
	Layer  string `json:"layer"` // site, policy or hidden
	Line   int    `json:"line"`  // of the site's own robots.txt, or of the configuration where the layer is another
	Group  string `json:"group"` // the first product token of its group
	// Tokens has the product tokens of its group: the counts are those of all
	// crawlers that one of them names. It has Group alone if the group is no
	// longer in the file, and is empty for a hidden path.
	Tokens []string `json:"tokens"`
	Rule   string   `json:"rule"` // as the file writes it; the name of the record for a rate limit; "" for a hidden path
	Reason string   `json:"reason"`
	RuleCounts
}

// RuleCounts tells how often a line decided.
type RuleCounts struct {
	Passed        uint64    `json:"passed"` // an Allow rule let the request through
	Denied        uint64    `json:"denied"`
	Throttled     uint64    `json:"throttled"`
	WouldDeny     uint64    `json:"would_deny"` // in monitor mode
	WouldThrottle uint64    `json:"would_throttle"`
	Hour          uint64    `json:"hour"`          // refused in the last hour, or would have been
	Day           uint64    `json:"day"`           // the same in the last day
	Last          time.Time `json:"last,omitzero"` // when it decided last, to the second
}

// RulesQuery chooses rules.
type RulesQuery struct {
	Pages
	Policy string // only those of the policy with this ID
}
