package page

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// sample returns a report with content for each section of the page.
func sample(t testing.TB) *audit.Report {
	t.Helper()
	text, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	r := new(audit.Report)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// written returns the page of a report, parsed as browsers parse it.
func written(t testing.TB, r *audit.Report) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// all returns the elements of a name below n.
func all(n *html.Node, name string) []*html.Node {
	var list []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			list = append(list, d)
		}
	}
	return list
}

// byID returns the element with an identifier.
func byID(t testing.TB, n *html.Node, id string) *html.Node {
	t.Helper()
	for d := range n.Descendants() {
		if attr(d, "id") == id {
			return d
		}
	}
	t.Fatalf("there is no #%s", id)
	return nil
}

// attr returns the value of an attribute; "" if there is none.
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// has reports whether an element has a class.
func has(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), class)
}

// wordsOf returns the text of an element, with single blanks between words.
func wordsOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// cells returns the text of each cell of each row of a table's body.
func cells(table *html.Node) [][]string {
	var rows [][]string
	for _, row := range all(all(table, "tbody")[0], "tr") {
		var list []string
		for c := range row.ChildNodes() {
			if c.Type == html.ElementNode {
				list = append(list, wordsOf(c))
			}
		}
		rows = append(rows, list)
	}
	return rows
}

// Each section of the page shows the figures of its part of the report.
func TestWrite(t *testing.T) {
	r := sample(t)
	doc := written(t, r)
	for _, test := range []struct {
		id   string
		want []string
	}{
		{"summary", append(slices.Clone(r.Summary), "138,422", "48,595", "≈ 48,211", "robots, allowed 51,335 37 %", "denied 29,447", "throttled 9,045",
			"People at most 532 in 60 min", "crawl_delay 8,142", "ai-training 25,989", "not known 436")},
		{"warnings", []string{r.Warnings[0].Text, r.Warnings[1].Text}},
		{"comparison", []string{"3,712 requests get another verdict", "3,700 were allowed and are refused now", "12 were refused and are allowed now", "3 were refused before and 8 are refused now",
			"Check this before you publish the new file", "denied Disallow: /old/ line 4allowed", "allowed denied Disallow: /*?sort= line 22"}},
		{"rules", []string{"https://shop.example/robots.txt", "for shop.example, www.shop.example", "3 rules of 17 never applied", r.Sources[0].Notes[0], "hidden /backup/*"}},
		{"examples", []string{"GPTBot 18,169 requests", "/reviews/running-shoes-2026", "Disallow: / line 14"}},
		{"reads", []string{"7 crawlers never read it: Bytespider (6,904)", "a server error (5xx)", "unchanged (304)"}},
		{"hosts", []string{"www.shop.example8,200", "others800"}},
		{"log", []string{"41 that could not be read", "the line ends inside a string 40", "access.log.3, line 88,412", "caddy-json, gzip",
			"These figures are estimates, because exact numbers would need unlimited memory: the number of client addresses, each crawler’s number of client addresses, the median time between requests"}},
	} {
		section := wordsOf(byID(t, doc, test.id))
		for _, want := range test.want {
			if !strings.Contains(section, want) {
				t.Errorf("#%s has no %q:\n%s", test.id, want, section)
			}
		}
	}
}

// The table of crawlers has a row for each crawler, in the order of the report.
func TestCrawlers(t *testing.T) {
	r := sample(t)
	table := all(byID(t, written(t, r), "crawlers"), "table")[0]
	rows := cells(table)
	if len(rows) != len(r.Crawlers) {
		t.Fatalf("%d rows for %d crawlers", len(rows), len(r.Crawlers))
	}
	for _, want := range [][]string{
		{"GooglebotGoogle", "search", "21,804", "", "118", "0", "21,490118 refused", "214", "Googlebot", "64", "873", "854 MB", "≈ 61"},
		{"no User-Agent", "HTTP library", "644", "", "0", "0", "0", "0", "", "2", "27", "12 MB", "≈ 97"},
		{"others: self-declared robot", "self-declared robot", "218", "", "12", "3", "0", "0", "*", "5", "0", "1.8 MB", "≈ 64"},
	} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("no row %q in\n%q", want, rows)
		}
	}
	// The bar of GPTBot: 64 of 18,233 requests pass, and the others are denied. The part
	// that passes is drawn wider than it is, so that it is visible.
	var parts []string
	for _, part := range all(all(all(table, "tbody")[0], "tr")[1], "rect") {
		parts = append(parts, attr(part, "class")+" "+attr(part, "x")+" "+attr(part, "width"))
	}
	if want := []string{"pass 0% 1%", "deny 1% 99.65%"}; !slices.Equal(parts, want) {
		t.Errorf("bar %q, want %q", parts, want)
	}
}

// The page begins with the three findings, each with the text to paste.
func TestFindings(t *testing.T) {
	r := sample(t)
	doc := written(t, r)
	main := byID(t, doc, "content")
	if first := all(main, "section")[0]; attr(first, "id") != "findings" {
		t.Fatalf("the page begins with %q", attr(first, "id"))
	}
	items := all(byID(t, doc, "findings"), "li")
	for i, f := range r.Findings {
		if got, want := wordsOf(items[i]), strings.Join(strings.Fields(f.Text+f.Change+f.Paste), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r.Findings = nil
	for d := range written(t, r).Descendants() {
		if attr(d, "id") == "findings" {
			t.Error("a page without findings has their section")
		}
	}
}

// Without verification and verdicts, the page has no columns for them.
func TestWithoutVerdicts(t *testing.T) {
	r := sample(t)
	r.Verified, r.WouldHave = false, audit.WouldHave{}
	r.Sources, r.RobotsLines = []audit.Source{}, []audit.Line{}
	doc := written(t, r)
	if got := wordsOf(all(all(byID(t, doc, "crawlers"), "table")[0], "thead")[0]); got != "CrawlerPurposeRequestsGroupReads of robots.txtErrorsSentAddresses" {
		t.Errorf("headings %q", got)
	}
	if got := wordsOf(byID(t, doc, "rules")); !strings.Contains(got, "No robots.txt is known for this log") {
		t.Errorf("rules: %s", got)
	}
	if got := wordsOf(byID(t, doc, "summary")); strings.Contains(got, "would be refused 0") {
		t.Errorf("summary: %s", got)
	}
}

// The page shows robots.txt line by line, with counts for each rule.
func TestListing(t *testing.T) {
	r := sample(t)
	doc := written(t, r)
	table := all(byID(t, doc, "rules"), "table")[0]
	rows := cells(table)
	lines := strings.Split(strings.TrimSuffix(r.Sources[0].Text, "\n"), "\n")
	if len(rows) != len(lines) {
		t.Fatalf("%d rows for %d lines", len(rows), len(lines))
	}
	for i, line := range lines {
		if rows[i][0] != strconv.Itoa(i+1) || rows[i][4] != strings.Join(strings.Fields(line), " ") {
			t.Errorf("row %d: %q, want %q", i+1, rows[i], line)
		}
	}
	for line, want := range map[int][]string{
		2:  {"2", "", "", "", "User-agent: *", ""},
		3:  {"3", "640", "640", "", "Disallow: /cart/", "bingbot 210, PriceSpider 201, ClaudeBot 96, PetalBot 88, 2 others"},
		8:  {"8", "0", "0", "", "Disallow: /old-shop/", "never applied: no robot requested such a path"},
		14: {"14", "27,171", "27,171", "", "Disallow: /", "GPTBot 18,169, Bytespider 6,904, CCBot 2,098"},
	} {
		if !slices.Equal(rows[line-1], want) {
			t.Errorf("line %d: %q, want %q", line, rows[line-1], want)
		}
	}
	if row := byID(t, doc, "s0-8"); !has(row, "never") || !has(row, "rule") {
		t.Errorf("line 8 is of class %q", attr(row, "class"))
	}
	if row := byID(t, doc, "s0-2"); !has(row, "agent") {
		t.Errorf("line 2 is of class %q", attr(row, "class"))
	}
	if got := cells(all(byID(t, doc, "rules"), "table")[1]); !slices.Equal(got[0], []string{"14", "3", "3", "", "hidden /backup/*", "SiteSweeper 3"}) {
		t.Errorf("hidden rules %q", got)
	}
}

// Every link leads to an element of the page.
func TestLinks(t *testing.T) {
	doc := written(t, sample(t))
	ids := make(map[string]int)
	for d := range doc.Descendants() {
		if id := attr(d, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements are #%s", n, id)
		}
	}
	links := 0
	for _, name := range []string{"a", "use"} {
		for _, a := range all(doc, name) {
			target, found := strings.CutPrefix(attr(a, "href"), "#")
			if !found || ids[target] == 0 {
				t.Errorf("<%s href=%q> leads nowhere", name, attr(a, "href"))
			}
			links++
		}
	}
	if links < 100 {
		t.Errorf("only %d links", links)
	}
}

// The timeline has a mark for each read, at the position of its time.
func TestReads(t *testing.T) {
	r := sample(t)
	section := byID(t, written(t, r), "reads")
	rows := all(all(section, "tbody")[0], "tr")
	first := rows[0]
	if got := len(all(first, "use")); got != 64 {
		t.Errorf("%d marks for 64 reads", got)
	}
	mark := all(first, "use")[0]
	if attr(mark, "href") != "#mark-file" || !strings.HasSuffix(attr(mark, "data-tip"), "status 200, host shop.example") {
		t.Errorf("first mark %v", mark.Attr)
	}
	last := 0.0
	for _, m := range all(first, "use") {
		x, err := strconv.ParseFloat(strings.TrimSuffix(attr(m, "x"), "%"), 64)
		if err != nil || x < last || x > 100 {
			t.Fatalf("mark at %s after %v", attr(m, "x"), last)
		}
		last = x
	}
	if got := attr(all(first, "svg")[0], "aria-label"); !strings.HasPrefix(got, "Googlebot: 64 reads of robots.txt from 1 Nov 2026") {
		t.Errorf("the chart is described as %q", got)
	}
	if got := wordsOf(rows[10]); !strings.Contains(got, "MJ12bot") || !strings.Contains(got, "200 × 23, 404 × 5, 503 × 2") {
		t.Errorf("row %q", got)
	}
}

// Crawlers with a limited pace are ordered by their factor, the largest first.
func TestPaces(t *testing.T) {
	table := all(byID(t, written(t, sample(t)), "pace"), "table")[0]
	rows := cells(table)
	for i, want := range map[int][]string{
		0:  {"PriceSpider", "Crawl-delay: 10 line 9", "18", "", "388", "140", "10 s", "≈ 400 ms", "110 in 60 s"},
		9:  {"YandexBot", "Crawl-delay: 10 line 9", "–", "", "1,330", "no verdict", "10 s", "≈ 0 s", "–"},
		10: {"MJ12bot", "Visit-time: 0200-0500 line 31", "–", "", "1,210", "903", "–", "≈ 2.3 min", "–"},
	} {
		if !slices.Equal(rows[i], want) {
			t.Errorf("row %d: %q, want %q", i, rows[i], want)
		}
	}
}

// An empty report and a report without times also give a page.
func TestEmptyReport(t *testing.T) {
	for name, r := range map[string]*audit.Report{
		"zero": {},
		"no times": func() *audit.Report {
			r := sample(t)
			r.Period, r.Activity.Start = audit.Period{}, nil
			return r
		}(),
	} {
		doc := written(t, r)
		if got := wordsOf(all(doc, "header")[0]); !strings.Contains(got, "The log has no times") {
			t.Errorf("%s: %s", name, got)
		}
		if got := len(all(doc, "figure")); name == "zero" && got != 0 {
			t.Errorf("%s: %d figures", name, got)
		}
	}
}

// Every table has a caption, every column a heading, and every chart a text. Numbers in
// sortable columns have a data-value.
func TestAccessibility(t *testing.T) {
	doc := written(t, sample(t))
	for _, table := range all(doc, "table") {
		if len(all(table, "caption")) == 0 && !strings.Contains(wordsOf(table), "User-Agent") {
			t.Errorf("a table has no caption: %.80s", wordsOf(table))
		}
		for _, h := range all(all(table, "thead")[0], "th") {
			if attr(h, "scope") != "col" || wordsOf(h) == "" {
				t.Errorf("heading %q of scope %q", wordsOf(h), attr(h, "scope"))
			}
		}
		if !has(table, "sortable") {
			continue
		}
		headings := all(all(table, "thead")[0], "th")
		for _, row := range all(all(table, "tbody")[0], "tr") {
			i := 0
			for c := range row.ChildNodes() {
				if c.Type != html.ElementNode {
					continue
				}
				if has(headings[i], "number") {
					if _, err := strconv.ParseFloat(attr(c, "data-value"), 64); err != nil {
						t.Errorf("column %s: %q is not a number", wordsOf(headings[i]), attr(c, "data-value"))
					}
				}
				i++
			}
			if i != len(headings) {
				t.Errorf("%d cells below %d headings", i, len(headings))
			}
		}
	}
	for _, svg := range all(doc, "svg") {
		if attr(svg, "aria-hidden") != "true" && (attr(svg, "role") != "img" || attr(svg, "aria-label") == "") {
			t.Errorf("a chart has no text: %v", svg.Attr)
		}
	}
	level := 1
	for d := range doc.Descendants() {
		if d.Type == html.ElementNode && len(d.Data) == 2 && d.Data[0] == 'h' && d.Data[1] >= '1' && d.Data[1] <= '6' {
			if now := int(d.Data[1] - '0'); now > level+1 {
				t.Errorf("%s %q after a heading of level %d", d.Data, wordsOf(d), level)
			} else {
				level = now
			}
		}
	}
}

// The table of costs has a column for the time only if the log has durations.
func TestCosts(t *testing.T) {
	r := sample(t)
	r.Costs = audit.Costs{All: cost.Sum{Requests: 4, Octets: 4000, Seconds: 4}, Robots: cost.Sum{Requests: 3, Octets: 2000, Seconds: 1}, Patterns: []cost.Row{
		{Pattern: "/*/blame/*", Sum: cost.Sum{Requests: 3, Octets: 2000, Seconds: 1}, Clients: []cost.Client{{Name: "<b>Bot", Sum: cost.Sum{Requests: 2}}, {Sum: cost.Sum{Requests: 1}}}},
	}}
	for timed, want := range map[int64][]string{
		0: {"/*/blame/*", "3", "2.0 kB", "<b>Bot 2, no User-Agent 1"},
		4: {"/*/blame/*", "3", "2.0 kB", "1 s", "<b>Bot 2, no User-Agent 1"},
	} {
		r.Costs.Timed = timed
		if got := cells(byID(t, written(t, r), "costs")); !slices.Equal(got[0], want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
