package statusapi

import "time"

// Crawlers is the answer to GET /robots/crawlers.
type Crawlers struct {
	Page
	Steps    Steps     `json:"steps"` // of Crawler.Series
	Crawlers []Crawler `json:"crawlers"`
}

// Crawler has the counts of one crawler, at all sites of the scope together.
type Crawler struct {
	Name     string    `json:"name"`     // its name in the registry, or the token that it sent
	Class    string    `json:"class"`    // as {http.robots.class}
	Known    bool      `json:"known"`    // the crawler is in the registry
	Other    bool      `json:"other"`    // the counts are those of all crawlers of a class that are not counted by name; Name is the class
	Operator string    `json:"operator"` // "" if not known
	Purposes []string  `json:"purposes"` // the main one first; [] if not known
	Last     time.Time `json:"last"`     // the minute of its last request
	Windows[Counts]
	Series  []uint64 `json:"series"`            // requests in each step of CrawlersQuery.Span
	Actions []Action `json:"actions,omitempty"` // what the operator can do, only of CrawlersQuery.Advise
}

// The values of CrawlersQuery.Sort, besides the JSON names of the fields of Counts.
const (
	SortName = "name"
	SortLast = "last"
)

// CrawlersQuery selects crawlers and their order.
type CrawlersQuery struct {
	Pages
	Class string // only crawlers of this class; "": all
	// Span is the span of the series, and of the counts for Sort: SpanHour, SpanDay
	// (default) or SpanMonth.
	Span string
	// Sort is name, last, requests (default), passed, denied, throttled, would_deny,
	// would_throttle, verified, unverified or impostors. Names are in alphabetical
	// order, all others begin with the largest value.
	Sort string
	Name string // only crawlers with this text in their name; the case is ignored
	// Advise is the Name of a crawler whose Actions are wanted.
	Advise string
}
