package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/robots"
)

// listing is the text of a robots.txt with counts for each line.
type listing struct {
	*audit.Source
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
	l := listing{Source: src}
	l.Notes, l.NotesLeft = cut(src.Notes, maxNotes)
	l.Hosts, l.HostsLeft = cut(src.Hosts, maxTitleHosts)

	var most int64
	byLine := make(map[int]*audit.Line)
	var hidden []*audit.Line
	for i := range r.RobotsLines {
		rule := &r.RobotsLines[i]
		if rule.Source != source {
			continue
		}
		most = max(most, rule.Applied)
		if rule.TextLine == 0 {
			hidden = append(hidden, rule)
		} else {
			byLine[rule.TextLine] = rule
		}
	}
	for _, rule := range hidden[:min(len(hidden), max(budget, 0))] {
		l.Hidden = append(l.Hidden, newHiddenRow(source, rule, most, at))
	}
	budget -= len(l.Hidden)

	keep := kept(src.Text, byLine, budget)
	var gap lineRow
	for line := range robots.Parse([]byte(src.Text)).Lines() {
		rule := byLine[line.Number]
		never := rule != nil && rule.Applied == 0
		if rule != nil {
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
		row := lineRow{ID: fmt.Sprintf("s%d-%d", source, line.Number), Number: line.Number, Raw: line.Raw, Kind: lineKind(&line)}
		if rule != nil {
			row.setRule(source, rule, most, at)
		} else if row.Kind == "agent" {
			at[key{source, "file", line.Number}] = row.ID
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
func kept(text string, byLine map[int]*audit.Line, budget int) func(line int) bool {
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	if lines <= budget {
		return func(int) bool { return true }
	}
	all := slices.SortedFunc(maps.Values(byLine), func(a, b *audit.Line) int {
		return cmp.Or(cmp.Compare(b.Applied, a.Applied), cmp.Compare(a.TextLine, b.TextLine))
	})
	keep := make(map[int]bool)
	for _, rule := range all[:min(len(all), budget)] {
		if rule.Applied > 0 {
			keep[rule.TextLine] = true
		}
	}
	for line := 1; len(keep) < budget && line <= lines; line++ {
		keep[line] = true
	}
	return func(line int) bool { return keep[line] }
}

// setRule adds the rule of a line. most is the largest count of a rule; the bars are
// drawn in proportion to it.
func (row *lineRow) setRule(source int, rule *audit.Line, most int64, at places) {
	row.Kind, row.Rule, row.Bound, row.Denied = "rule", true, rule.Applied, rule.Denied
	row.Agents, row.More = cut(rule.Crawlers, maxLineAgents)
	row.Bars = bars(most, part{"deny", row.Denied}, part{"pass", row.Bound - row.Denied})
	if rule.Layer == "policy" {
		row.Policy = where(rule.Layer, rule.Line)
	}
	at[key{source, rule.Layer, rule.Line}] = row.ID
}

// newHiddenRow returns the row for a hidden rule.
func newHiddenRow(source int, rule *audit.Line, most int64, at places) lineRow {
	row := lineRow{ID: fmt.Sprintf("s%d-hidden%d", source, rule.Line), Number: rule.Line, Raw: rule.Text}
	row.setRule(source, rule, most, at)
	return row
}

// lineKind returns the CSS class of a line without a rule.
func lineKind(l *robots.Line) string {
	switch {
	case l.Directive == robots.DirectiveUserAgent:
		return "agent"
	case l.Directive != robots.DirectiveNone:
		return "field"
	case strings.HasPrefix(strings.TrimSpace(l.Raw), "#"):
		return "comment"
	}
	return "blank"
}

// place is a reference to a line of a robots.txt or of the configuration.
type place struct {
	Text  string // the line
	Where string // for readers: "line 7"
	Href  string // link to the line in a listing; "" if the line is not shown
}

// key identifies a line by the fields of an audit.Verdict.
type key struct {
	source int
	layer  string
	line   int
}

// places are the id attributes of the lines that the listings show.
type places map[key]string

// of returns the place of a line with its text.
func (p places) of(source int, layer string, line int, text string) place {
	at := place{Text: text}
	if line > 0 {
		at.Where = where(layer, line)
	}
	if id := p[key{source, layer, line}]; id != "" {
		at.Href = "#" + id
	}
	return at
}

// ofVerdict returns the place of the line that decided.
func (p places) ofVerdict(v *audit.Verdict) place { return p.of(v.Source, v.Layer, v.Line, v.Text) }

// where returns the number and the file of a line in words.
func where(layer string, line int) string {
	n := strconv.Itoa(line)
	switch layer {
	case "policy":
		return "policy, line " + n + " of the configuration"
	case "hidden":
		return "hidden, line " + n + " of the configuration"
	}
	return "line " + n
}
