package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// sourceName returns the display name of a robots.txt.
func sourceName(s *audit.Source) string {
	name := Visible(s.Name)
	if len(s.Hosts) > 0 {
		name += " for " + Visible(words.List(s.Hosts, 3))
	}
	if s.From != nil {
		name += " from " + moment(s.From)
	}
	if s.To != nil {
		name += " until " + moment(s.To)
	}
	return name
}

func (t *auditText) rules() {
	for i := range t.r.Sources {
		s := &t.r.Sources[i]
		t.title("Rules of %s: %s", sourceName(s), words.Plural(s.Requests, "request", "requests"))
		if s.State != "loaded" {
			t.printf("  %s: no rules\n", s.State)
		}
		var rows, unused [][]string
		shown := make(map[[2]string]bool) // by line and text: a policy can copy a line into several groups
		for j := range t.r.RobotsLines {
			if rule := &t.r.RobotsLines[j]; rule.Source == i && rule.Applied > 0 {
				shown[[2]string{ruleLine(rule), rule.Text}] = true
			}
		}
		for j := range t.r.RobotsLines {
			rule := &t.r.RobotsLines[j]
			switch {
			case rule.Source != i:
			case rule.Applied == 0:
				if line := ruleLine(rule); !shown[[2]string{line, rule.Text}] {
					shown[[2]string{line, rule.Text}] = true
					unused = append(unused, []string{line, ruleText(rule)})
				}
			default:
				rows = append(rows, []string{ruleLine(rule), ruleText(rule), clipped(rule.Group, 24), words.Count(rule.Applied), words.Count(rule.Denied), ruleCrawlers(rule)})
			}
		}
		if len(rows) > 0 {
			t.table([]column{{"line", false}, {"rule", true}, {"group", true}, {"applied", false}, {"denied", false}, {"robots", true}}, rows[:min(len(rows), auditRules)])
			t.more(len(rows) - auditRules)
		}
		if len(unused) > 0 {
			t.table([]column{{"line", false}, {"rule that never applied", true}}, unused[:min(len(unused), auditRules)])
			t.more(len(unused) - auditRules)
		}
		for _, note := range s.Notes {
			t.printf("  %s\n", Visible(note))
		}
	}
}

// ruleLine returns the line of a rule, with the file of the configuration unless it
// is in the site's own file.
func ruleLine(r *audit.Line) string {
	if r.Layer == "file" {
		return strconv.Itoa(r.Line)
	}
	file := Visible(cmp.Or(r.File, "configuration"))
	if r.Line == 0 { // a policy in JSON
		return file
	}
	return file + ":" + strconv.Itoa(r.Line)
}

// ruleText returns a rule as the file writes it. Hidden paths are not shown.
func ruleText(r *audit.Line) string {
	if r.Layer == "hidden" {
		return "(hidden)"
	}
	return clipped(r.Text, 48)
}

// ruleCrawlers returns the crawlers to which a rule applied most often.
func ruleCrawlers(r *audit.Line) string {
	var list []string
	for _, c := range r.Crawlers[:min(len(r.Crawlers), 3)] {
		list = append(list, fmt.Sprintf("%s %s", clipped(cmp.Or(c.Name, "(no User-Agent)"), 24), words.Count(c.Applied)))
	}
	if n := len(r.Crawlers) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}

func (t *auditText) reads() {
	var rows [][]string
	for i := range t.r.Crawlers {
		c := &t.r.Crawlers[i]
		if len(c.Reads) == 0 {
			continue
		}
		statuses := map[int]int64{}
		for _, read := range c.Reads {
			statuses[read.Status] += read.Count
		}
		var list []string
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			list = append(list, fmt.Sprintf("%d: %s", status, words.Count(statuses[status])))
		}
		last := c.Reads[len(c.Reads)-1].Until
		rows = append(rows, []string{crawlerName(c), words.Count(c.RobotsTxtReads), moment(&c.Reads[0].Time), moment(&last), strings.Join(list, ", ")})
	}
	if len(rows) == 0 {
		return
	}
	t.title("Reads of robots.txt")
	t.table([]column{{"name", true}, {"reads", false}, {"first", true}, {"last", true}, {"answers", true}}, rows[:min(len(rows), auditCrawlers)])
	t.more(len(rows) - auditCrawlers)
}
