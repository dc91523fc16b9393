package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/page"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Maximum numbers of rows in the tables of the text. The JSON has all rows.
const (
	auditCrawlers = 40
	auditRules    = 200
	auditCounts   = 8
)

// Audit writes the report of an audit as text. It escapes control characters from
// logs and robots.txt files.
func Audit(w io.Writer, r *audit.Report, paint Paint) error {
	t := auditText{Writer: bufio.NewWriter(w), paint: paint, r: r}
	t.summary()
	if r.Requests > 0 {
		t.crawlers()
		t.pace()
		t.rules()
		t.reads()
		t.refused()
		t.hosts()
		t.people()
		t.suspects()
	}
	t.against()
	t.unreadable()
	t.warnings()
	return t.Flush()
}

// SeveralHandlers is the code of a warning that concerns the whole report. It is
// printed below the summary.
const SeveralHandlers = "handlers"

// auditText writes a report as text. Flush of its Writer returns the first error.
type auditText struct {
	*bufio.Writer
	paint Paint
	r     *audit.Report
}

func (t *auditText) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// title writes the title of a section.
func (t *auditText) title(format string, args ...any) {
	t.printf("\n%s\n", t.paint.in(bold, fmt.Sprintf(format, args...)))
}

// moment returns a time in UTC, "-" for none.
func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func (t *auditText) summary() {
	for _, s := range t.r.Summary {
		t.printf("%s\n", t.paint.in(bold, Visible(s)))
	}
	for _, w := range t.r.Warnings {
		if w.Code == SeveralHandlers {
			t.printf("%s\n", t.paint.Odd(Visible(w.Text)))
		}
	}
	parts := []string{
		words.Plural(t.r.Lines, "line", "lines"), words.Plural(t.r.Requests, "request", "requests"), words.Count(t.r.Unreadable) + " unreadable", words.Count(t.r.Other) + " other",
		words.Count(t.r.Addresses) + " addresses" + t.estimate("addresses"), words.Octets(t.r.Bytes),
	}
	t.printf("\n%s\n", strings.Join(parts, ", "))
	for _, in := range t.r.Inputs {
		line := fmt.Sprintf("%s: %s", Visible(in.Name), in.Format)
		if in.Compression != "" {
			line += ", " + in.Compression
		}
		t.printf("%s\n", t.paint.in(faint, fmt.Sprintf("%s, %s, %s to %s", line, words.Plural(in.Lines, "line", "lines"), moment(in.Period.From), moment(in.Period.To))))
	}
}

// estimate returns the mark of a figure that is an estimate, "" for other figures.
func (t *auditText) estimate(name string) string {
	if slices.Contains(t.r.Estimates, name) {
		return " (estimate)"
	}
	return ""
}

// crawlerName returns the display name of a crawler.
func crawlerName(c *audit.Crawler) string {
	switch {
	case c.Rest:
		return "(other " + c.Class + ")"
	case c.Name == "":
		return "(no User-Agent)"
	}
	return clipped(c.Name, 32)
}

func (t *auditText) crawlers() {
	t.title("Robots")
	if len(t.r.Crawlers) == 0 {
		t.printf("  none\n")
		return
	}
	columns := []column{{"name", true}, {"class", true}, {"purpose", true}, {"requests", false}, {"octets", false}, {"denied", false}, {"throttled", false}, {"robots.txt", false}, {"addresses", false}}
	if t.r.Verified {
		columns = append(columns, column{"verified", false}, column{"impostor", false})
	}
	var rows [][]string
	for i := range t.r.Crawlers[:min(len(t.r.Crawlers), auditCrawlers)] {
		c := &t.r.Crawlers[i]
		row := []string{
			crawlerName(c), c.Class, cmp.Or(clipped(c.Purpose, 20), "-"), words.Count(c.Requests), words.Octets(c.Bytes), words.Count(c.Denied), words.Count(c.Throttled),
			words.Count(c.RobotsTxtReads), words.Count(c.Addresses),
		}
		if t.r.Verified {
			row = append(row, words.Count(c.Verified), words.Count(c.Impostor))
		}
		rows = append(rows, row)
	}
	t.table(columns, rows)
	t.more(len(t.r.Crawlers) - auditCrawlers)
}

// more writes how many rows were left out.
func (t *auditText) more(n int) {
	if n > 0 {
		t.printf("  and %d more, which --json shows\n", n)
	}
}

func (t *auditText) pace() {
	var rows [][]string
	for i := range t.r.Crawlers {
		c := &t.r.Crawlers[i]
		p := c.Pace
		if p == nil {
			continue
		}
		factor, slowed := "-", words.Count(p.Throttled)
		if p.Factor > 0 {
			factor = fmt.Sprintf("%.3g", p.Factor)
		}
		if !p.Judged {
			slowed = "not judged"
		}
		rows = append(rows, []string{crawlerName(c), clipped(p.Text, 40), seconds(p.Interval), seconds(p.MedianInterval), factor, words.Count(p.Requests), slowed})
	}
	if len(rows) == 0 {
		return
	}
	t.title("Rate limits: time between requests")
	t.table([]column{{"name", true}, {"line", true}, {"limit", false}, {"median", false}, {"peak/limit", false}, {"requests", false}, {"throttled", false}}, rows[:min(len(rows), auditCrawlers)])
}

// seconds returns a number of seconds, "-" for 0.
func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return strconv.FormatFloat(s, 'g', 3, 64) + " s"
}

func (t *auditText) refused() {
	n := 0
	for i := range t.r.Crawlers {
		c := &t.r.Crawlers[i]
		if len(c.Refused) == 0 {
			continue
		}
		if n++; n > 10 {
			break
		}
		if n == 1 {
			t.title("Examples of requests that would have been refused")
		}
		for j := range c.Refused[:min(len(c.Refused), 2)] {
			t.example(crawlerName(c), &c.Refused[j])
		}
	}
}

func (t *auditText) example(name string, e *audit.Example) {
	t.printf("  %s  %s %s%s  %s", name, clipped(e.Method, 12), clipped(e.Host, 40), clipped(e.Target, 60), e.Verdict.Reason)
	if e.Verdict.Line > 0 {
		t.printf("  %s", verdictLine(&e.Verdict))
	}
	if e.Verdict.Text != "" {
		t.printf("  %s", clipped(e.Verdict.Text, 40))
	}
	t.printf("  (%s line %d)\n", Visible(e.Input), e.LineNo)
}

func (t *auditText) hosts() {
	if len(t.r.Hosts) < 2 {
		return
	}
	t.title("Hosts")
	var rows [][]string
	for _, h := range t.r.Hosts[:min(len(t.r.Hosts), 20)] {
		refused := words.Count(h.Refused)
		if !h.Known {
			refused = "robots.txt not known"
		}
		rows = append(rows, []string{clipped(h.Name, 48), words.Count(h.Requests), words.Count(h.Robots), refused})
	}
	t.table([]column{{"host", true}, {"requests", false}, {"of robots", false}, {"refused", false}}, rows)
	t.more(len(t.r.Hosts) - 20)
}

func (t *auditText) people() {
	if t.r.People == 0 {
		return
	}
	t.title("Browsers")
	for _, part := range []struct {
		name string
		list []audit.Count
	}{{"browser", t.r.Browsers}, {"system", t.r.Systems}, {"device", t.r.Devices}} {
		var list []string
		for _, c := range part.list[:min(len(part.list), auditCounts)] {
			list = append(list, fmt.Sprintf("%s %s", clipped(c.Name, 32), words.Count(c.Requests)))
		}
		t.printf("  %-8s  %s\n", part.name, strings.Join(list, ", "))
	}
}

func (t *auditText) suspects() {
	s := t.r.Suspects
	if s == nil {
		return
	}
	t.title("Suspects: robots with browsers' User-Agents")
	if !s.Known {
		t.printf("  not known: see the notes below\n")
		return
	}
	t.printf("  clients: %s%s; requests while they were suspects: %s of %s that could be looked at\n", words.Count(s.Clients), t.estimate("suspects.clients"), words.Count(s.Requests), words.Count(s.Looked))
	if s.Bound {
		t.printf("  refused by the rules for all crawlers: %s of these requests\n", words.Count(s.Refused))
	}
	var rows [][]string
	for _, one := range s.Signals {
		weight := "weak"
		if one.Strong {
			weight = "strong"
		}
		rows = append(rows, []string{one.Name, weight, words.Count(one.Raised), words.Count(one.Found)})
	}
	if len(rows) > 0 {
		t.table([]column{{"signal", true}, {"weight", true}, {"raised", false}, {"of suspects", false}}, rows)
	}
}

func (t *auditText) against() {
	a := t.r.Against
	if a == nil {
		return
	}
	t.title("Compared with %s", sourcesName(a.Sources))
	t.printf("  %s decisions differ: %s more requests are refused, %s more are allowed\n", words.Count(a.Changed), words.Count(a.MoreRefused), words.Count(a.MorePassed))
	line := fmt.Sprintf("  refused: %s of search engines (before: %s), %s with browsers' User-Agents\n", words.Plural(a.Search, "request", "requests"), words.Count(a.SearchWas), words.Count(a.Browsers))
	if a.Bad {
		line = t.paint.Bad(strings.TrimSuffix(line, "\n")) + "\n"
	}
	t.printf("%s", line)
	for i := range a.Differences[:min(len(a.Differences), auditCrawlers)] {
		d := &a.Differences[i]
		t.printf("  %s (%s): %s, %s, was %s\n", cmp.Or(clipped(d.Crawler, 32), "(no User-Agent)"), d.Class, words.Plural(d.Requests, "request", "requests"), verdictText(&d.Now), verdictText(&d.Was))
		for j := range d.Examples {
			e := &d.Examples[j]
			t.printf("      %s %s%s (%s line %d)\n", clipped(e.Method, 12), clipped(e.Host, 40), clipped(e.Target, 80), Visible(e.Input), e.LineNo)
		}
	}
	t.more(len(a.Differences) - auditCrawlers)
}

// sourcesName returns the display names of several robots.txt files.
func sourcesName(list []audit.Source) string {
	var names []string
	for i := range list {
		if name := Visible(list[i].Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return words.List(names, 5)
}

// verdictText returns the action, reason and line of a decision.
func verdictText(v *audit.Verdict) string {
	s := v.Action + " (" + v.Reason
	if v.Line > 0 {
		s += ", " + verdictLine(v) + ": " + clipped(v.Text, 48)
	}
	return s + ")"
}

// verdictLine returns the line that decided: of robots.txt, or of the
// configuration, with the name of its file.
func verdictLine(v *audit.Verdict) string {
	line := "line " + strconv.Itoa(v.Line)
	if v.Layer != "" && v.Layer != "file" {
		line += " of " + Visible(cmp.Or(v.File, "the configuration"))
	}
	return line
}

func (t *auditText) unreadable() {
	if t.r.Unreadable == 0 {
		return
	}
	t.title("Lines that could not be read")
	for _, c := range t.r.UnreadableReasons {
		t.printf("  %s: %s\n", words.Count(c.Requests), c.Name)
	}
	for _, e := range t.r.UnreadableExamples {
		t.printf("  %s line %d %s: %s\n", Visible(e.Input), e.LineNo, e.Reason, clipped(e.Text, 100))
	}
}

func (t *auditText) warnings() {
	notes := slices.DeleteFunc(slices.Clone(t.r.Warnings), func(w audit.Warning) bool { return w.Code == SeveralHandlers })
	if len(notes) == 0 && !t.r.Masked {
		return
	}
	t.title("Notes")
	for _, w := range notes {
		t.printf("  %s\n", t.paint.Odd(Visible(w.Text)))
	}
	if len(t.r.Estimates) > 0 {
		t.printf("  These figures are estimates: %s.\n", strings.Join(page.Estimates(t.r), ", "))
	}
	if t.r.Masked {
		t.printf("  Client addresses and values of queries are masked; --full shows them.\n")
	}
}
