package status

import "time"

// Suspects is what GET /robots/suspects answers.
type Suspects struct {
	Page
	On       bool      `json:"on"` // some site in the scope has the option suspects
	Suspects []Suspect `json:"suspects"`
}

// Suspect is a client that behaves as robots do and does not say so.
type Suspect struct {
	Site      string    `json:"site"`
	Host      string    `json:"host"`
	Client    string    `json:"client"`     // its network: IPv4 /24, IPv6 /48
	UserAgent string    `json:"user_agent"` // the browser that it says it is, and its version
	Signals   []string  `json:"signals"`    // why
	Action    string    `json:"action"`     // observe or bind
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Requests  uint64    `json:"requests"` // for documents, in the last day
}
