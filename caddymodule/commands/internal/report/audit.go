package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/page"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed audit.txt
var auditTemplate string

// SeveralHandlers is the code of a warning that concerns the whole report. It is
// printed below the summary.
const SeveralHandlers = "handlers"

// Audit writes the report of an audit as text. It escapes control characters from
// logs and robots.txt files.
func Audit(w io.Writer, r *audit.Report, paint output.Paint) error {
	return output.Layout{Paint: paint, Indent: "  ", FaintHeads: true}.Execute(w, auditTemplate, template.FuncMap{
		"octets":       words.Octets,
		"took":         words.Seconds,
		"shares":       page.Shares,
		"costly":       costly,
		"number":       func(i int) int { return i + 1 },
		"paced":        func() any { return r.CrawlersWith(func(c *audit.Crawler) bool { return c.Pace != nil }) },
		"readers":      func() any { return r.CrawlersWith(func(c *audit.Crawler) bool { return len(c.Reads) > 0 }) },
		"refused":      func() any { return r.CrawlersWith(func(c *audit.Crawler) bool { return len(c.Refused) > 0 }) },
		"firstRead":    func(c audit.Crawler) *time.Time { return &c.Reads[0].Time },
		"lastRead":     func(c audit.Crawler) *time.Time { return &c.Reads[len(c.Reads)-1].Until },
		"answers":      page.Answers,
		"sources":      sourceNames,
		"rules":        func(source int) ruleLists { return newRuleLists(r, source) },
		"ruleLine":     ruleLine,
		"ruleCrawlers": ruleCrawlers,
		"estimates":    func() string { return strings.Join(page.Estimates(r), ", ") },
		"estimate": func(name string) string {
			if slices.Contains(r.Estimates, name) {
				return " (estimate)"
			}
			return ""
		},
		"notes": func() []audit.Warning {
			return slices.DeleteFunc(slices.Clone(r.Warnings), func(w audit.Warning) bool { return w.Code == SeveralHandlers })
		},
	}, r)
}

// sourceNames returns the display names of several robots.txt files.
func sourceNames(list []audit.Source) string {
	var names []string
	for i := range list {
		if name := output.Visible(list[i].Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return words.List(names, 5)
}

// ruleLists are the lines of a robots.txt that applied to a request, and those that
// never did, each once.
type ruleLists struct{ Applied, Never []audit.Line }

func newRuleLists(r *audit.Report, source int) (lists ruleLists) {
	type line struct{ place, text string } // a policy can copy a line into several groups
	shown := make(map[line]bool)
	for _, rule := range r.RobotsLines {
		if rule.Source == source && rule.Applied > 0 {
			shown[line{ruleLine(rule), rule.Text}] = true
			lists.Applied = append(lists.Applied, rule)
		}
	}
	for _, rule := range r.RobotsLines {
		if l := (line{ruleLine(rule), rule.Text}); rule.Source == source && !shown[l] {
			shown[l] = true
			lists.Never = append(lists.Never, rule)
		}
	}
	return lists
}

// ruleLine returns the line of a rule, with the file of the configuration unless it
// is in the site's own file.
func ruleLine(r audit.Line) string {
	if r.Layer == "file" {
		return strconv.Itoa(r.Line)
	}
	file := output.Visible(cmp.Or(r.File, "configuration"))
	if r.Line == 0 { // a policy in JSON
		return file
	}
	return file + ":" + strconv.Itoa(r.Line)
}

// ruleCrawlers returns the crawlers to which a rule applied most often.
func ruleCrawlers(r audit.Line) string {
	return crawlerCounts(len(r.Crawlers), func(i int) (string, int64) { return r.Crawlers[i].Name, r.Crawlers[i].Applied })
}

// costly returns the most expensive crawlers of a path pattern.
func costly(r cost.Row) string {
	return crawlerCounts(len(r.Clients), func(i int) (string, int64) { return r.Clients[i].Name, r.Clients[i].Requests })
}

// crawlerCounts returns the first three of n crawlers with their counts.
func crawlerCounts(n int, of func(i int) (name string, count int64)) string {
	var list []string
	for i := range min(n, 3) {
		name, count := of(i)
		list = append(list, fmt.Sprintf("%s %s", output.Clip(cmp.Or(name, "(no User-Agent)"), 24), words.Count(count)))
	}
	if n > 3 {
		list = append(list, fmt.Sprintf("%d more", n-3))
	}
	return strings.Join(list, ", ")
}
