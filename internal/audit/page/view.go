package page

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/visible"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// view is the data of the template: the report, and what the page shows of its lists.
type view struct {
	*audit.Report
	Title    string
	Activity *activity
	Warnings shown[audit.Warning]

	Differences shown[audit.Difference]
	Crawlers    shown[audit.Crawler]
	Sources     shown[audit.Source]
	Listings    []listing // of Sources
	Reads       *readTable
	Paces       shown[*audit.Crawler]
	Examples    shown[*audit.Crawler]
	People      []nameTable
	Hosts       shown[audit.Host]
	Inputs      shown[audit.Input]
	Estimates   []string

	places places
	budget int // number of lines that Listings may still have
}

// newView returns the view of a report.
func newView(r *audit.Report) *view {
	v := &view{
		Report: r, Title: title(r), Activity: newActivity(&r.Activity), Warnings: cut(r.Warnings, maxNotes),
		Crawlers: cut(r.Crawlers, maxCrawlers), Sources: cut(r.Sources, maxSources), Reads: newReadTable(r), Paces: paced(r),
		Examples: cut(r.CrawlersWith(func(c *audit.Crawler) bool { return len(c.Refused) > 0 }), maxExamples),
		Hosts:    cut(r.Hosts, maxHosts), Inputs: cut(r.Inputs, maxInputs), Estimates: Estimates(r),
		places: make(places), budget: maxLines,
	}
	if r.Against != nil {
		v.Differences = cut(r.Against.Differences, maxDifferences)
	}
	for i := range v.Sources.Rows {
		v.Listings = append(v.Listings, v.newListing(i))
	}
	for _, t := range []nameTable{{"Browsers", cut(r.Browsers, maxPeople)}, {"Systems", cut(r.Systems, maxPeople)},
		{"Devices", cut(r.Devices, maxPeople)}} {
		if len(t.Rows) > 0 {
			v.People = append(v.People, t)
		}
	}
	return v
}

// title returns the hosts of the report, the most frequent ones by name.
func title(r *audit.Report) string {
	var names []string
	for _, h := range cut(r.Hosts, maxTitleHosts).Rows {
		if !h.Rest {
			names = append(names, plain(maxName, h.Name))
		}
	}
	text := strings.Join(names, ", ")
	if len(names) > 0 && len(names) < len(r.Hosts) {
		text += " and others"
	}
	return cmp.Or(text, "Access log")
}

// Whole returns the parts of all requests: those of people, and those of robots by
// verdict.
func (v *view) Whole() []part {
	w := &v.WouldHave
	list := []part{{"people", v.Report.People}, {"pass", v.Robots - w.Refused}, {"deny", w.Denied}, {"throttle", w.Throttled}}
	return slices.DeleteFunc(list, func(p part) bool { return p.N <= 0 })
}

// WholeBars returns the bars for Whole.
func (v *view) WholeBars() []bar { return bars(v.Requests, v.Whole()...) }

// nameTable is the table of browsers, systems or devices.
type nameTable struct {
	Name string
	shown[audit.Count]
}

// Most returns the largest number of requests in a row.
func (t nameTable) Most() int64 {
	return slices.MaxFunc(t.Rows, func(a, b audit.Count) int { return cmp.Compare(a.Requests, b.Requests) }).Requests
}

// Others returns the number of requests that are in no row.
func (t nameTable) Others() (n int64) {
	for _, c := range t.Rest {
		n += c.Requests
	}
	return n
}

// requests returns the number of requests of several crawlers.
func requests(list []audit.Crawler) (n int64) {
	for i := range list {
		n += list[i].Requests
	}
	return n
}

// allowed returns the number of requests of a crawler that would have passed.
func allowed(c *audit.Crawler) int64 { return c.Requests - refused(c) }

// refused returns the number of requests of a crawler that would have been refused.
func refused(c *audit.Crawler) int64 { return c.Denied + c.Throttled }

// errors returns the number of responses with a status of 400 or more.
func errors(list []audit.Count) (n int64) {
	for _, c := range list {
		if c.Name >= "4" {
			n += c.Requests
		}
	}
	return n
}

// label returns the name of a crawler for the page.
func label(c *audit.Crawler) string {
	if c.Rest {
		return "others: " + kind(c.Class)
	}
	return cmp.Or(c.Name, "no User-Agent")
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
func kind(class string) string { return cmp.Or(kinds[class], class) }

// estimateNames are descriptions of the figures that Report.Estimates names.
var estimateNames = map[string]string{
	"addresses":                       "the number of client addresses",
	"crawlers[].addresses":            "each crawler’s number of client addresses",
	"crawlers[].pace.median_interval": "the median time between requests of crawlers with a rate limit",
	"crawlers[].requests":             "the number of requests of crawlers that are not in the registry",
	"disguises[].addresses":           "the number of addresses from which robots seem to send a browser’s User-Agent",
	"strangers.paths[].pages":         "the number of pages of addresses that requested nothing else",
}

// Estimates returns descriptions of the figures that are estimates.
func Estimates(r *audit.Report) []string {
	return words.Map(r.Estimates, func(name string) string { return cmp.Or(estimateNames[name], name) })
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

// shown is a list of which the page shows Rows and leaves out Rest.
type shown[T any] struct{ Rows, Rest []T }

// cut returns a list of which the first n elements are shown.
func cut[T any](list []T, n int) shown[T] {
	n = min(n, len(list))
	return shown[T]{list[:n], list[n:]}
}

// Len returns the number of all elements.
func (s shown[T]) Len() int { return len(s.Rows) + len(s.Rest) }

// Left returns the number of elements that are left out.
func (s shown[T]) Left() int { return len(s.Rest) }

// strange returns text that a stranger may have written as safe HTML: it escapes the
// text, cuts it after max runes, and shows invisible characters as marked escapes.
func strange(max int, s string) template.HTML {
	return template.HTML(readable(max, s, `<span class="more" title="cut here">…</span>`, func(text string, escaped bool) string {
		if escaped {
			return `<span class="escape">` + text + `</span>`
		}
		return template.HTMLEscapeString(text)
	}))
}

// plain is strange without markup, for an attribute. The template escapes it.
func plain(max int, s string) string {
	return readable(max, s, "…", func(text string, _ bool) string { return text })
}

// readable returns the first max runes of a text, each by the function rune, with more
// after them if there are others.
func readable(max int, s, more string, rune func(text string, escaped bool) string) string {
	var b strings.Builder
	for n := 0; s != ""; n++ {
		if n == max {
			return b.String() + more
		}
		text, size, escaped := visible.Rune(s)
		b.WriteString(rune(text, escaped))
		s = s[size:]
	}
	return b.String()
}

// share returns a part of a whole as a percentage.
func share(part, whole int64) string {
	switch {
	case whole <= 0:
		return "–"
	case part <= 0:
		return "0 %"
	}
	switch p := 100 * float64(part) / float64(whole); {
	case p < 0.1:
		return "< 0.1 %"
	case p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	case p > 99 && p < 100:
		return "> 99 %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// Shares returns the parts of the costs that robots have.
func Shares(c audit.Costs) string {
	text := share(c.Robots.Requests, c.All.Requests) + " of the requests, " + share(c.Robots.Octets, c.All.Octets) + " of the octets"
	if c.Timed > 0 {
		text += ", " + share(int64(c.Robots.Seconds*1000), int64(c.All.Seconds*1000)) + " of the time"
	}
	if c.Lone.Requests > 0 {
		text += "; " + audit.LoneAddresses + ": " + share(c.Lone.Requests, c.All.Requests) + " of the requests"
		if c.Timed > 0 {
			text += ", " + share(int64(c.Lone.Seconds*1000), int64(c.All.Seconds*1000)) + " of the time"
		}
	}
	return text
}

// moment returns a date and time in UTC. The page names the time zone at its top.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") }
