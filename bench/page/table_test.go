package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// column returns the values of a column of the table of crawlers.
func column(tab *chromium.Page, n int) []string {
	return chromium.Eval[[]string](tab, fmt.Sprintf(`[...document.querySelector("table.crawlers").tBodies[0].rows].map(row => row.cells[%d].dataset.value)`, n))
}

// sorting returns the column by which the table of crawlers is sorted, and the order.
func sorting(tab *chromium.Page) string {
	return chromium.Eval[string](tab, `[...document.querySelectorAll("table.crawlers [aria-sort]")].map(h => h.textContent + " " + h.getAttribute("aria-sort")).join()`)
}

// A click on a heading sorts the table, and a second click reverses the order. The
// keyboard does the same.
func TestSort(t *testing.T) {
	b := chromium.Open(t)
	url := file(t, sample(t))
	tab := open(t, b, url, 1280)
	if got := sorting(tab); got != "Requests descending" {
		t.Fatalf("sorted by %q at first", got)
	}
	heading := func(n int) string { return fmt.Sprintf("table.crawlers thead th:nth-child(%d) button", n) }

	tab.Run(chromedp.Click(heading(5), chromedp.ByQuery))
	if got := sorting(tab); got != "Denied descending" {
		t.Errorf("the table is sorted by %q", got)
	}
	if got := column(tab, 4)[:3]; !slices.Equal(got, []string{"18169", "6904", "2098"}) {
		t.Errorf("denied %q", got)
	}
	tab.Run(chromedp.Click(heading(5), chromedp.ByQuery))
	if got := column(tab, 4); sorting(tab) != "Denied ascending" || got[0] != "0" || got[len(got)-1] != "18169" {
		t.Errorf("sorted by %q: %q", sorting(tab), got)
	}

	tab.Run(chromedp.Focus(heading(1), chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	names := column(tab, 0)
	if sorting(tab) != "Crawler ascending" || names[0] != "AcmeLinkChecker" || names[len(names)-1] != "YandexBot" {
		t.Errorf("sorted by %q: %q", sorting(tab), names)
	}
	if got := chromium.Eval[string](tab, `document.querySelector("p[role=status]").textContent`); got != "Sorted by Crawler, ascending" {
		t.Errorf("the text for screen readers is %q", got)
	}
	// The tab key goes to the next heading, and its focus is visible.
	tab.Run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "))
	if got := sorting(tab); got != "Purpose ascending" {
		t.Errorf("the table is sorted by %q", got)
	}
	if got := chromium.Eval[string](tab, `getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the outline of the focus is %q", got)
	}
	clean(t, tab, url)
}

// The filter field above a table hides the rows that do not have its text.
func TestFilter(t *testing.T) {
	url := file(t, sample(t))
	tab := open(t, chromium.Open(t), url, 1280)
	tab.Run(chromedp.SendKeys("#crawlers .filter input", "openai", chromedp.ByQuery))
	tab.Eventually("the rows of one operator are left",
		`[...document.querySelector("table.crawlers").tBodies[0].rows].filter(row => row.offsetParent).map(row => row.cells[0].dataset.value).join() === "GPTBot,ChatGPT-User,OAI-SearchBot"`)
	clean(t, tab, url)
}

// Sorting and filtering also work with 10,000 crawlers and 50,000 rules.
func TestLargeReport(t *testing.T) {
	r := sample(t)
	var text strings.Builder
	text.WriteString("User-agent: *\n")
	r.RobotsLines = nil
	for i := range 50_000 {
		line := fmt.Sprintf("Disallow: /%d/", i)
		text.WriteString(line + "\n")
		r.RobotsLines = append(r.RobotsLines, audit.Line{Layer: "file", Line: i + 2, TextLine: i + 2, Text: line, Kind: "disallow", Applied: int64(i % 10)})
	}
	r.Sources[0].Text = text.String()
	model := r.Crawlers[0]
	r.Crawlers = nil
	for i := range 10_000 {
		c := model
		c.Name, c.Denied = fmt.Sprintf("robot-%d", i), int64(i)
		r.Crawlers = append(r.Crawlers, c)
	}
	url := file(t, r)
	tab := open(t, chromium.Open(t), url, 1280)
	tab.Run(chromedp.Click("table.crawlers thead th:nth-child(5) button", chromedp.ByQuery))
	if got := column(tab, 4); got[0] != "999" || got[len(got)-1] != "0" {
		t.Errorf("denied: %s … %s", got[0], got[len(got)-1])
	}
	tab.Run(chromedp.SendKeys("#crawlers .filter input", "robot-77", chromedp.ByQuery))
	tab.Eventually("eleven rows are left", `[...document.querySelector("table.crawlers").tBodies[0].rows].filter(row => row.offsetParent).length === 11`)
	clean(t, tab, url)
}
