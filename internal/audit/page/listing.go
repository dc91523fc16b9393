package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/robots"
)

// listing is the text of a robots.txt with counts for each line.
type listing struct {
	*audit.Source
	From, To  *time.Time
	Notes     []string
	NotesLeft int
	Lines     []lineRow
	Hidden    []lineRow
	Rules     int // number of lines with rules
	Never     int // number of lines with rules that never applied
	Left      int // number of lines that are not shown
	HostsLeft int
	Hosts     []string
}

// lineRow is a line of a listing, or stands for consecutive lines that are left out.
type lineRow struct {
	ID     string
	Number int
	Kind   string // rule, agent, comment, field or blank
	Raw    string
	Policy string // where the line is in the configuration, if the managed policy added it

	Rule   bool
	Bound  int64
	Denied int64
	Bars   []bar
	Agents []audit.LineCrawler
	More   int

	Gap, GapNever int // number of lines left out, and of rules among them that never applied
}

// listings adds the listings of the files and returns the places of their lines.
func (v *view) listings(r *audit.Report) places {
	at := make(places)
	sources, left := cut(r.Sources, maxSources)
	v.Left.Listings = left
	budget := maxLines
	for i := range sources {
		l := newListing(r, i, budget, at)
		for _, row := range l.Lines {
			if row.Gap == 0 {
				budget--
			}
		}
		budget -= len(l.Hidden)
		v.Listings = append(v.Listings, l)
	}
	return at
}

// newListing returns the listing of a file with at most budget lines.
func newListing(r *audit.Report, source, budget int, at places) listing {
	src := &r.Sources[source]
	l := listing{Source: src, From: utc(src.From), To: utc(src.To)}
	l.Notes, l.NotesLeft = cut(src.Notes, maxNotes)
	l.Hosts, l.HostsLeft = cut(src.Hosts, maxTitleHosts)

	var most int64
	byLine := make(map[int][]*audit.Line)
	for i := range r.RobotsLines {
		if rule := &r.RobotsLines[i]; rule.Source == source {
			byLine[rule.TextLine] = append(byLine[rule.TextLine], rule)
			most = max(most, rule.Applied)
		}
	}
	for _, rule := range byLine[0] {
		if len(l.Hidden) < budget {
			row := newLineRow(source, []*audit.Line{rule}, most, at)
			row.Kind, row.Raw, row.Number = "rule", rule.Text, rule.Line
			l.Hidden = append(l.Hidden, row)
		}
	}
	budget -= len(l.Hidden)
	delete(byLine, 0)

	keep := kept(src.Text, byLine, budget)
	var gap lineRow
	for line := range robots.Parse([]byte(src.Text)).Lines() {
		rules := byLine[line.Number]
		never := len(rules) > 0 && !slices.ContainsFunc(rules, func(r *audit.Line) bool { return r.Applied > 0 })
		if len(rules) > 0 {
			l.Rules++
		}
		if never {
			l.Never++
		}
		if !keep(line.Number) {
			l.Left++
			gap.Gap++
			if never {
				gap.GapNever++
			}
			continue
		}
		if gap.Gap > 0 {
			l.Lines, gap = append(l.Lines, gap), lineRow{}
		}
		row := newLineRow(source, rules, most, at)
		row.ID, row.Number, row.Raw, row.Kind = lineID(source, line.Number), line.Number, line.Raw, lineKind(&line, len(rules) > 0)
		if row.Kind == "agent" {
			at[key{source, "site", line.Number}] = row.ID
		}
		l.Lines = append(l.Lines, row)
	}
	if gap.Gap > 0 {
		l.Lines = append(l.Lines, gap)
	}
	return l
}

// kept returns a function that reports whether a line is shown. If the text has more
// than budget lines, these are the lines with the rules that applied most often, and
// then the first lines.
func kept(text string, byLine map[int][]*audit.Line, budget int) func(line int) bool {
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	if lines <= budget {
		return func(int) bool { return true }
	}
	type applied struct {
		line int
		n    int64
	}
	var all []applied
	for line, rules := range byLine {
		if n := total(rules); n > 0 {
			all = append(all, applied{line, n})
		}
	}
	slices.SortFunc(all, func(a, b applied) int {
		if a.n != b.n {
			return int(max(min(b.n-a.n, 1), -1))
		}
		return a.line - b.line
	})
	keep := make(map[int]bool)
	for _, b := range all[:min(len(all), budget)] {
		keep[b.line] = true
	}
	for line := 1; len(keep) < budget && line <= lines; line++ {
		keep[line] = true
	}
	return func(line int) bool { return keep[line] }
}

// total returns the number of requests that the rules of a line applied to.
func total(rules []*audit.Line) (n int64) {
	for _, r := range rules {
		n += r.Applied
	}
	return n
}

// newLineRow returns the row for the rules of a line. most is the largest count of a
// rule; the bars are drawn in proportion to it.
func newLineRow(source int, rules []*audit.Line, most int64, at places) lineRow {
	var row lineRow
	for _, r := range rules {
		row.Rule = true
		row.Bound += r.Applied
		row.Denied += r.Denied
		row.Agents = addAgents(row.Agents, r.Crawlers)
		id := lineID(source, r.TextLine)
		if r.TextLine == 0 {
			id = fmt.Sprintf("s%d-hidden%d", source, r.Line)
			row.ID = id
		} else if r.Layer == "policy" {
			row.Policy = where(r.Layer, r.Line)
		}
		at[key{source, r.Layer, r.Line}] = id
	}
	row.Agents, row.More = cut(row.Agents, maxLineAgents)
	row.Bars = bars(most, part{"deny", row.Denied}, part{"pass", row.Bound - row.Denied})
	return row
}

// addAgents adds the crawlers of another rule of the same line.
func addAgents(list, more []audit.LineCrawler) []audit.LineCrawler {
	if len(list) == 0 {
		return slices.Clone(more)
	}
	for _, c := range more {
		i := slices.IndexFunc(list, func(other audit.LineCrawler) bool { return other.Name == c.Name })
		if i < 0 {
			list = append(list, c)
			continue
		}
		list[i].Applied += c.Applied
		list[i].Denied += c.Denied
	}
	return list
}

// lineID returns the id attribute of a line.
func lineID(source, line int) string { return fmt.Sprintf("s%d-%d", source, line) }

// lineKind returns the CSS class of a line.
func lineKind(l *robots.Line, rule bool) string {
	switch {
	case rule:
		return "rule"
	case l.Directive == robots.DirectiveUserAgent:
		return "agent"
	case l.Directive != robots.DirectiveNone:
		return "field"
	case strings.HasPrefix(strings.TrimSpace(l.Raw), "#"):
		return "comment"
	}
	return "blank"
}

// utc returns t in UTC.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
