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

// sourceTable is the name of the table of a robots.txt. In Sections, it has linesPerRow times as many
// lines as other tables have rows.
const (
	sourceTable = "robots_txt"
	linesPerRow = 5
)

// Table is a section with its values as programs need them.
type Table struct {
	Name    string           `json:"name"` // does not change, unlike Title
	Title   string           `json:"title"`
	Columns []section.Column `json:"columns"`
	// Rows have a value for each column: a text, a number, octets and seconds without a unit, a time
	// in RFC 3339, or null for what is not known.
	Rows [][]any `json:"rows"`
	Note string  `json:"note"` // below the table; "" for none
}

// octetsOf and secondsOf are values that have units in text.
type (
	octetsOf  int64
	secondsOf float64
)

// newTable returns a table without rows. > before a head is for numbers.
func newTable(name, title string, heads ...string) *Table {
	t := &Table{Name: name, Title: title, Rows: [][]any{}}
	for _, head := range heads {
		name, isNumber := strings.CutPrefix(head, ">")
		t.Columns = append(t.Columns, section.Column{Name: name, Number: isNumber})
	}
	return t
}

// add adds a row.
func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }

// note adds a sentence below the table.
func (t *Table) note(format string, args ...any) {
	t.Note = strings.TrimSpace(t.Note + " " + fmt.Sprintf(format, args...))
}

// ifKnown returns a value, or nil if it is not known.
func ifKnown(is bool, value any) any {
	if is {
		return value
	}
	return nil
}

// section returns the table as text, with at most so many rows, and without the columns that have
// no value.
func (t *Table) section(most int) section.Section {
	text := section.Section{Title: t.Title, Note: t.Note}
	if t.Name == sourceTable {
		most *= linesPerRow
	}
	rows := t.Rows[:min(len(t.Rows), most)]
	if more := len(t.Rows) - len(rows); more > 0 {
		text.Note = strings.TrimSpace(fmt.Sprintf("%s %d more are in --json.", t.Note, more))
	}
	for range rows {
		text.Rows = append(text.Rows, nil)
	}
	for i, column := range t.Columns {
		if !slices.ContainsFunc(rows, func(row []any) bool { return row[i] != nil }) {
			continue
		}
		text.Columns = append(text.Columns, column)
		for n, row := range rows {
			text.Rows[n] = append(text.Rows[n], inWords(row[i]))
		}
	}
	return text
}

// inWords returns a value as text.
func inWords(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int64:
		return words.Count(v)
	case octetsOf:
		return words.Octets(int64(v))
	case secondsOf:
		return words.Seconds(float64(v))
	case *time.Time:
		if v != nil {
			return v.UTC().Format("2006-01-02 15:04")
		}
	}
	return ""
}

// Sections returns the tables of the report as text, each with at most so many rows. Texts of
// strangers are not escaped.
func (r *Report) Sections(most int) []section.Section {
	return words.Map(r.Tables, func(t *Table) section.Section { return t.section(most) })
}

// tables returns the tables of the report that say something, in the order in which a report
// shows them.
func (r *Report) tables() []*Table {
	var list []*Table
	if r.Decided != nil {
		list = append(list, r.shownTable(), r.decisionTable())
	} else {
		list = append(list, r.crawlerTable(), r.costTable(), r.askedTable())
		for _, s := range r.Sources {
			list = append(list, s.table())
		}
		list = append(list, r.readTable(), r.exampleTable(), r.hostTable())
	}
	if r.Against != nil {
		list = append(list, r.Against.table())
	}
	list = append(list, r.inputTable(), r.unreadableTable())
	return slices.DeleteFunc(list, func(t *Table) bool { return len(t.Rows) == 0 && t.Note == "" })
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

func (r *Report) crawlerTable() *Table {
	verified := func(n int64) any { return ifKnown(r.Verified, n) }
	t := newTable("crawlers", "Robots", "name", "class", "purpose", ">requests", ">octets", ">time", ">denied", ">throttled",
		">worst half hour", ">robots.txt", ">addresses", ">verified", ">of these refused", ">impostor")
	for _, c := range r.Crawlers {
		t.add(c.Label(), c.Class, strings.Join(c.Purposes, ", "), c.Requests, octetsOf(c.Octets), r.seconds(c.Sum), c.Denied, c.Throttled,
			c.WorstHalfHour, c.RobotsTxtReads, c.Addresses, verified(c.Verified), verified(c.VerifiedRefused), verified(c.Impostor))
	}
	if r.Estimated && len(t.Rows) > 0 {
		t.note("Large numbers of addresses are estimates.")
	}
	return t
}

// seconds returns what requests cost in time; nil if the log does not have that.
func (r *Report) seconds(sum cost.Sum) any {
	return ifKnown(r.Costs.All.Seconds > 0, secondsOf(sum.Seconds))
}

func (r *Report) costTable() *Table {
	costs := &r.Costs
	title := "Costs: robots have " + r.parts(costs.Robots)
	if costs.Lone.Requests > 0 {
		title += "; lone addresses " + r.parts(costs.Lone)
	}
	t := newTable("costs", title, "path", ">requests", ">octets", ">time", "clients")
	for _, p := range costs.Patterns {
		clients := words.Map(p.Clients, func(c cost.Client) string { return named(c.Name) + " " + words.Count(c.Requests) })
		t.add(p.Pattern, p.Requests, octetsOf(p.Octets), r.seconds(p.Sum), words.List(clients, 3))
	}
	if len(t.Rows) > 0 {
		t.note("%s", costs.Untimed())
	}
	return t
}

func (r *Report) askedTable() *Table {
	t := newTable("asked", "Strangers that would have been asked to show that they are browsers", "line", ">pages not answered", ">octets",
		">time", ">addresses", ">others asked once")
	for _, a := range r.Strangers.Asked {
		t.add(a.Line, a.Requests, octetsOf(a.Octets), r.seconds(a.Sum), a.Addresses, a.Others)
	}
	return t
}

// table returns a robots.txt as its source, with counts at its lines, and the lines
// of the configuration that are not in its text.
func (s *Source) table() *Table {
	title := "Rules of " + s.Name
	if len(s.Hosts) > 0 {
		title += " for " + words.List(s.Hosts, 3)
	}
	if s.From != nil {
		title += " from " + s.From.UTC().Format("2006-01-02 15:04")
	}
	t := newTable(sourceTable, fmt.Sprintf("%s: %s", title, requests(s.Requests)), ">line", ">applied", ">refused", "text", "robots")
	left := s.Lines
	for line := range robots.Parse([]byte(s.Text), robots.WithMaxSize(len(s.Text))).Lines() {
		if len(left) > 0 && left[0].TextLine == line.Number {
			t.addLine(left[0], line.Raw)
			left = left[1:]
		} else if strings.TrimSpace(line.Raw) != "" {
			at := ""
			if layer, number := s.inForce.Origin(line.Number); number > 0 {
				at = position(layer == judge.FileLayer, s.inForce.FileOf(layer), number)
			}
			t.add(at, nil, nil, line.Raw, nil)
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
func (t *Table) addLine(l *Line, text string) {
	whom := "never applied"
	if l.Applied > 0 {
		whom = words.List(words.Map(l.Crawlers, func(c Count) string { return named(c.Name) + " " + words.Count(c.Requests) }), 3)
	}
	t.add(position(l.Layer == judge.FileLayer.String(), l.File, l.Line), l.Applied, l.Denied, cmp.Or(text, "(hidden)"), whom)
}

// position returns the number of a line, after the name of its file if that is not the site's own.
func position(isOwn bool, file string, line int) string {
	at := ""
	if line > 0 { // a policy in JSON has no lines
		at = strconv.Itoa(line)
	}
	if isOwn {
		return at
	}
	return strings.TrimSuffix(cmp.Or(file, "configuration")+":"+at, ":")
}

func (r *Report) readTable() *Table {
	t := newTable("reads", "Reads of robots.txt", "name", ">reads", "first", "last", "answers")
	for _, c := range r.Crawlers {
		if c.RobotsTxtReads > 0 {
			answers := words.Map(c.Answers, func(n Count) string { return n.Name + " × " + words.Count(n.Requests) })
			t.add(c.Label(), c.RobotsTxtReads, c.Reads.From, c.Reads.To, strings.Join(answers, ", "))
		}
	}
	return t
}

func (r *Report) exampleTable() *Table {
	t := newTable("refused", "Requests that would have been refused", "time", "name", "client", "request", "reason", "by", "log")
	for _, c := range r.Crawlers {
		for _, e := range c.Refused {
			t.add(e.Time, c.Label(), e.Client, e.Method+" "+e.Host+e.Target, e.Robots.Reason, e.Robots.Place(), e.place())
		}
	}
	return t
}

// place returns where the request is in the logs.
func (e *Request) place() string { return fmt.Sprintf("%s, line %d", e.Log, e.Line) }

func (r *Report) hostTable() *Table {
	t := newTable("hosts", "Hosts", "host", ">requests", ">of robots", ">octets to robots", ">refused", "robots.txt")
	for _, h := range r.Hosts {
		known := "known"
		if !h.Known {
			known = "not known"
		}
		t.add(h.Name, h.Requests, h.Robots, octetsOf(h.Octets), h.Refused, known)
	}
	return t
}

func (a *Against) table() *Table {
	names := slices.Compact(words.Map(a.Sources, func(s *Source) string { return s.Name }))
	t := newTable("against", "Compared with "+cmp.Or(words.List(names, 5), "no robots.txt"), "name", "class", ">requests", "now", "before", "example")
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

func (r *Report) inputTable() *Table {
	t := newTable("logs", "Logs", "file", "format", ">lines", ">requests", ">unreadable", "from", "to")
	for _, in := range r.Inputs {
		t.add(in.Name, strings.Trim(in.Format+", "+in.Compression, ", "), in.Lines, in.Requests, in.Unreadable, in.Period.From, in.Period.To)
	}
	return t
}

func (r *Report) unreadableTable() *Table {
	t := newTable("unreadable", "Lines that could not be read", "log", "reason", "text")
	for _, e := range r.UnreadableExamples {
		t.add(fmt.Sprintf("%s, line %d", e.Input, e.LineNo), e.Reason, ifKnown(!r.Masked, e.Text))
	}
	for _, c := range r.UnreadableReasons {
		t.note("%s: %s.", words.Plural(c.Requests, "line", "lines"), c.Name)
	}
	return t
}
