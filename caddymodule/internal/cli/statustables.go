package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// statusTables prints the status of a running Caddy as text. It escapes control
// characters from clients.
type statusTables struct {
	*bufio.Writer
	span  string
	paint report.Paint
	// shorten cuts the cells of tables at maxCell characters, except those of the
	// last column.
	shorten bool
	// monitor adds columns for requests that monitor mode let pass.
	monitor bool
}

func (t *statusTables) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// statusTime is the layout of times. They are in UTC.
const statusTime = "2006-01-02 15:04"

func (t *statusTables) print(s *statusReport) {
	t.summary(s)
	t.problems(&s.Health)
	t.sites(s.Sites)
	t.crawlers(s.Busiest, s.crawlers)
	t.rules(s)
	t.refusals(s.Recent)
	t.grace(s.Grace)
	t.files(s.Files, s.files)
}

func (t *statusTables) summary(s *statusReport) {
	c := s.Crawlers.In(t.span)
	t.monitor = c.WouldDeny+c.WouldThrottle > 0 || slices.ContainsFunc(s.Sites, func(site status.Site) bool { return site.Mode == status.Monitor || site.Mode == "both" })
	t.printf("The last %s until %s. All times are in UTC.\n", t.span, s.Now.UTC().Format(time.DateTime))
	t.printf("Crawlers: %s: %d passed, %d denied, %d throttled", requests(c.Requests), c.Passed, c.Denied, c.Throttled)
	if t.monitor {
		t.printf(";\n          in monitor mode, %d would have been denied, %d throttled", c.WouldDeny, c.WouldThrottle)
	}
	t.printf("\nPeople:   %s\n", requests(*s.People.In(t.span)))
}

// requests returns a number of requests in words.
func requests(n uint64) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// refusedHeadings returns the headings of the columns for refused requests.
func (t *statusTables) refusedHeadings() string {
	if t.monitor {
		return "DENIED\tTHROTTLED\tWOULD DENY\tWOULD THROTTLE"
	}
	return "DENIED\tTHROTTLED"
}

// refused returns the cells for refusedHeadings.
func (t *statusTables) refused(c *status.Counts) []any {
	if t.monitor {
		return []any{c.Denied, c.Throttled, c.WouldDeny, c.WouldThrottle}
	}
	return []any{c.Denied, c.Throttled}
}

func (t *statusTables) sites(sites []status.Site) {
	t.table("Sites: requests in the last "+t.span, "SITE\tMODE\tCRAWLERS\tPASSED\t"+t.refusedHeadings()+"\tPEOPLE", rowsOf(sites, func(site *status.Site) []any {
		mode := site.Mode
		if site.Overridden {
			mode += " (until the next load)"
		}
		c := site.Crawlers.In(t.span)
		return slices.Concat([]any{site.Name, mode, c.Requests, c.Passed}, t.refused(c), []any{*site.People.In(t.span)})
	}))
}

func (t *statusTables) crawlers(crawlers []status.Crawler, total int) {
	title := "Busiest crawlers" + partOf(len(crawlers), total) + ": requests in the last " + t.span
	t.table(title, "CRAWLER\tCLASS\tPURPOSE\tREQUESTS\tPASSED\t"+t.refusedHeadings()+"\tVERIFIED\tLAST SEEN", rowsOf(crawlers, func(one *status.Crawler) []any {
		c := one.Windows.In(t.span)
		return slices.Concat([]any{one.Name, one.Class, cmp.Or(one.Purpose, "-"), c.Requests, c.Passed}, t.refused(c), []any{verifiedShare(c), one.Last.UTC().Format(statusTime)})
	}))
}

func (t *statusTables) rules(s *statusReport) {
	title := fmt.Sprintf("Rules that refuse most%s: requests since %s, and in the last hour and day", partOf(len(s.Rules), s.rules), s.Since.UTC().Format(statusTime))
	if t.monitor {
		title += "; REFUSED includes would_deny and would_throttle"
	}
	t.table(title, "ORIGIN\tLINE\tGROUP\tRULE\tACTION\tPASSED\tREFUSED\tREFUSED LAST HOUR\tREFUSED LAST DAY", rowsOf(s.Rules, func(r *status.Line) []any {
		rule := cmp.Or(r.Rule, "-")
		if r.Layer == "hidden" {
			rule = "(hidden path)"
		}
		if r.Removed {
			rule += " (removed)"
		}
		return []any{
			r.Origin, lineOf(r.Layer, r.File, r.Number), cmp.Or(words.List(r.Tokens, 3), "-"), rule, actionsOf(&r.LineCounts),
			r.Passed, r.Refused(), r.Hour, r.Day,
		}
	}))
}

func (t *statusTables) refusals(list []status.Refusal) {
	t.table("Last refused requests, newest first: a sample for each crawler", "TIME\tHOST\tPATH\tCRAWLER\tCLIENT\tACTION\tREASON\tLINE", rowsOf(list, func(f *status.Refusal) []any {
		return []any{f.Time.UTC().Format(time.DateTime), f.Host, cmp.Or(f.Path, "-"), f.Crawler, f.Client, f.Action, f.Reason, lineOf(f.Layer, f.File, f.Line)}
	}))
}

// grace prints the grace periods that are running, a row for each earlier version
// of a file.
func (t *statusTables) grace(policies []status.Origin) {
	var rows [][]any
	for i := range policies {
		p := &policies[i]
		for _, g := range p.Grace {
			crawlers := g.Crawler
			if crawlers == "search" {
				crawlers = "search engines"
			}
			rows = append(rows, []any{policyName(p), g.Name(), crawlers, g.Replaced.UTC().Format(statusTime), g.Until.UTC().Format(statusTime)})
		}
	}
	t.table("Grace periods: crawlers that may still follow an earlier robots.txt", "ORIGIN\tVERSION\tCRAWLERS\tREPLACED\tENDS", rows)
}

func (t *statusTables) files(policies []status.Origin, total int) {
	t.table("robots.txt in force"+partOf(len(policies), total), "ORIGIN\tSTATE\tRULES\tMESSAGE", rowsOf(policies, func(p *status.Origin) []any {
		return []any{policyName(p), p.State, p.Rules, p.Message}
	}))
}

// problems prints the problems and their solutions.
func (t *statusTables) problems(h *status.Health) {
	if h.OK {
		t.printf("Health:   %s\n", t.paint.Good("no problems"))
		return
	}
	t.printf("\n")
	for _, p := range h.Problems {
		paint := t.paint.Odd
		if p.Severity == status.Severe {
			paint = t.paint.Bad
		}
		t.printf("%s %s\n    %s\n", paint(p.Severity+":"), report.Visible(p.Message), report.Visible(p.Advice))
	}
	if h.More > 0 {
		t.printf("and %d more problems\n", h.More)
	}
}

// table prints rows below a title and a line of headings. It prints nothing without
// rows.
func (t *statusTables) table(title, headings string, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	t.printf("\n%s\n", title)
	w := tabwriter.NewWriter(t.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, headings)
	for _, cells := range rows {
		for j, cell := range cells {
			text := report.Visible(fmt.Sprint(cell))
			if j < len(cells)-1 {
				if t.shorten {
					text = shortened(text)
				}
				text += "\t"
			}
			fmt.Fprint(w, text)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // Flush of t returns the error
}

// rowsOf returns the row of each element of a list.
func rowsOf[T any](list []T, row func(*T) []any) (rows [][]any) {
	for i := range list {
		rows = append(rows, row(&list[i]))
	}
	return rows
}

// maxCell is the maximum width of a cell on a terminal, in characters.
const maxCell = 60

// shortened returns text of at most maxCell characters.
func shortened(s string) string {
	if text := []rune(s); len(text) > maxCell {
		return string(text[:maxCell-1]) + "…"
	}
	return s
}

// partOf says that a table has n of total rows, if it does not have all.
func partOf(n, total int) string {
	if n >= total {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", n, total)
}

// lineOf returns the place of a line: in the site's robots.txt, or in a file of the
// configuration
// for the lines of a policy and for hidden paths.
func lineOf(layer, file string, line int) string {
	if line == 0 {
		return "-"
	}
	if layer == "file" {
		file = "robots.txt"
	}
	return fmt.Sprintf("%s:%d", cmp.Or(file, "configuration"), line)
}

// actionsOf returns the actions that a rule decided.
func actionsOf(c *status.LineCounts) string {
	var actions []string
	for _, a := range []struct {
		name  string
		count uint64
	}{{"pass", c.Passed}, {"deny", c.Denied}, {"throttle", c.Throttled}, {"would_deny", c.WouldDeny}, {"would_throttle", c.WouldThrottle}} {
		if a.count > 0 {
			actions = append(actions, a.name)
		}
	}
	return cmp.Or(strings.Join(actions, ", "), "-")
}

// policyName returns the origin of a policy or, if it is the same for all origins
// of a handler, the handler's sites. The matchers of the handler follow, because a
// site may have several handlers.
func policyName(p *status.Origin) string {
	name := p.Origin
	if name == "" {
		name = strings.Join(p.Sites, ", ")
	}
	if p.Matcher != "" {
		name += " (" + p.Matcher + ")"
	}
	return name
}

// verifiedShare returns the share of verified requests among those that could
// be verified.
func verifiedShare(c *status.Counts) string {
	claims := c.Verified + c.Unverified + c.Impostors
	if claims == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", c.Verified*100/claims)
}
