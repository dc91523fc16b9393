package page

import (
	"html/template"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// view is the data of the template, in the order of the page.
type view struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title    string
	From     *time.Time
	To       *time.Time
	Report   *audit.Report
	Figures  []figure
	Whole    []bar
	Legend   []legend
	Activity *activity
	Warnings []audit.Warning
	Left     left

	Comparison *comparison
	Crawlers   crawlerTable
	Listings   []listing
	Reads      *readTable
	Paces      []paceRow
	PaceTicks  []tick
	Coarse     bool // a row of Paces has no verdict
	Examples   []exampleGroup
	People     []peopleTable
	Hosts      []audit.Host
	Inputs     []audit.Input
	Estimates  []string

	SuspectsEstimated bool
}

// left has the number of elements of each list that the page leaves out.
type left struct {
	Warnings, Listings, Paces, Examples, Hosts, Inputs int
}

// newView returns the view of a report.
func newView(r *audit.Report) *view {
	v := &view{
		Policy: policy, Style: template.CSS(style), Script: template.JS(script),
		Report: r, Title: title(r), Estimates: Estimates(r), SuspectsEstimated: estimated(r, "suspects.clients"),
	}
	if p := r.Period; p.From != nil && p.To != nil {
		from, to := p.From.UTC(), p.To.UTC()
		v.From, v.To = &from, &to
	}
	v.Figures = figures(r)
	v.Whole, v.Legend = whole(r)
	v.Activity = newActivity(&r.Activity)
	v.Warnings, v.Left.Warnings = cut(r.Warnings, maxNotes)

	places := v.listings(r)
	v.Comparison = newComparison(r, places)
	v.Crawlers = newCrawlerTable(r, places)
	v.Reads = newReadTable(r)
	v.Paces, v.Left.Paces = paceRows(r, places)
	v.PaceTicks = paceTicks()
	v.Coarse = slices.ContainsFunc(v.Paces, func(row paceRow) bool { return !row.Judged })
	v.Examples, v.Left.Examples = exampleGroups(r, places)
	v.People = peopleTables(r)
	v.Hosts, v.Left.Hosts = cut(r.Hosts, maxHosts)
	v.Inputs, v.Left.Inputs = cut(r.Inputs, maxInputs)
	return v
}

// title returns the hosts of the report, the most frequent ones by name.
func title(r *audit.Report) string {
	var names string
	n := 0
	for i, h := range r.Hosts {
		if h.Rest || i == maxTitleHosts {
			break
		}
		if n++; n > 1 {
			names += ", "
		}
		names += plain(maxName, h.Name)
	}
	switch rest := len(r.Hosts) - n; {
	case n == 0:
		return "Access log"
	case rest > 0:
		return names + " and others"
	}
	return names
}

// estimated reports whether a figure, by its JSON name, is an estimate.
func estimated(r *audit.Report, name string) bool {
	return slices.Contains(r.Estimates, name)
}

// estimateNames are descriptions of the figures that Report.Estimates names.
var estimateNames = map[string]string{
	"addresses":                       "the number of client addresses",
	"crawlers[].addresses":            "each crawler’s number of client addresses",
	"crawlers[].pace.median_interval": "the median time between requests of crawlers with a rate limit",
	"crawlers[].requests":             "the number of requests of crawlers that are not in the registry",
	"suspects.clients":                "the number of suspects",
}

// Estimates returns descriptions of the figures that are estimates.
func Estimates(r *audit.Report) []string {
	var list []string
	for _, name := range r.Estimates {
		if words, ok := estimateNames[name]; ok {
			name = words
		}
		list = append(list, name)
	}
	return list
}

// The largest number of elements of each list in the page. The page says how many it
// leaves out. The JSON report has all of them.
const (
	maxCrawlers    = 1000 // rows of the table of crawlers
	maxTimelines   = 60   // crawlers whose reads of robots.txt are drawn
	maxPaces       = 200  // crawlers whose pace is shown
	maxExamples    = 40   // crawlers with examples of refused requests
	maxSources     = 20   // robots.txt files
	maxLines       = 3000 // lines of all robots.txt files together
	maxLineAgents  = 4    // crawlers that are named at a line
	maxPeople      = 12   // browsers, systems and devices each
	maxHosts       = 200
	maxInputs      = 200
	maxDifferences = 200
	maxNotes       = 50 // warnings, and notes of each file
	maxTitleHosts  = 3
	maxNeverRead   = 12
)

// The largest lengths of texts, in runes.
const (
	maxName = 80
	maxText = 400 // lines of files, User-Agents, request targets
)

// cut returns the first n elements of list, and the number of the others.
func cut[T any](list []T, n int) (shown []T, left int) {
	if len(list) <= n {
		return list, 0
	}
	return list[:n], len(list) - n
}
