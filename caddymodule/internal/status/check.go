package status

// Check is what GET /robots/check?ua=&url= answers: what would be decided about
// a GET of a User-Agent, as the first one, by the policy in force.
type Check struct {
	URL       string `json:"url"`
	UserAgent string `json:"user_agent"`
	Site      string `json:"site"`
	Origin    string `json:"origin"`
	Policy    string `json:"policy"` // Policy.ID; "" if no robots handler serves the URL
	State     string `json:"state"`  // Policy.State; pending where the file was not read yet

	Action   string `json:"action"` // pass, deny or throttle; in monitor mode would_deny or would_throttle
	Reason   string `json:"reason"`
	Crawler  string `json:"crawler"`
	Class    string `json:"class"`
	Purpose  string `json:"purpose"`
	Evidence string `json:"evidence"`
	Verified string `json:"verified"` // none, or unverified where the crawler's claim can be checked
	Group    string `json:"group"`
	Rule     string `json:"rule"`
	Layer    string `json:"layer"`
	Line     int    `json:"line"`
	Reading  string `json:"reading"` // google where that reading of the file decided

	CrawlDelay   float64  `json:"crawl_delay"` // seconds, as enforced; 0 if none
	RequestRates []string `json:"request_rates"`
	VisitTimes   []string `json:"visit_times"`

	Message string `json:"message"` // the answer in a sentence
}

// CheckQuery is what is asked.
type CheckQuery struct {
	UserAgent string // or a product token alone
	URL       string // absolute: http or https
}
