package lint

// Crawlers provides information about crawlers. Implementations must be safe
// for concurrent use.
type Crawlers interface {
	// Lookup returns the crawler with a product token, ignoring case, or false
	// if there is none.
	Lookup(token string) (Crawler, bool)
	// SearchEngines returns the main crawler of each search engine that sends
	// many visitors to sites. The check search-engine-shut-out examines these.
	SearchEngines() []Crawler
	// WellKnown returns the product tokens of crawlers that many sites name.
	// The check misspelt-token compares tokens that Lookup does not find with
	// these.
	WellKnown() []string
	// People reports whether people's browsers or apps send a product token. It
	// returns the product tokens that the same operator's fetcher obeys, if it has one.
	People(token string) (fetcher []string, ok bool)
}

// Crawler describes a crawler for the linter.
type Crawler struct {
	Name        string
	Tokens      []string // product tokens; the crawler obeys the first that has a group
	ControlOnly bool     // the token occurs only in robots.txt; no request carries it
	NoDelay     bool     // its operator documents that the crawler ignores Crawl-delay
	NoAllow     bool     // the crawler ignores Allow lines
	NoWildcards bool     // the crawler reads * and $ as ordinary octets
}

// noCrawlers is the default: it has no information about any crawler.
type noCrawlers struct{}

func (noCrawlers) Lookup(string) (Crawler, bool)  { return Crawler{}, false }
func (noCrawlers) SearchEngines() []Crawler       { return nil }
func (noCrawlers) WellKnown() []string            { return nil }
func (noCrawlers) People(string) ([]string, bool) { return nil, false }
