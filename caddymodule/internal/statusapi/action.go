package statusapi

import "time"

// Refresh is the answer to POST /robots/refresh.
type Refresh struct {
	Reads []Read `json:"fetches"` // the sources that were read again, ordered by Origin
	More  int    `json:"more"`    // number of reads that are not finished, or were not begun because there are too many
	Grace int    `json:"grace"`   // number of origins whose grace periods were ended

	Accepted int `json:"accepted"` // number of origins whose accidents were ended
}

// Read is one read of a source.
type Read struct {
	Origin  string `json:"origin"`
	State   string `json:"state"` // the result: a Origin.State, or unchanged
	Error   string `json:"error"`
	Message string `json:"message"`
}

// RefreshQuery selects the sources to read again.
type RefreshQuery struct {
	ID       string // Origin.ID; "": all origins
	GraceOff bool   // end the grace periods that are running
	Accept   bool   // end the accidents of the files: they are on purpose
}

// Reset is the answer to POST /robots/budgets/reset.
type Reset struct {
	Budgets int `json:"budgets"` // number of budgets that were reset
}

// ResetQuery selects the budgets to reset.
type ResetQuery struct {
	Crawler string // name or product token; required
	ID      string // Origin.ID; "": all origins
}

// Mode is the answer to POST /robots/mode.
type Mode struct {
	Mode    string    `json:"mode"`              // what is in force now, for the crawler or for all: Enforce, Monitor or Both
	Crawler string    `json:"crawler,omitempty"` // the name in the registry; "" for all crawlers
	Sites   []string  `json:"sites"`             // the sites that have this mode until the next load of the configuration
	Since   time.Time `json:"since"`
	Note    string    `json:"note,omitempty"` // on which other servers it does not hold
}

// The values of Site.Mode and Handler.Mode.
const (
	Enforce = "enforce"
	Monitor = "monitor"
	Both    = "both" // some crawlers, or some handlers, are only monitored
)

// Configured is the value of ModeQuery.Mode for the mode of the configuration,
// besides Enforce and Monitor.
const Configured = "configured"

// ModeQuery has the mode to set until the next load of the configuration.
type ModeQuery struct {
	Mode    string
	Crawler string // a name of the registry: only it gets the mode; "": all crawlers
}

// Off is the value of SwitchQuery.Set that switches a step off.
const Off = "off"

// SwitchQuery says whether a step is in use until the next load of the configuration.
type SwitchQuery struct {
	Step string // a name
	Set  string // Off or Configured; required
}

// Switched is the answer to POST /robots/NAME, with the name of a step.
type Switched struct {
	Set   string   `json:"set"`   // as in SwitchQuery
	Sites []string `json:"sites"` // the sites and hosts that it was set for
}
