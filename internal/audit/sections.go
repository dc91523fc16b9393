package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/section"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// linesPerRow is how many times as many lines a robots.txt has in Sections as other tables
// have rows.
const linesPerRow = 5

// listing is a section with at most so many rows.
type listing struct {
	section.Section
	shown []bool // the columns; others are left out
	most  int
	left  int // rows that are left out
}

// newListing returns a listing without rows. > before a head is for numbers, and "" in place of
// one leaves out the column.
func newListing(most int, title string, heads ...string) *listing {
	t := &listing{most: most}
	t.Title = title
	for _, head := range heads {
		name, isNumber := strings.CutPrefix(head, ">")
		t.shown = append(t.shown, head != "")
		if head != "" {
			t.Columns = append(t.Columns, section.Column{Name: name, Number: isNumber})
		}
	}
	return t
}

// add adds a row of texts, counts and times.
func (t *listing) add(cells ...any) {
	if len(t.Rows) == t.most {
		t.left++
		return
	}
	var row []string
	for i, cell := range cells {
		if !t.shown[i] {
			continue
		}
		text := ""
		switch c := cell.(type) {
		case string:
			text = c
		case int64:
			text = words.Count(c)
		case *time.Time:
			if c != nil {
				text = c.UTC().Format("2006-01-02 15:04")
			}
		}
		row = append(row, text)
	}
	t.Rows = append(t.Rows, row)
}

// note adds a sentence below the table.
func (t *listing) note(format string, args ...any) {
	t.Note = strings.TrimSpace(t.Note + " " + fmt.Sprintf(format, args...))
}

// headIf returns a head that is there only if something is the case.
func headIf(is bool, head string) string {
	if is {
		return head
	}
	return ""
}

// Sections returns the tables of the report that have rows, each with at most so many, in
// the order in which a report shows them. Texts of strangers are not escaped.
func (r *Report) Sections(most int) (list []section.Section) {
	var tables []*listing
	if r.Decided != nil {
		tables = append(tables, r.shownTable(most), r.decisionTable(most))
	} else {
		tables = append(tables, r.crawlerTable(most), r.costTable(most), r.askedTable(most))
		for _, s := range r.Sources {
			tables = append(tables, s.table(most))
		}
		tables = append(tables, r.readTable(most), r.exampleTable(most), r.hostTable(most))
	}
	if r.Against != nil {
		tables = append(tables, r.Against.table(most))
	}
	for _, t := range append(tables, r.inputTable(most), r.unreadableTable(most)) {
		if t.left > 0 {
			t.note("%d more are in --json.", t.left)
		}
		if len(t.Rows) > 0 || t.Note != "" {
			list = append(list, t.Section)
		}
	}
	return list
}

// Label returns the name of the crawler for people.
func (c *Crawler) Label() string {
	if c.Rest {
		return "(other " + c.Class + ")"
	}
	return named(c.Name)
}

// named returns the name of a client, in words for one without.
func named(name string) string { return cmp.Or(name, "(no User-Agent)") }

func (r *Report) crawlerTable(most int) *listing {
	verified := func(head string) string { return headIf(r.Verified, head) }
	t := newListing(most, "Robots", "name", "class", "purpose", ">requests", ">octets", headIf(r.Costs.All.Seconds > 0, ">time"), ">denied", ">throttled",
		">worst half hour", ">robots.txt", ">addresses", verified(">verified"), verified(">of these refused"), verified(">impostor"))
	for _, c := range r.Crawlers {
		t.add(c.Label(), c.Class, strings.Join(c.Purposes, ", "), c.Requests, words.Octets(c.Octets), words.Seconds(c.Seconds), c.Denied, c.Throttled,
			c.WorstHalfHour, c.RobotsTxtReads, c.Addresses, c.Verified, c.VerifiedRefused, c.Impostor)
	}
	if r.Estimated {
		t.note("Large numbers of addresses are estimates.")
	}
	return t
}

func (r *Report) costTable(most int) *listing {
	costs := &r.Costs
	timed := costs.All.Seconds > 0
	title := fmt.Sprintf("Costs: robots have %.0f %% of the requests, %.0f %% of the octets", percent(costs.Robots.Requests, costs.All.Requests),
		percent(costs.Robots.Octets, costs.All.Octets))
	if timed {
		title += fmt.Sprintf(", %.0f %% of the time", 100*costs.Robots.Share(costs.All))
	}
	if costs.Lone.Requests > 0 {
		title += fmt.Sprintf("; lone addresses %.0f %%", 100*costs.Lone.Share(costs.All))
	}
	t := newListing(most, title, "path", ">requests", ">octets", headIf(timed, ">time"), "robots")
	for _, p := range costs.Patterns {
		clients := words.Map(p.Clients, func(c cost.Client) string { return named(c.Name) + " " + words.Count(c.Requests) })
		t.add(p.Pattern, p.Requests, words.Octets(p.Octets), words.Seconds(p.Seconds), words.List(clients, 3))
	}
	if !timed && len(t.Rows) > 0 {
		t.note("The log does not have the durations of requests.")
	}
	return t
}

func (r *Report) askedTable(most int) *listing {
	t := newListing(most, "Strangers that would have been asked to show that they are browsers", "line", ">pages not answered", ">octets",
		headIf(r.Costs.All.Seconds > 0, ">time"), ">addresses", ">others asked once")
	for _, a := range r.Strangers.Asked {
		t.add(a.Line, a.Requests, words.Octets(a.Octets), words.Seconds(a.Seconds), a.Addresses, a.Others)
	}
	return t
}

// table returns a robots.txt as its source, with counts at its lines, and the lines
// of the configuration that are not in its text.
func (s *Source) table(most int) *listing {
	title := "Rules of " + s.Name
	if len(s.Hosts) > 0 {
		title += " for " + words.List(s.Hosts, 3)
	}
	if s.From != nil {
		title += " from " + s.From.UTC().Format("2006-01-02 15:04")
	}
	t := newListing(most*linesPerRow, fmt.Sprintf("%s: %s", title, requests(s.Requests)), ">line", ">applied", ">refused", "text", "robots")
	left := s.Lines
	for line := range robots.Parse([]byte(s.Text), robots.WithMaxSize(len(s.Text))).Lines() {
		if len(left) > 0 && left[0].TextLine == line.Number {
			t.addLine(left[0], line.Raw)
			left = left[1:]
		} else if strings.TrimSpace(line.Raw) != "" {
			t.add(strconv.Itoa(line.Number), "", "", line.Raw, "")
		}
	}
	for _, l := range left {
		t.addLine(l, l.Text)
	}
	if s.State != judge.Loaded.String() {
		t.note("%s: no rules.", s.State)
	}
	for _, n := range s.Notes {
		t.note("%s.", n)
	}
	return t
}

// addLine adds a line with its counts. Hidden paths are not shown.
func (t *listing) addLine(l *Line, text string) {
	at := ""
	if l.Line > 0 { // a policy in JSON has no lines
		at = strconv.Itoa(l.Line)
	}
	if l.Layer != judge.FileLayer.String() {
		at = strings.TrimSuffix(cmp.Or(l.File, "configuration")+":"+at, ":")
	}
	whom := "never applied"
	if l.Applied > 0 {
		whom = words.List(words.Map(l.Crawlers, func(c Count) string { return named(c.Name) + " " + words.Count(c.Requests) }), 3)
	}
	t.add(at, l.Applied, l.Denied, cmp.Or(text, "(hidden)"), whom)
}

func (r *Report) readTable(most int) *listing {
	t := newListing(most, "Reads of robots.txt", "name", ">reads", "first", "last", "answers")
	for _, c := range r.Crawlers {
		if c.RobotsTxtReads > 0 {
			answers := words.Map(c.Answers, func(n Count) string { return n.Name + " × " + words.Count(n.Requests) })
			t.add(c.Label(), c.RobotsTxtReads, c.Reads.From, c.Reads.To, strings.Join(answers, ", "))
		}
	}
	return t
}

func (r *Report) exampleTable(most int) *listing {
	t := newListing(most, "Requests that would have been refused", "time", "name", "request", "reason", "by", "log")
	for _, c := range r.Crawlers {
		for _, e := range c.Refused[:min(len(c.Refused), 2)] {
			t.add(e.Time, c.Label(), e.Method+" "+e.Host+e.Target, e.Robots.Reason, e.Robots.Place(), e.place())
		}
	}
	return t
}

// place returns where the request is in the logs.
func (e *Request) place() string { return fmt.Sprintf("%s, line %d", e.Log, e.Line) }

func (r *Report) hostTable(most int) *listing {
	t := newListing(most, "Hosts", "host", ">requests", ">of robots", ">octets to robots", ">refused", "robots.txt")
	for _, h := range r.Hosts {
		known := "known"
		if !h.Known {
			known = "not known"
		}
		t.add(h.Name, h.Requests, h.Robots, words.Octets(h.Octets), h.Refused, known)
	}
	return t
}

func (a *Against) table(most int) *listing {
	names := slices.Compact(words.Map(a.Sources, func(s *Source) string { return s.Name }))
	t := newListing(most, "Compared with "+cmp.Or(words.List(names, 5), "no robots.txt"), "name", "class", ">requests", "now", "before", "example")
	for _, d := range a.Differences {
		e := d.Example
		example := e.Method + " " + e.Host + e.Target + "  " + e.place()
		t.add(named(d.Crawler), d.Class, d.Requests, strings.TrimSpace(d.Action+"  "+d.Place()), strings.TrimSpace(d.Was.Action+"  "+d.Was.Place()), example)
	}
	t.note("%s differ: %s more are refused, %s more are allowed. Refused: %s of search engines (before: %s), %s with browsers' User-Agents.",
		words.Plural(a.Changed, "decision", "decisions"), words.Count(a.MoreRefused), words.Count(a.MorePassed), requests(a.Search), words.Count(a.SearchWas),
		words.Count(a.Browsers))
	if a.Bad {
		t.note("Check this before you publish the file: it refuses requests of browsers, or more of a search engine than before.")
	}
	return t
}

func (r *Report) inputTable(most int) *listing {
	t := newListing(most, "Logs", "file", "format", ">lines", ">requests", ">unreadable", "from", "to")
	for _, in := range r.Inputs {
		t.add(in.Name, strings.Trim(in.Format+", "+in.Compression, ", "), in.Lines, in.Requests, in.Unreadable, in.Period.From, in.Period.To)
	}
	return t
}

func (r *Report) unreadableTable(most int) *listing {
	t := newListing(most, "Lines that could not be read", "log", "reason", headIf(!r.Masked, "text"))
	for _, e := range r.UnreadableExamples {
		t.add(fmt.Sprintf("%s, line %d", e.Input, e.LineNo), e.Reason, e.Text)
	}
	for _, c := range r.UnreadableReasons {
		t.note("%s: %s.", words.Plural(c.Requests, "line", "lines"), c.Name)
	}
	return t
}
