package status

import "time"

// MaxRecent is how many refusals are kept.
const MaxRecent = 1000

// Recent is what GET /robots/recent answers: requests that were refused, or
// would have been in monitor mode, newest first. Of each crawler at each site a
// bounded number a minute is kept; Refusal.Omitted counts the others.
type Recent struct {
	Last     uint64    `json:"last"` // the highest Refusal.Seq there is; ask with it for those that follow
	Refusals []Refusal `json:"refusals"`
}

// Refusal is a request that was refused.
type Refusal struct {
	Seq        uint64    `json:"seq"` // counts up
	Time       time.Time `json:"time"`
	Site       string    `json:"site"`
	Host       string    `json:"host"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`   // without query; "" for a hidden one
	Client     string    `json:"client"` // its network: IPv4 /24, IPv6 /48
	UserAgent  string    `json:"user_agent"`
	Crawler    string    `json:"crawler"` // as {http.robots.crawler}
	Class      string    `json:"class"`
	Purpose    string    `json:"purpose"`
	Verified   string    `json:"verified"` // as {http.robots.verified}
	Action     string    `json:"action"`   // deny, throttle, would_deny or would_throttle
	Reason     string    `json:"reason"`
	Group      string    `json:"group"`
	Rule       string    `json:"rule"`
	Layer      string    `json:"layer"`
	Line       int       `json:"line"`
	RetryAfter int       `json:"retry_after"` // seconds; 0 if none was sent
	Omitted    int64     `json:"omitted"`     // refusals of this crawler at this site since the one before that are not shown
}

// RecentQuery chooses refusals.
type RecentQuery struct {
	After uint64 // only those with a higher Seq
	Limit int    // 0: DefaultLimit; at most MaxRecent
}
