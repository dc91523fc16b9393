package status

// Check is the answer to GET /robots/check?ua=&url=: the decision of the policy in
// force about a GET request with a User-Agent, as if it were the crawler's first
// request.
type Check struct {
	URL       string `json:"url"`
	UserAgent string `json:"user_agent"`
	Site      string `json:"site"`
	Origin    string `json:"origin"`
	Policy    string `json:"policy"` // Policy.ID; "" if no robots handler serves the URL
	State     string `json:"state"`  // Policy.State; pending if the file was not read yet

	Action   string `json:"action"` // pass, deny or throttle; in monitor mode would_deny or would_throttle
	Reason   string `json:"reason"`
	Crawler  string `json:"crawler"`
	Class    string `json:"class"`
	Purpose  string `json:"purpose"`
	Evidence string `json:"evidence"`
	Verified string `json:"verified"` // none, or unverified if the addresses of this crawler can be verified
	Group    string `json:"group"`
	Rule     string `json:"rule"`
	Layer    string `json:"layer"`
	Line     int    `json:"line"`
	Reading  string `json:"reading"` // google if the decision is that of google/robotstxt, which reads the file differently; else ""

	CrawlDelay   float64  `json:"crawl_delay"` // seconds, as enforced; 0 if none
	RequestRates []string `json:"request_rates"`
	VisitTimes   []string `json:"visit_times"`

	Message string `json:"message"` // the decision in a sentence
}

// CheckQuery has the request to decide about.
type CheckQuery struct {
	UserAgent string // a User-Agent, or only a product token
	URL       string // an absolute http or https URL
}
