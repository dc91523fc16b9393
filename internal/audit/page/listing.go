package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/robots"
)

// listing is the text of a robots.txt with counts for each line.
type listing struct {
	*audit.Source
	Hosts, Notes shown[string]
	Lines        []lineRow
	Hidden       []lineRow
	Rules        int // number of lines with rules
	Never        int // number of lines with rules that never applied
}

// lineRow is a line of a listing, or stands for consecutive lines that are left out.
type lineRow struct {
	ID     string
	Number int
	Kind   string // rule, agent, comment, field or blank
	Raw    string
	Rule   *audit.Line // nil if the line has no rule
	Agents shown[audit.LineCrawler]
	Bars   []bar

	Gap, GapNever int // number of lines left out, and of rules among them that never applied
}

// newListing returns the listing of a source. It records the places of the lines that
// it shows, of which there are at most v.budget.
func (v *view) newListing(source int) listing {
	src := &v.Report.Sources[source]
	l := listing{Source: src, Hosts: cut(src.Hosts, maxTitleHosts), Notes: cut(src.Notes, maxNotes)}
	var most int64
	byLine := make(map[int]*audit.Line)
	var hidden []*audit.Line
	for i := range v.RobotsLines {
		rule := &v.RobotsLines[i]
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
	for _, rule := range cut(hidden, max(v.budget, 0)).Rows {
		row := lineRow{ID: fmt.Sprintf("s%d-hidden%d", source, rule.Line), Number: rule.Line, Raw: rule.Text}
		v.setRule(&row, rule, most)
		l.Hidden = append(l.Hidden, row)
	}
	v.budget -= len(l.Hidden)

	keep := kept(src.Text, byLine, v.budget)
	var gap lineRow
	for line := range robots.Parse([]byte(src.Text)).Lines() {
		rule := byLine[line.Number]
		never := 0
		if rule != nil {
			l.Rules++
			if rule.Applied == 0 {
				never = 1
			}
		}
		l.Never += never
		if !keep(line.Number) {
			gap.Gap++
			gap.GapNever += never
			continue
		}
		if gap.Gap > 0 {
			l.Lines, gap = append(l.Lines, gap), lineRow{}
		}
		row := lineRow{ID: fmt.Sprintf("s%d-%d", source, line.Number), Number: line.Number, Raw: line.Raw, Kind: lineKind(&line)}
		if rule != nil {
			v.setRule(&row, rule, most)
		} else if row.Kind == "agent" {
			v.places[key{source, "file", line.Number}] = row.ID
		}
		l.Lines = append(l.Lines, row)
		v.budget--
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
func (v *view) setRule(row *lineRow, rule *audit.Line, most int64) {
	row.Kind, row.Rule, row.Agents = "rule", rule, cut(rule.Crawlers, maxLineAgents)
	row.Bars = bars(most, part{"deny", rule.Denied}, part{"pass", rule.Applied - rule.Denied})
	v.places[key{rule.Source, rule.Layer, rule.Line}] = row.ID
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

// where returns the number and the file of a line in words.
func where(layer string, line int) string {
	if layer == "policy" || layer == "hidden" {
		return fmt.Sprintf("%s, line %d of the configuration", layer, line)
	}
	return fmt.Sprintf("line %d", line)
}
