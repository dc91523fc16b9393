package lint

// Crawlers provides information about crawlers. Implementations must be safe
// for concurrent use.
type Crawlers interface {
	// Lookup returns the crawler with a product token, ignoring case, or false
	// if there is none.
	Lookup(token string) (Crawler, bool)
	// SearchEngines returns the main crawler of each search engine that sends
	// many visitors to sites. The rule search-engine-shut-out is about these.
	SearchEngines() []Crawler
}

// Crawler describes a crawler for the linter.
type Crawler struct {
	Name        string
	Tokens      []string // product tokens in the order in which it obeys them
	ControlOnly bool     // the token is used only in robots.txt; no request carries it
	NoDelay     bool     // its operator documents that it does not support Crawl-delay
	NoAllow     bool     // it ignores Allow lines
	NoWildcards bool     // it treats * and $ as ordinary octets
}

// noCrawlers has no crawlers.
type noCrawlers struct{}

func (noCrawlers) Lookup(string) (Crawler, bool) { return Crawler{}, false }
func (noCrawlers) SearchEngines() []Crawler      { return nil }
