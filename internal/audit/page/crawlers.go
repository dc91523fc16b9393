package page

import "github.com/caddy-robots/caddy-robots/internal/audit"

// crawlerTable is the table of crawlers.
type crawlerTable struct {
	Rows      []crawlerRow
	Left      int   // crawlers without a row
	LeftCount int64 // their requests
	Verified  bool
	Estimate  bool // the numbers of addresses are estimates
	Known     bool // a robots.txt is known
}

// crawlerRow is the row of a crawler.
type crawlerRow struct {
	*audit.Crawler
	Label  string
	Kind   string // its class in words; "" for a known crawler
	Bars   []bar
	Errors int64 // responses with a status of 400 or more
	Group  place
	About  bool // Requests is an estimate
}

// newCrawlerTable returns the table of crawlers.
func newCrawlerTable(r *audit.Report, places places) crawlerTable {
	shown, left := cut(r.Crawlers, maxCrawlers)
	t := crawlerTable{Left: left, Verified: r.Verified, Estimate: estimated(r, "crawlers[].addresses"), Known: r.WouldHave.Known}
	for i := range r.Crawlers[len(shown):] {
		t.LeftCount += r.Crawlers[len(shown)+i].Requests
	}
	about := estimated(r, "crawlers[].requests")
	for i := range shown {
		c := &shown[i]
		row := crawlerRow{Crawler: c, Label: label(c), Errors: errors(c.Statuses), About: about && !c.Known}
		if c.Class != "crawler" && c.Class != c.Purpose {
			row.Kind = kind(c.Class)
		}
		row.Bars = bars(c.Requests, part{"pass", c.Requests - c.Denied - c.Throttled}, part{"deny", c.Denied}, part{"throttle", c.Throttled})
		if c.Group != "" {
			row.Group = places.of(c.GroupSource, "file", c.GroupLine, c.Group)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// label returns the name of a crawler for the page.
func label(c *audit.Crawler) string {
	switch {
	case c.Rest:
		return "others: " + kind(c.Class)
	case c.Name == "":
		return "no User-Agent"
	}
	return c.Name
}

// kinds are the classes of crawlers in words.
var kinds = map[string]string{
	"crawler":        "known crawler",
	"named":          "named by robots.txt",
	"self-declared":  "self-declared robot",
	"user-triggered": "fetched for a person",
	"scraper":        "offline browser or framework",
	"webhook":        "webhook",
	"probe":          "probe",
	"program":        "program",
	"library":        "HTTP library",
}

// kind returns a class in words.
func kind(class string) string {
	if k, ok := kinds[class]; ok {
		return k
	}
	return class
}

// errors returns the number of responses with a status of 400 or more.
func errors(list []audit.Count) (n int64) {
	for _, c := range list {
		if c.Name >= "4" {
			n += c.Requests
		}
	}
	return n
}
