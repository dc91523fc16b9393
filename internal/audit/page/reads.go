package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// readTable is the timeline of the reads of robots.txt.
type readTable struct {
	Ticks   []tick
	Rows    []readRow
	Answers []answer // the kinds of marks in the chart, for the legend
	Left    int      // number of crawlers that read the file and have no row
	Never   shown[*audit.Crawler]
}

// readRow is the row of a crawler.
type readRow struct {
	*audit.Crawler
	Got   string
	Gap   time.Duration // the longest time between two reads; 0 for a single read
	Text  string        // description of the chart
	From  string        // position of its first request
	Wide  string        // width of the period of its requests
	Marks []mark
}

// mark is a read, or several consecutive reads with the same answer.
type mark struct {
	Kind  string
	X     string
	Width string // "" for a single time
	Tip   string
}

// answer is a kind of response to a request for robots.txt, by its status.
type answer struct {
	from, to   int
	Kind, Name string
}

// answers are the kinds of answers in the order of the legend. The first one that has a
// status counts.
var answers = []answer{
	{200, 299, "file", "the file (2xx)"},
	{304, 304, "unchanged", "unchanged (304)"},
	{300, 399, "redirect", "a redirect (3xx)"},
	{400, 499, "none", "no file, so no rules (4xx)"},
	{500, 599, "error", "a server error (5xx)"},
	{math.MinInt, math.MaxInt, "unknown", "no status in the log"},
}

// answerOf returns the kind of a status.
func answerOf(status int) string {
	return answers[slices.IndexFunc(answers, func(a answer) bool { return a.from <= status && status <= a.to })].Kind
}

// newReadTable returns nil if the log has no times or no robots.
func newReadTable(r *audit.Report) *readTable {
	if r.Period.From == nil || r.Period.To == nil || len(r.Crawlers) == 0 {
		return nil
	}
	s := span{r.Period.From.UTC(), r.Period.To.UTC()}
	never := func(c *audit.Crawler) bool { return c.RobotsTxtReads == 0 && !c.Rest }
	readers := cut(r.CrawlersWith(func(c *audit.Crawler) bool { return len(c.Reads) > 0 && !never(c) }), maxTimelines)
	t := &readTable{Ticks: s.ticks(), Left: readers.Left(), Never: cut(r.CrawlersWith(never), maxNeverRead)}
	used := make(map[string]bool)
	for _, c := range readers.Rows {
		row := newReadRow(c, s)
		t.Rows = append(t.Rows, row)
		for _, m := range row.Marks {
			used[m.Kind] = true
		}
	}
	t.Answers = slices.DeleteFunc(slices.Clone(answers), func(a answer) bool { return !used[a.Kind] })
	return t
}

// nearby is the part of the chart's width from which on several reads are drawn as a
// bar with a width.
const nearby = 0.004

// newReadRow returns the row with the reads of a crawler.
func newReadRow(c *audit.Crawler, s span) readRow {
	row := readRow{Crawler: c, Got: Answers(c), From: "0%", Wide: "0%"}
	if c.First != nil && c.Last != nil {
		row.From, row.Wide = s.x(*c.First), s.width(*c.First, *c.Last)
	}
	for i := range c.Reads {
		read := &c.Reads[i]
		if i > 0 {
			row.Gap = max(row.Gap, read.Time.Sub(c.Reads[i-1].Until))
		}
		m := mark{Kind: answerOf(read.Status), X: s.x(read.Time), Tip: tipOf(read)}
		if s.part(read.Until)-s.part(read.Time) > nearby {
			m.Width = s.width(read.Time, read.Until)
		}
		row.Marks = append(row.Marks, m)
	}
	row.Text = fmt.Sprintf("%s: %s of robots.txt from %s to %s", plain(maxName, label(c)), words.Plural(c.RobotsTxtReads, "read", "reads"),
		moment(c.Reads[0].Time), moment(c.Reads[len(c.Reads)-1].Until))
	return row
}

// tipOf returns the tooltip for a read.
func tipOf(read *audit.RobotsTxtRead) string {
	text := moment(read.Time)
	if read.Count > 1 {
		text = words.Plural(read.Count, "read", "reads") + ", " + text
		if until := moment(read.Until); until != moment(read.Time) {
			text += " to " + until
		}
	}
	if read.Status > 0 {
		text += ": status " + strconv.Itoa(read.Status)
	} else {
		text += ": no status in the log"
	}
	if read.Host != "" {
		text += ", host " + plain(maxName, read.Host)
	}
	return text
}

// Answers returns the number of responses with each status that a crawler got for
// robots.txt, in words.
func Answers(c *audit.Crawler) string {
	got := make(map[int]int64)
	for _, read := range c.Reads {
		got[read.Status] += read.Count
	}
	var parts []string
	for _, status := range slices.SortedFunc(maps.Keys(got), func(a, b int) int {
		return cmp.Or(cmp.Compare(got[b], got[a]), cmp.Compare(a, b))
	}) {
		name := strconv.Itoa(status)
		if status == 0 {
			name = "unknown"
		}
		parts = append(parts, name+" × "+words.Count(got[status]))
	}
	return strings.Join(parts, ", ")
}
