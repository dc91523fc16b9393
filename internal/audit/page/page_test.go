package page

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
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

// The page has the findings, the summary, the warnings and all sections of the report.
func TestWrite(t *testing.T) {
	r := sample(t)
	r.Suggested = &audit.Suggested{Notes: []string{"Too few to tell."}}
	r.Suggestions = []audit.Suggestion{{Text: "policy {\n\tdeny seo\n}", Why: "denies <b>", Saved: audit.Saved{Sum: cost.Sum{Requests: 1}, Share: 0.3}}}
	text := wordsOf(written(t, r))
	want := append([]string{"Suggestions Too few to tell. Saves 1 request, 0 B (30 %). It denies <b>.policy { deny seo }", "shop.example", "GPTBot", "Disallow: /*?sort=", "3,700 more are refused", "Check this before you publish the file"}, r.Summary...)
	for _, f := range r.Findings {
		want = append(want, strings.Join(strings.Fields(f.Text), " "))
	}
	for _, w := range r.Warnings {
		want = append(want, w.Text)
	}
	for _, s := range r.Sections(maxRows) {
		want = append(want, s.Title, s.Note)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the page has no %q:\n%s", w, text)
		}
	}
}

// An empty report gives a page, and each table has a name, headings and as many cells.
func TestTables(t *testing.T) {
	if got := len(all(written(t, &audit.Report{}), "table")); got != 0 {
		t.Errorf("an empty report has %d tables", got)
	}
	tables := all(written(t, sample(t)), "table")
	if len(tables) < 8 {
		t.Errorf("%d tables", len(tables))
	}
	for _, table := range tables {
		heads := all(table, "th")
		for _, h := range heads {
			if attr(h, "scope") != "col" || wordsOf(h) == "" {
				t.Errorf("heading %q of scope %q", wordsOf(h), attr(h, "scope"))
			}
		}
		if cells, rows := len(all(table, "td")), len(all(table, "tr"))-1; attr(table, "aria-labelledby") == "" || cells != rows*len(heads) {
			t.Errorf("%d cells in %d rows of %d", cells, rows, len(heads))
		}
	}
}
