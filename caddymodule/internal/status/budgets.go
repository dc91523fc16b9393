package status

import "time"

// Budgets is what GET /robots/budgets?crawler= answers: the pace that a crawler
// is held to at each origin in force, and what it has used of it.
type Budgets struct {
	Page
	Crawler string   `json:"crawler"` // as the registry has it
	Class   string   `json:"class"`
	Known   bool     `json:"known"` // the registry has it
	Budgets []Budget `json:"budgets"`
}

// Budget is one budget of a crawler.
type Budget struct {
	Origin string `json:"origin"`
	Policy string `json:"policy"` // Policy.ID
	Site   string `json:"site"`
	Mode   string `json:"mode"`
	Group  string `json:"group"`
	Line   int    `json:"line"` // of the record that sets the pace
	Layer  string `json:"layer"`
	Limits string `json:"limits"` // in words, such as "one request in 10s"

	// Counted tells what counts together: crawler, all its requests; or
	// client, those of each address, of which only the number is known here.
	Counted string `json:"counted"`
	// Claim: own, the crawler's own budget; or unverified, that of all claims
	// to be it that verification does not confirm.
	Claim  string    `json:"claim"`
	Used   bool      `json:"used"`   // something of it is used; false too where it is not known
	Free   bool      `json:"free"`   // a request would be let through now
	Next   time.Time `json:"next"`   // when one would be; now if Free
	Shared bool      `json:"shared"` // with other servers; what is told is what this one knows
}

// BudgetsQuery chooses budgets.
type BudgetsQuery struct {
	Pages
	Crawler string // name or token; required
}
