package status

import "time"

// Crawlers is what GET /robots/crawlers answers.
type Crawlers struct {
	Page
	Steps    Steps     `json:"steps"` // of Crawler.Series
	Crawlers []Crawler `json:"crawlers"`
}

// Crawler is one crawler, on all sites in the scope together.
type Crawler struct {
	Name     string    `json:"name"`     // in the registry, or the token that it sent; a class where there are too many
	Class    string    `json:"class"`    // as {http.robots.class}
	Known    bool      `json:"known"`    // the registry has it
	Other    bool      `json:"other"`    // counts of all crawlers of this class for which there was no room; Name is the class
	Operator string    `json:"operator"` // "" if not known
	Purpose  string    `json:"purpose"`  // as {http.robots.purpose}
	Last     time.Time `json:"last"`     // its last request, to the minute
	Windows
	Series []uint64 `json:"series"` // requests, over the span that is asked for
}

// The values of CrawlersQuery.Sort, beside the names of Counts' fields.
const (
	SortName = "name"
	SortLast = "last"
)

// CrawlersQuery chooses crawlers.
type CrawlersQuery struct {
	Pages
	Span string // of the series, and of the counts that Sort is about: SpanHour, SpanDay (default) or SpanMonth
	Sort string // name, last, requests (default), passed, denied, throttled, would_deny, would_throttle, verified or impostors; largest first, but names
	Name string // only crawlers whose name contains this, in any case
}
