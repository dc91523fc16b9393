package statusapi

import "time"

// Suspects is the answer to GET /robots/suspects.
type Suspects struct {
	Page
	On       bool      `json:"on"` // a site in the scope has the option suspects
	Suspects []Suspect `json:"suspects"`
}

// Suspect is a client that sends a browser's User-Agent but behaves like a robot.
type Suspect struct {
	Site      string    `json:"site"`
	Host      string    `json:"host"`
	Client    string    `json:"client"`     // the client's network: IPv4 /24 or IPv6 /48
	UserAgent string    `json:"user_agent"` // name and version of the browser that it claims to be
	Signals   []string  `json:"signals"`    // why it is a suspect
	Action    string    `json:"action"`     // observe or bind
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Requests  uint64    `json:"requests"` // requests for documents in the last day
}
