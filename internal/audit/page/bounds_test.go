package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// vast returns a report that is larger than every report of an audit: it has 10,000
// crawlers with 200 reads each, and a robots.txt with 50,000 rules.
func vast(t testing.TB) *audit.Report {
	r := sample(t)
	start := *r.Period.From
	name := strings.Repeat("long-crawler-name", 8)
	model := r.Crawlers[0]
	model.Reads = nil
	for i := range 200 {
		at := start.Add(time.Duration(i) * 40 * time.Minute)
		model.Reads = append(model.Reads, audit.RobotsTxtRead{Time: at, Until: at.Add(30 * time.Minute), Host: name, Status: 200 + i%4*101, Count: 3})
	}
	model.Pace = &audit.Pace{Line: 3, Layer: "file", Text: name, Interval: 10, Requests: 10, Judged: true, Factor: 3, Peak: 10, PeakWindow: 60}
	for range 5 {
		model.Refused = append(model.Refused, audit.Example{Agent: strings.Repeat("a", 2000), Target: strings.Repeat("/b", 2000), Verdict: audit.Verdict{Verdict: verdict.Verdict{Line: 3, Layer: "file"}}})
	}
	r.Crawlers = nil
	for i := range 10_000 {
		c := model
		c.Name, c.Requests = fmt.Sprintf("%s-%d", name, i), int64(20_000-i)
		r.Crawlers = append(r.Crawlers, c)
	}
	var text strings.Builder
	text.WriteString("User-agent: *\n")
	r.RobotsLines = nil
	for i := range 50_000 {
		line := fmt.Sprintf("Disallow: /%d/", i)
		text.WriteString(line + "\n")
		rule := audit.Line{Layer: "file", Line: i + 2, TextLine: i + 2, Text: line, Kind: "disallow"}
		if i%10 == 9 {
			rule.Applied, rule.Denied = int64(i), int64(i)
			for j := range 50 {
				rule.Crawlers = append(rule.Crawlers, audit.LineCrawler{Name: fmt.Sprintf("%s-%d", name, j), Applied: 1})
			}
		}
		r.RobotsLines = append(r.RobotsLines, rule)
	}
	r.Sources[0].Text = text.String()[:min(text.Len(), 500<<10)]
	for i := range 5000 {
		r.Hosts = append(r.Hosts, audit.Host{Name: fmt.Sprintf("%d.example", i)})
		r.Inputs = append(r.Inputs, audit.Input{Name: fmt.Sprintf("log.%d", i)})
		r.Browsers = append(r.Browsers, audit.Count{Name: fmt.Sprint(i), Requests: 1})
		r.Warnings = append(r.Warnings, audit.Warning{Text: name})
		r.Against.Differences = append(r.Against.Differences, audit.Difference{Crawler: name, Examples: model.Refused[:3]})
	}
	return r
}

// The page of a very large report has a size that a phone can show, and says what it
// leaves out.
func TestBounds(t *testing.T) {
	r := vast(t)
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	const most = 6 << 20
	if b.Len() > most {
		t.Errorf("the page has %d octets, more than %d", b.Len(), most)
	}
	doc, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(all(all(byID(t, doc, "crawlers"), "tbody")[0], "tr")); got != maxCrawlers {
		t.Errorf("%d rows of crawlers, want %d", got, maxCrawlers)
	}
	for id, want := range map[string]string{
		"crawlers": "9,000 crawlers with 130,504,500 requests are left out here",
		"reads":    "9,940 more are in the JSON report",
		"pace":     "9,800 more are in the JSON report",
		"examples": "9,960 more are in the JSON report",
		"hosts":    "4,803 more are in the JSON report",
		"log":      "4,807 more are in the JSON report",
		"warnings": "4,952 more are in the JSON report",
		"people":   "4,995 others",
	} {
		if got := wordsOf(byID(t, doc, id)); !strings.Contains(got, want) {
			t.Errorf("#%s does not say %q: %.200s", id, want, got)
		}
	}
	// The lines with the rules that applied most often are shown, and the others are
	// counted.
	rows := cells(all(byID(t, doc, "rules"), "table")[0])
	shown, left := 0, 0
	for _, row := range rows {
		if len(row) == 6 {
			shown++
			continue
		}
		var n int
		if _, err := fmt.Sscanf(strings.ReplaceAll(row[0], ",", ""), "%d", &n); err != nil {
			t.Errorf("%q: %v", row[0], err)
		}
		left += n
	}
	lines := strings.Count(r.Sources[0].Text, "\n")
	if !strings.HasSuffix(r.Sources[0].Text, "\n") {
		lines++
	}
	if shown > maxLines || shown+left != lines {
		t.Errorf("%d lines are shown and %d left out, of %d", shown, left, lines)
	}
	if got := rows[len(rows)-1]; len(got) == 6 && !strings.HasPrefix(got[5], "long-crawler-name") {
		t.Errorf("the last line is %q", got)
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, r := range map[string]*audit.Report{"usual": sample(b), "vast": vast(b)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var buf bytes.Buffer
				if err := Write(&buf, r); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(buf.Len()), "octets")
			}
		})
	}
}
