package statusapi

import "time"

// Budgets is the answer to GET /robots/budgets?crawler=: the rate limits of a
// crawler at each origin, and what it has used of them.
type Budgets struct {
	Page
	Crawler string   `json:"crawler"` // its name in the registry, or the name in the query
	Class   string   `json:"class"`
	Known   bool     `json:"known"` // the crawler is in the registry
	Budgets []Budget `json:"budgets"`
}

// Budget is one budget of a crawler.
type Budget struct {
	Origin   string `json:"origin"`    // "" for the layer limit: all hosts of Site share the budget
	OriginID string `json:"origin_id"` // Origin.ID; "" for the layer limit
	Site     string `json:"site"`
	Mode     string `json:"mode"`
	Group    string `json:"group"`
	Line     int    `json:"line"` // of the first line that sets a limit; see Line.Number
	Layer    string `json:"layer"`
	File     string `json:"file,omitempty"` // of the configuration that has Line, for the layer limit
	// in words, such as "one request in 10s"; for the layer limit, its line in the configuration, such as "limit /archive/*: all 30/1m"
	Limits string `json:"limits"`

	// Counted is crawler if all requests of the crawler share the budget. It is
	// client if each client address has a budget of its own; then Used is false, and
	// Free and Next are those of a new client.
	Counted string `json:"counted"`
	// Owner is crawler for the budget of the crawler itself. It is unverified for the
	// budget that all unverified clients with the crawler's name share, and impostors
	// for that of impostors. For a budget of a limit that several crawlers share, it is
	// crawlers; or search for verified search engines and ads that the limit includes; or
	// search_unverified for clients that only claim to be these; or invented for the half
	// that names which neither the registry nor a group has get while others come.
	Owner string    `json:"owner"`
	Used  bool      `json:"used"` // a part of the budget is used; false if not known
	Free  bool      `json:"free"` // a request would be allowed now
	Next  time.Time `json:"next"` // when the next request is allowed; now if Free
	// AtOnce is how many requests may be in flight on this server, and InFlight how many
	// are, for such a line of a limit. Reset does not change InFlight.
	AtOnce   int `json:"at_once,omitempty"`
	InFlight int `json:"in_flight,omitempty"`

	Shared bool `json:"shared"` // with the other servers of the fleet; Used, Free and Next are what this server knows
}

// BudgetsQuery selects budgets.
type BudgetsQuery struct {
	Pages
	Crawler string // name or product token; required
}
