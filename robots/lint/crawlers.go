package lint

// Crawlers is where the linter learns about crawlers. Implementations must be
// safe for concurrent use.
type Crawlers interface {
	// Lookup returns the crawler with a product token, in any case; false if
	// none is known by it.
	Lookup(token string) (Crawler, bool)
	// SearchEngines returns one crawler of each search engine whose absence
	// costs a site its visitors.
	SearchEngines() []Crawler
}

// Crawler is what the linter needs to know of a crawler.
type Crawler struct {
	Name        string
	Tokens      []string // product tokens in the order in which it obeys them
	ControlOnly bool     // the token stands only in robots.txt; no request carries it
	NoDelay     bool     // its operator documents that it does not support Crawl-delay
	NoAllow     bool     // it ignores Allow lines
	NoWildcards bool     // to it, * and $ are ordinary octets
}

// noCrawlers knows nothing.
type noCrawlers struct{}

func (noCrawlers) Lookup(string) (Crawler, bool) { return Crawler{}, false }
func (noCrawlers) SearchEngines() []Crawler      { return nil }
