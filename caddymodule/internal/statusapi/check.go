package statusapi

// Check is the answer to GET /robots/check?ua=&url=: the decision of the rules in
// force about a GET request with a User-Agent, as if it were the crawler's first
// request.
//
// The first robots handler that a request reaches decides. If it is not known which
// one that is, Others has the decisions of the other ones.
type Check struct {
	URL       string `json:"url"`
	UserAgent string `json:"user_agent"`
	Site      string `json:"site"`
	Origin    string `json:"origin"`
	OriginID  string `json:"origin_id"` // Origin.ID; "" if no robots handler serves the URL
	State     string `json:"state"`     // Origin.State; pending if the file was not read yet, "" if no robots handler serves the URL
	Matcher   string `json:"matcher"`   // describes the request matchers in front of the handler, without hosts; "" if there are none
	Certain   bool   `json:"certain"`   // whether this handler surely decides about such a request

	Action   string   `json:"action"` // pass, deny or throttle; in monitor mode would_deny or would_throttle
	Reason   string   `json:"reason"`
	Crawler  string   `json:"crawler"`
	Class    string   `json:"class"`
	Purposes []string `json:"purposes"`
	Evidence string   `json:"evidence"`
	Verified string   `json:"verified"` // none, or unverified if the addresses of this crawler can be verified
	Group    string   `json:"group"`
	Rule     string   `json:"rule"`
	Layer    string   `json:"layer"`
	Line     int      `json:"line"`
	File     string   `json:"file"`    // see Line.File
	Shed     string   `json:"shed"`    // when this crawler is refused while the server is busy, such as "step 2 of 7: ai-*"; "" if never
	Reading  string   `json:"reading"` // google if the decision is that of google/robotstxt, which reads the file differently; else ""

	CrawlDelay   float64  `json:"crawl_delay"` // seconds, as enforced; 0 if none
	RequestRates []string `json:"request_rates"`
	VisitTimes   []string `json:"visit_times"`

	// Limits are the lines of the limits in the configuration that hold such a request,
	// if it passes.
	Limits []CheckLimit `json:"limits"`

	// ExemptFrom has the client addresses for which the crawler is exempt, if the
	// query has no address: at most MaxExemptFrom.
	ExemptFrom []string `json:"exempt_from"`

	Message string `json:"message"` // the decision in sentences

	// Others has the decisions of the other robots handlers that may decide about
	// the request instead, in the order of the routes: at most MaxCheckOthers. More is
	// the number of further ones. In an entry, both are empty.
	Others []*Check `json:"others"`
	More   int      `json:"more"`
}

// CheckLimit is a line of a limit, such as "limit /archive/*: all 30/1m".
type CheckLimit struct {
	Rule string `json:"rule"`
	Line int    `json:"line"` // of the limit, in File
	File string `json:"file"` // of the configuration; "" if its name is not known
}

// ReasonNoHandler is the Check.Reason if no robots handler decides about the request.
const ReasonNoHandler = "no_handler"

// Bounds of a Check.
const (
	MaxExemptFrom  = 100
	MaxCheckOthers = 7
)

// CheckQuery has the request to decide about.
type CheckQuery struct {
	UserAgent string // a User-Agent, or only a product token
	URL       string // an absolute http or https URL
	Client    string // the client's IP address, which counts for exemptions; "" if it is not known
}
