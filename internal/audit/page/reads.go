package page

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// readTable is the timeline of the reads of robots.txt.
type readTable struct {
	Ticks  []tick
	Rows   []readRow
	Kinds  []mark // the kinds of marks in the chart, for the legend
	Left   int    // number of crawlers that read the file and have no row
	Never  []neverRead
	NeverN int // number of crawlers that never read it
	More   int // number of crawlers that never read it and are not named
}

// neverRead is a crawler that sent requests and never read robots.txt.
type neverRead struct {
	Name     string
	Requests int64
}

// readRow is the row of a crawler.
type readRow struct {
	Label    string
	Reads    int64
	Requests int64
	Got      string
	Gap      time.Duration // the longest time between two reads; 0 for a single read
	Text     string        // description of the chart
	From     string        // position of its first request
	Wide     string        // width of the period of its requests
	Ticks    []tick
	Marks    []mark
}

// mark is a read, or several consecutive reads with the same answer.
type mark struct {
	Kind, Name string
	X          string
	Width      string // "" for a single time
	Tip        string
}

// answer is a kind of response to a request for robots.txt, by its status.
type answer struct {
	kind, name string
}

// answerKinds are the kinds of answers in the order of the legend.
var answerKinds = []answer{
	{"file", "the file (2xx)"},
	{"unchanged", "unchanged (304)"},
	{"redirect", "a redirect (3xx)"},
	{"none", "no file, so no rules (4xx)"},
	{"error", "a server error (5xx)"},
	{"unknown", "no status in the log"},
}

// answerOf returns the kind of a status.
func answerOf(status int) answer {
	switch {
	case status == http.StatusNotModified:
		return answerKinds[1]
	case status >= 200 && status < 300:
		return answerKinds[0]
	case status >= 300 && status < 400:
		return answerKinds[2]
	case status >= 400 && status < 500:
		return answerKinds[3]
	case status >= 500 && status < 600:
		return answerKinds[4]
	}
	return answerKinds[5]
}

// newReadTable returns nil if the log has no times or no robots.
func newReadTable(r *audit.Report) *readTable {
	if r.Period.From == nil || r.Period.To == nil || len(r.Crawlers) == 0 {
		return nil
	}
	s := span{r.Period.From.UTC(), r.Period.To.UTC()}
	t := &readTable{Ticks: s.ticks()}
	used := make(map[string]bool)
	for i := range r.Crawlers {
		c := &r.Crawlers[i]
		switch {
		case c.RobotsTxtReads == 0 && !c.Rest:
			t.NeverN++
			if len(t.Never) < maxNeverRead {
				t.Never = append(t.Never, neverRead{label(c), c.Requests})
			}
		case len(c.Reads) == 0:
		case len(t.Rows) == maxTimelines:
			t.Left++
		default:
			row := newReadRow(c, s)
			row.Ticks = t.Ticks
			t.Rows = append(t.Rows, row)
			for _, m := range row.Marks {
				used[m.Kind] = true
			}
		}
	}
	t.More = t.NeverN - len(t.Never)
	for _, k := range answerKinds {
		if used[k.kind] {
			t.Kinds = append(t.Kinds, mark{Kind: k.kind, Name: k.name})
		}
	}
	return t
}

// newReadRow returns the row with the reads of a crawler.
func newReadRow(c *audit.Crawler, s span) readRow {
	row := readRow{Label: label(c), Reads: c.RobotsTxtReads, Requests: c.Requests, From: "0%", Wide: "0%"}
	if c.First != nil && c.Last != nil {
		row.From, row.Wide = s.x(*c.First), percent(float64(c.Last.Sub(*c.First)), float64(s.to.Sub(s.from)))
	}
	got := make(map[int]int64)
	for i := range c.Reads {
		read := &c.Reads[i]
		got[read.Status] += read.Count
		if i > 0 {
			row.Gap = max(row.Gap, read.Time.Sub(c.Reads[i-1].Until))
		}
		row.add(read, s)
	}
	row.Got = statuses(got)
	first, last := c.Reads[0].Time.UTC(), c.Reads[len(c.Reads)-1].Until.UTC()
	row.Text = fmt.Sprintf("%s: %s of robots.txt from %s to %s", plain(maxName, row.Label), words.Plural(row.Reads, "read", "reads"), moment(first), moment(last))
	return row
}

// nearby is the part of the chart's width from which on several reads are drawn as a
// bar with a width.
const nearby = 0.004

// add adds the mark for a read.
func (row *readRow) add(read *audit.RobotsTxtRead, s span) {
	kind := answerOf(read.Status)
	x := s.part(read.Time)
	m := mark{Kind: kind.kind, X: s.x(read.Time), Tip: tipOf(read)}
	if s.part(read.Until)-x > nearby {
		m.Width = percent(float64(read.Until.Sub(read.Time)), float64(s.to.Sub(s.from)))
	}
	row.Marks = append(row.Marks, m)
}

// tipOf returns the tooltip for a read.
func tipOf(read *audit.RobotsTxtRead) string {
	text := moment(read.Time.UTC())
	if read.Count > 1 {
		text = words.Plural(read.Count, "read", "reads") + ", " + text
		if until := moment(read.Until.UTC()); until != moment(read.Time.UTC()) {
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

// statuses returns the number of responses with each status, in words.
func statuses(got map[int]int64) string {
	list := slices.SortedFunc(maps.Keys(got), func(a, b int) int {
		return cmp.Or(cmp.Compare(got[b], got[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, status := range list {
		name := strconv.Itoa(status)
		if status == 0 {
			name = "unknown"
		}
		parts = append(parts, name+" × "+words.Count(got[status]))
	}
	return strings.Join(parts, ", ")
}
