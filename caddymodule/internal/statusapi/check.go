package statusapi

import "github.com/caddy-robots/caddy-robots/internal/verdict"

// Check is the answer to GET /robots/check?ua=&url=: the decision of the rules in
// force about a GET request with a User-Agent, as if it were the crawler's first
// request.
//
// The first robots handler that such a request reaches decides. The request has no other
// header field, and without an address it comes from one that no matcher of addresses has.
type Check struct {
	URL       string `json:"url"`
	UserAgent string `json:"user_agent"`
	Site      string `json:"site"`
	Origin    string `json:"origin"`
	State     string `json:"state"`   // Origin.State; pending if the file was not read yet, "" if no robots handler serves the URL
	Matcher   string `json:"matcher"` // describes the request matchers in front of the handler, without hosts; "" if there are none

	verdict.Check

	Message string `json:"message"` // the decision as text
}

// ReasonNoHandler is the Check.Reason if no robots handler decides about the request.
const ReasonNoHandler = "no_handler"

// CheckQuery has the request to decide about.
type CheckQuery struct {
	UserAgent string // a User-Agent, or only a product token
	URL       string // an absolute http or https URL
	Client    string // the client's IP address, which counts for exemptions; "" if it is not known
}
