package status

import "time"

// Refresh is what POST /robots/refresh answers.
type Refresh struct {
	Reads []Read `json:"reads"` // what was read again, by Origin
	More  int    `json:"more"`  // reads that are still under way, or not begun because there are too many
	Grace int    `json:"grace"` // periods of grace that were ended
}

// Read is one source that was read again.
type Read struct {
	Policy  string `json:"policy"` // Policy.ID
	Origin  string `json:"origin"`
	State   string `json:"state"` // what the read came to: a Policy.State, or unchanged
	Error   string `json:"error"`
	Message string `json:"message"`
}

// RefreshQuery chooses what is read again.
type RefreshQuery struct {
	Policy   string // only the one with this ID; "": all
	GraceOff bool   // end the periods of grace that run
}

// Reset is what POST /robots/budgets/reset answers.
type Reset struct {
	Budgets int `json:"budgets"` // that were reset
}

// ResetQuery chooses budgets.
type ResetQuery struct {
	Crawler string // name or token; required
	Policy  string // only at the policy with this ID; "": all
}

// Mode is what POST /robots/mode answers.
type Mode struct {
	Mode  string    `json:"mode"`  // enforce or monitor; as configured where it was taken back
	Sites []string  `json:"sites"` // where it holds until the next load
	Since time.Time `json:"since"`
}

// The values of ModeQuery.Mode.
const (
	Enforce    = "enforce"
	Monitor    = "monitor"
	Configured = "configured" // as the configuration has it
)

// ModeQuery says which mode holds until the next load.
type ModeQuery struct {
	Mode string
}
