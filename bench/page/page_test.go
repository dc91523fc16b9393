package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/audit"
	"github.com/caddy-robots/caddy-robots/enforce/audit/page"
)

// sample returns a report that has something in each section.
func sample(t testing.TB) *audit.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../enforce/audit/page/testdata/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, text)
}

func decoded(t testing.TB, text []byte) *audit.Report {
	t.Helper()
	r := new(audit.Report)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// file writes the page of a report to a file and returns its URL.
func file(t testing.TB, r *audit.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(f, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// open opens the page of a report in a window of a width.
func open(t testing.TB, b *chromium.Browser, url string, width int64, actions ...chromedp.Action) *chromium.Page {
	t.Helper()
	tab := b.NewPage()
	tab.Run(append(actions, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 600), chromedp.Navigate(url))...)
	tab.Eventually("the page was loaded", `document.readyState === "complete"`)
	return tab
}

// clean checks that the page asked for nothing but itself, and that nothing
// went wrong on it.
func clean(t testing.TB, tab *chromium.Page, url string) {
	t.Helper()
	if got := tab.Requests(); !slices.Equal(got, []string{url}) {
		t.Errorf("requests %q", got)
	}
	if got := tab.Errors(); len(got) > 0 {
		t.Errorf("errors:\n%s", strings.Join(got, "\n"))
	}
}

// column returns a column of the table of crawlers.
func column(tab *chromium.Page, n int) []string {
	return chromium.Eval[[]string](tab, fmt.Sprintf(`[...document.querySelector("table.crawlers").tBodies[0].rows].map(row => row.cells[%d].dataset.value)`, n))
}

// sorting returns which column of the table of crawlers is sorted, and how.
func sorting(tab *chromium.Page) string {
	return chromium.Eval[string](tab, `[...document.querySelectorAll("table.crawlers [aria-sort]")].map(h => h.textContent + " " + h.getAttribute("aria-sort")).join()`)
}

// From a file and from a server, the page loads nothing and has no error.
func TestNoRequests(t *testing.T) {
	b := chromium.Open(t)
	var text bytes.Buffer
	if err := page.Write(&text, sample(t)); err != nil {
		t.Fatal(err)
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text.Bytes())
	}))
	t.Cleanup(server.Close)
	for _, url := range []string{file(t, sample(t)), server.URL + "/report.html"} {
		tab := open(t, b, url, 1280)
		clean(t, tab, url)
		if got := chromium.Eval[string](tab, `getComputedStyle(document.querySelector("table")).borderCollapse`); got != "separate" {
			t.Errorf("%s: the style does not apply", url)
		}
	}
	if !slices.Equal(asked, []string{"/report.html"}) {
		t.Errorf("the server was asked for %q", asked)
	}
}

// A log that was really audited gives such a page.
func TestAudit(t *testing.T) {
	var log strings.Builder
	for i := range 600 {
		agent, path := "GPTBot/1.2", "/private/x"
		switch i % 3 {
		case 1:
			agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
		case 2:
			agent, path = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/robots.txt"
		}
		fmt.Fprintf(&log, "192.0.2.%d - - [%02d/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" 200 12 \"-\" \"%s\"\n", i%250, 1+i/30, path, agent)
	}
	r, err := audit.Run(t.Context(), audit.Options{
		Files: []audit.File{{Name: "access.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log.String())), nil }}},
		Sites: []audit.Site{{Robots: []audit.Version{{Name: "robots.txt", Response: enforce.Response{Status: 200, Body: []byte("User-agent: GPTBot\nDisallow: /private/\nDisallow: /never/\n")}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	url := file(t, r)
	tab := open(t, chromium.Open(t), url, 1280)
	text := chromium.Eval[string](tab, `document.body.innerText`)
	for _, want := range []string{"200 of 400 requests from self-declared robots would have been refused", "GPTBot 200", "never bound anyone", "200 × 200", "Firefox"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	clean(t, tab, url)
}

// A click on a heading sorts, the next one reverses the order, and the
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
		t.Errorf("sorted by %q", got)
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
		t.Errorf("a screen reader hears %q", got)
	}
	// The tab key goes to the next heading, whose focus can be seen.
	tab.Run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "))
	if got := sorting(tab); got != "Purpose ascending" {
		t.Errorf("sorted by %q", got)
	}
	if got := chromium.Eval[string](tab, `getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the outline of the focus is %q", got)
	}
	clean(t, tab, url)
}

// The field above a long table shows the rows that have its text.
func TestFilter(t *testing.T) {
	url := file(t, sample(t))
	tab := open(t, chromium.Open(t), url, 1280)
	tab.Run(chromedp.SendKeys("#crawlers .filter input", "openai", chromedp.ByQuery))
	tab.Eventually("the rows of one operator are left",
		`[...document.querySelector("table.crawlers").tBodies[0].rows].filter(row => row.offsetParent).map(row => row.cells[0].dataset.value).join() === "GPTBot,ChatGPT-User,OAI-SearchBot"`)
	clean(t, tab, url)
}

// Tooltips follow the pointer and, in a timeline, the arrow keys.
func TestTooltips(t *testing.T) {
	url := file(t, sample(t))
	tab := open(t, chromium.Open(t), url, 1280)
	const tip = `document.querySelector(".tip:not([hidden])")?.textContent ?? ""`
	tab.Run(
		chromedp.ScrollIntoView("#reads svg.strip", chromedp.ByQuery),
		chromedp.Focus("#reads svg.strip", chromedp.ByQuery),
		chromedp.KeyEvent(kb.ArrowRight),
	)
	tab.Eventually("the first read is described", tip+`.endsWith("status 200, host shop.example")`)
	first := chromium.Eval[string](tab, tip)
	tab.Run(chromedp.KeyEvent(kb.ArrowRight))
	if got := chromium.Eval[string](tab, tip); got == first || got == "" {
		t.Errorf("after the arrow key: %q, before: %q", got, first)
	}
	tab.Run(chromedp.KeyEvent(kb.Escape))
	if got := chromium.Eval[string](tab, tip); got != "" {
		t.Errorf("after Escape: %q", got)
	}
	tab.Run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft))
	if got := chromium.Eval[string](tab, `document.activeElement.getAttribute("aria-label")`); !strings.HasPrefix(got, "GPTBot: 14 reads") {
		t.Errorf("one row below is %q", got)
	}
	// In the tab order is one chart.
	if got := chromium.Eval[int](tab, `document.querySelectorAll("#reads svg.strip[tabindex='0']").length`); got != 1 {
		t.Errorf("%d charts are in the tab order", got)
	}
	tab.Run(chromedp.Focus("svg.panel", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	if got := chromium.Eval[string](tab, tip); !strings.HasPrefix(got, "1 Nov 2026, 00:00: ") {
		t.Errorf("the first hour is described as %q", got)
	}
	var box []float64
	tab.Run(
		chromedp.ScrollIntoView("svg.panel .hit:nth-of-type(60)", chromedp.ByQuery),
		chromedp.Evaluate(`(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector("svg.panel .hit:nth-of-type(60)").getBoundingClientRect())`, &box),
	)
	tab.Run(chromedp.MouseEvent("mouseMoved", box[0], box[1]))
	tab.Eventually("the hour is described", tip+`.includes(" of people, ")`)
	clean(t, tab, url)
}

// The page follows the reader's choice of light and dark, and all text can be
// read in both.
func TestColours(t *testing.T) {
	b := chromium.Open(t)
	url := file(t, sample(t))
	for _, scheme := range []string{"light", "dark"} {
		tab := open(t, b, url, 1280, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		ground := chromium.Eval[string](tab, `getComputedStyle(document.body).backgroundColor`)
		if want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]; ground != want {
			t.Errorf("%s: the ground is %s", scheme, ground)
		}
		if got := chromium.Eval[[]string](tab, unreadable); len(got) > 0 {
			t.Errorf("%s: contrast below 4.5: %q", scheme, got)
		}
		tab.Screenshot(filepath.Join(t.ArtifactDir(), scheme+".png"))
		clean(t, tab, url)
	}
}

// unreadable gives the texts whose contrast with what is behind them is below
// 4.5 to 1 (WCAG 2.2, success criterion 1.4.3).
const unreadable = `(() => {
	const parse = text => text.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
	const behind = element => {
		for (; element; element = element.parentElement) {
			const colour = parse(getComputedStyle(element).backgroundColor);
			if (colour.length < 4 || colour[3] > 0) return colour;
		}
	};
	const found = new Set();
	for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode();) {
		const element = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, style")) continue;
		const style = getComputedStyle(element);
		const [a, b] = [light(parse(element.closest("svg") ? style.fill : style.color)), light(behind(element))];
		if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) found.add(element.className + ": " + walker.currentNode.data.slice(0, 40));
	}
	return [...found];
})()`

// On the narrowest phone nothing but tables scrolls sideways, and no text is
// out of reach.
func TestPhone(t *testing.T) {
	b := chromium.Open(t)
	for name, r := range map[string]*audit.Report{"sample": sample(t), "hostile": hostile(t, strings.Repeat("W", 500))} {
		url := file(t, r)
		tab := open(t, b, url, 320)
		if got := chromium.Eval[int](tab, `document.scrollingElement.scrollWidth`); got > 320 {
			t.Errorf("%s: the page is %d wide: %q", name, got, chromium.Eval[[]string](tab,
				`[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll *, svg") && e.getBoundingClientRect().right > 320).slice(0, 5).map(e => e.tagName + "." + e.className + " in " + e.parentElement.outerHTML.slice(0, 60))`))
		}
		if got := chromium.Eval[[]string](tab, `[...document.querySelectorAll(".scroll")].filter(e => e.tabIndex !== 0 || !e.getAttribute("aria-label")).map(e => e.outerHTML.slice(0, 80))`); len(got) > 0 {
			t.Errorf("%s: the keyboard does not scroll %q", name, got)
		}
		if name == "sample" {
			tab.Screenshot(filepath.Join(t.ArtifactDir(), "phone.png"))
		}
		clean(t, tab, url)
	}
}

// Without its script the page shows the same, and no button that does nothing.
func TestWithoutScript(t *testing.T) {
	url := file(t, sample(t))
	tab := open(t, chromium.Open(t), url, 1280, emulation.SetScriptExecutionDisabled(true))
	tab.Run(emulation.SetScriptExecutionDisabled(false))
	if got := chromium.Eval[int](tab, `document.querySelectorAll("button, input, .tip").length`); got != 0 {
		t.Errorf("%d controls", got)
	}
	if got := chromium.Eval[int](tab, `document.querySelectorAll("table.crawlers tbody tr").length`); got != len(sample(t).Crawlers) {
		t.Errorf("%d crawlers", got)
	}
	if got := tab.Errors(); len(got) > 0 {
		t.Errorf("errors:\n%s", strings.Join(got, "\n"))
	}
}

// It prints, in light colours, with everything unfolded.
func TestPrint(t *testing.T) {
	url := file(t, sample(t))
	tab := open(t, chromium.Open(t), url, 1280, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	var pdf []byte
	tab.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = cdppage.PrintToPDF().WithPrintBackground(false).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
		t.Errorf("%d octets of PDF: %.20q", len(pdf), pdf)
	}
	if got := chromium.Eval[int](tab, `document.querySelectorAll("details:not([open])").length`); got != 0 {
		t.Errorf("%d parts are folded", got)
	}
	tab.Run(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if got := chromium.Eval[string](tab, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", got)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "report.pdf"), pdf, 0o644); err != nil {
		t.Fatal(err)
	}
	clean(t, tab, url)
}

// hostile returns the report with each text of a stranger replaced.
func hostile(t testing.TB, text string) *audit.Report {
	t.Helper()
	encoded, err := json.Marshal(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		t.Fatal(err)
	}
	var replace func(v any) any
	replace = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key := range v {
				if !slices.Contains([]string{"from", "to", "time", "until", "first", "last", "start", "layer", "state", "action"}, key) {
					v[key] = replace(v[key])
				} else if _, ok := v[key].(map[string]any); ok {
					v[key] = replace(v[key])
				}
			}
		case []any:
			for i := range v {
				v[i] = replace(v[i])
			}
		case string:
			return text
		}
		return v
	}
	if encoded, err = json.Marshal(replace(tree)); err != nil {
		t.Fatal(err)
	}
	return decoded(t, encoded)
}

// Markup of strangers is text.
func TestHostile(t *testing.T) {
	b := chromium.Open(t)
	for _, text := range []string{
		`</script><script>window.hacked = 1</script><img src="https://example.com/x" onerror="window.hacked = 1">`,
		`"><svg onload="window.hacked = 1"><style>@import "https://example.com/x"</style>`,
		`javascript:window.hacked = 1//' onfocus='window.hacked = 1' autofocus='`,
		"\u202e\u0000\u001b[31m<plaintext>",
	} {
		url := file(t, hostile(t, text))
		tab := open(t, b, url, 1280)
		tab.Run(chromedp.Click("table.crawlers thead th:nth-child(5) button", chromedp.ByQuery), chromedp.Click("#examples summary", chromedp.ByQuery))
		if chromium.Eval[bool](tab, `"hacked" in window`) {
			t.Errorf("%q ran", text)
		}
		if !chromium.Eval[bool](tab, `document.querySelector("footer").textContent.includes("caddy robots audit")`) {
			t.Errorf("%q ends the page", text)
		}
		clean(t, tab, url)
	}
}

// The page of a report with 10,000 crawlers and 50,000 rules works like any.
func TestLarge(t *testing.T) {
	r := sample(t)
	var text strings.Builder
	text.WriteString("User-agent: *\n")
	r.Rules = nil
	for i := range 50_000 {
		line := fmt.Sprintf("Disallow: /%d/", i)
		text.WriteString(line + "\n")
		r.Rules = append(r.Rules, audit.Rule{Layer: "site", Line: i + 2, TextLine: i + 2, Text: line, Kind: "disallow", Bound: int64(i % 10)})
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
