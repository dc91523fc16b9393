package dashboard

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// User-Agents that these clients really send.
const (
	chrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	gptbot  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
)

// site is a site with two dashboards: one for the user bob with the password
// hiccup, and one at another path with external access control.
const site = `http://localhost:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			Allow: /private/press/

			User-agent: GPTBot
			Disallow: /

			User-agent: bingbot
			Crawl-delay: 1000
			TXT
		publish
	}
	handle /robots-dashboard* {
		basic_auth {
			bob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
		}
		robots_dashboard
	}
	handle_path /ops/deep/* {
		robots_dashboard {
			access external
		}
	}
	handle {
		respond "hello"
	}
}
`

// crawl sends a request with a User-Agent and exactly this target, and returns the
// status.
func crawl(t testing.TB, s *server.Server, ua, target string) int {
	t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort("localhost", strconv.Itoa(s.Port)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost:%d\r\nUser-Agent: %s\r\nConnection: close\r\n\r\n", target, s.Port, ua)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	var status int
	if _, err := fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status); err != nil {
		t.Fatalf("%.80q: %v", answer, err)
	}
	return status
}

// asPerson sets a person's User-Agent. That of headless Chromium is a robot's.
var asPerson = chromedp.UserAgent(chrome)

// open opens the dashboard at a URL, in a window of this width in pixels.
func open(t testing.TB, address string, width int64) *chromium.Page {
	t.Helper()
	page := chromium.Open(t, asPerson).NewPage()
	page.Run(devtools.BringToFront(), chromedp.EmulateViewport(width, 1000), chromedp.Navigate(address))
	page.Eventually("the page has data", `!document.getElementById("main").hasAttribute("aria-busy")`)
	return page
}

// cell returns an expression for the text of a column in the row of a crawler.
func cell(crawler string, column int) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#crawlers tbody tr")].filter(r => r.cells[0].firstChild.textContent === %q).map(r => r.cells[%d].innerText.trim()).join()`, crawler, column)
}

// checkClean checks that the page has no errors, and sent requests to its own URL
// only.
func checkClean(t *testing.T, page *chromium.Page, own string) {
	t.Helper()
	for _, e := range page.Errors() {
		t.Errorf("the page has an error: %s", e)
	}
	for _, r := range page.Requests() {
		if rest, ok := strings.CutPrefix(strings.Replace(r, "bob:hiccup@", "", 1), own); !ok || rest != "" && !strings.HasPrefix(rest, "?data=") {
			t.Errorf("the page requested %s", r)
		}
	}
}

// The page shows new requests in the tiles, the table, the margin of robots.txt and
// the list of refusals.
func TestNewRequestsAreShown(t *testing.T) {
	s := server.Start(t, site)
	own := s.URL("/ops/deep/")
	page := open(t, own, 1440)
	page.Eventually("nothing has come yet", `document.getElementById("crawlersempty").innerText.includes("No crawler")`)
	for range 5 {
		if status := crawl(t, s, gptbot, "/products/table?secret=1"); status != http.StatusForbidden {
			t.Fatalf("GPTBot gets %d", status)
		}
	}
	page.Eventually("the table counts five denials", cell("GPTBot", 3)+` === "5"`)
	page.Eventually("the tile shows that something was denied", `Number(document.querySelector("#now .m-deny dd").firstChild.data) >= 1`)
	page.Eventually("the margin counts them", `[...document.querySelectorAll("#source tr.hit")].some(r => r.innerText.includes("Disallow: /") && r.cells[0].innerText === "5" && r.cells[1].innerText === "6")`)
	page.Eventually("a refusal is listed", `document.querySelector("#denials li").innerText.includes("GPTBot denied") && document.querySelector("#denials li").innerText.includes("/products/table")`)
	crawl(t, s, bingbot, "/")
	crawl(t, s, bingbot, "/")
	for range 3 {
		crawl(t, s, gptbot, "/")
	}
	page.Eventually("the table counts the next three", cell("GPTBot", 3)+` === "8"`)
	page.Eventually("bingbot was throttled once", cell("bingbot", 4)+` === "1"`)
	page.Eventually("the margin of Crawl-delay counts it", `[...document.querySelectorAll("#source tr.slow")].some(r => r.innerText.includes("Crawl-delay") && r.cells[0].innerText === "1")`)
	page.Eventually("the table of the chart counts them", `(document.querySelector(".astable").open = true, document.getElementById("charttable").innerText.includes("8"))`)
	for _, span := range []string{"day", "month"} {
		page.Run(chromedp.Click(fmt.Sprintf(`//input[@value=%q]/..`, span), chromedp.BySearch))
		page.Eventually("the "+span+" counts them", fmt.Sprintf(`document.getElementById("crawlersunit").innerText === "in the last %s" && `, span)+cell("GPTBot", 3)+` === "8"`)
	}
	if text := chromium.Eval[string](page, `document.body.innerText`); strings.Contains(text, "secret") {
		t.Error("a query string is shown")
	}
	checkClean(t, page, own)
	size := chromium.Eval[float64](page, `performance.getEntriesByType("navigation")[0].transferSize`)
	first := chromium.Eval[float64](page, `performance.getEntriesByName("chart")[0].startTime`)
	t.Logf("page weight %.1f KB, first chart after %.0f ms", size/1000, first)
}

// A bookmark may name a site that the server no longer has. The page shows all
// sites then.
func TestBookmarkOfRemovedSite(t *testing.T) {
	s := server.Start(t, site)
	page := open(t, s.URL("/ops/deep/")+"#span=day&site=removed.test", 1440)
	page.Eventually("the address names the site no longer", `location.hash === "#span=day"`)
	page.Eventually("there is no error", `document.getElementById("offline").hidden`)
}

// Caddy's authentication protects the page.
func TestAuthentication(t *testing.T) {
	s := server.Start(t, site)
	for path, want := range map[string]int{"/robots-dashboard": http.StatusUnauthorized, "/robots-dashboard?data=live": http.StatusUnauthorized, "/ops/deep/": http.StatusOK} {
		if status := crawl(t, s, chrome, path); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	// A bookmark may have credentials in its URL.
	address := strings.Replace(s.URL("/robots-dashboard"), "://", "://bob:hiccup@", 1)
	page := open(t, address, 1440)
	page.Eventually("the page is up to date", `document.getElementById("live").className.includes("on")`)
	checkClean(t, page, s.URL("/robots-dashboard"))
}

func TestSorting(t *testing.T) {
	s := server.Start(t, site)
	for name, n := range map[string]int{"CCBot/2.0": 1, "AhrefsBot/7.0": 3, "Applebot/0.1": 2} {
		for range n {
			crawl(t, s, "Mozilla/5.0 (compatible; "+name+")", "/")
		}
	}
	page := open(t, s.URL("/ops/deep/"), 1440)
	const names = `[...document.querySelectorAll("#crawlers tbody tr")].map(r => r.cells[0].firstChild.textContent).join()`
	page.Eventually("the most requests come first", names+` === "AhrefsBot,Applebot,CCBot"`)
	for _, tt := range []struct{ column, sort, want string }{
		{"Crawler", "ascending", "AhrefsBot,Applebot,CCBot"}, {"Crawler", "descending", "CCBot,Applebot,AhrefsBot"},
		{"Requests", "descending", "AhrefsBot,Applebot,CCBot"}, {"Requests", "ascending", "CCBot,Applebot,AhrefsBot"},
	} {
		// With the keyboard.
		page.Run(chromedp.Focus(fmt.Sprintf(`//th/button[text()=%q]`, tt.column), chromedp.BySearch), chromedp.KeyEvent(kb.Enter))
		page.Eventually("sorted by "+tt.column+" "+tt.sort, fmt.Sprintf(`%s === %q && document.querySelector("th[aria-sort=%s]").innerText === %q`, names, tt.want, tt.sort, tt.column))
	}
	checkClean(t, page, s.URL("/ops/deep/"))
}

func TestCheckForm(t *testing.T) {
	s := server.Start(t, site)
	crawl(t, s, chrome, "/robots.txt")
	page := open(t, s.URL("/ops/deep/"), 1440)
	page.Eventually("there is a policy", `document.getElementById("origin").value !== ""`)
	for _, tt := range []struct{ ua, url, verdict, says string }{
		{"GPTBot", "/products", "Denied", "line 15 of Caddyfile"},
		{bingbot, "/private/x", "Passed", "1000"},
		{"CCBot", s.URL("/private/x?a=b"), "Denied", "line 11 of Caddyfile"},
		{"CCBot", "/private/press/kit", "Passed", "Allow: /private/press/"},
		{chrome, "/private/x", "Passed", "person"},
	} {
		page.Run(chromedp.Evaluate(fmt.Sprintf(`document.querySelector("[name=ua]").value = %q; document.querySelector("[name=url]").value = %q; document.getElementById("verdict").replaceChildren()`, tt.ua, tt.url), nil),
			chromedp.Focus(`[name=url]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
		page.Eventually(tt.ua+" "+tt.url+" is checked", `document.querySelector("#verdict .answer")`)
		if got := chromium.Eval[string](page, `document.getElementById("verdict").innerText`); !strings.HasPrefix(got, tt.verdict) || !strings.Contains(got, tt.says) {
			t.Errorf("%s %s: %q, want %s with %s", tt.ua, tt.url, got, tt.verdict, tt.says)
		}
	}
	checkClean(t, page, s.URL("/ops/deep/"))
	page.Run(chromedp.Evaluate(`document.querySelector("[name=url]").value = "https://other.test/"; document.getElementById("check").requestSubmit()`, nil))
	page.Eventually("another tenant's host is not checked", `document.getElementById("verdict").innerText.includes("could not be checked")`)
}

// The page shows values from clients as text, never as markup.
func TestMarkupStaysText(t *testing.T) {
	s := server.Start(t, strings.NewReplacer("http://localhost:$PORT", "http://:$PORT", "access external", "access external\n\t\t\tall_sites").Replace(site))
	const markup = `<img/src=x/onerror=document.title=1><script>document.title=2</script><b>`
	for _, ua := range []string{"Mozilla/5.0 (compatible; " + markup + "bot/1.0)", markup + "bot", "GPTBot/1.2 " + markup, `"><svg/onload=alert(1)>bot`} {
		for _, target := range []string{"/" + markup, "/private/" + markup + "?q=" + markup, "/%3Cimg%20src=x%3E"} {
			crawl(t, s, ua, target)
		}
	}
	own := s.URL("/ops/deep/?x=" + url.QueryEscape(markup) + "#" + url.QueryEscape(markup))
	page := open(t, own, 1440)
	page.Eventually("the refusals are there", `document.querySelectorAll("#denials li").length >= 4`)
	page.Run(chromedp.Evaluate(fmt.Sprintf(`document.querySelector("[name=ua]").value = %q; document.querySelector("[name=url]").value = "/" + %[1]q; document.getElementById("check").requestSubmit()`, markup+"bot/1.0"), nil))
	page.Eventually("the check is there", `document.querySelector("#verdict .answer, #verdict p:not(.empty)")`)
	page.Eventually("the markup is shown as text", `document.getElementById("denials").innerText.includes("onerror=document.title=1")`)
	if found := chromium.Eval[string](page, `[...document.querySelectorAll("img, script:not([nonce]), b:not(.key b, .finding b, #reasons b), iframe, object, [onload], [onerror]")].filter(e => e !== document.scripts[0]).map(e => e.outerHTML).join()`); found != "" {
		t.Errorf("markup became elements: %s", found)
	}
	if title := chromium.Eval[string](page, `document.title`); title != "robots.txt dashboard" {
		t.Errorf("the title is %q", title)
	}
	for _, e := range page.Errors() {
		t.Errorf("the page has an error: %s", e)
	}
}

func TestDarkMode(t *testing.T) {
	s := server.Start(t, site)
	crawl(t, s, gptbot, "/")
	page := open(t, s.URL("/ops/deep/"), 1440)
	look := func(scheme string) string {
		page.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		page.Eventually("the page is "+scheme, fmt.Sprintf(`getComputedStyle(document.documentElement).getPropertyValue("--bg").trim() === %q`, map[string]string{"light": "#f7f7f5", "dark": "#131519"}[scheme]))
		var picture string
		page.Eventually("the chart is drawn", `document.querySelector(".uplot canvas")`)
		picture = chromium.Eval[string](page, `document.querySelector(".uplot canvas").toDataURL()`)
		return chromium.Eval[string](page, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color`) + picture
	}
	light := look("light")
	if dark := look("dark"); dark == light {
		t.Error("dark mode looks like light mode")
	}
	if again := look("light"); again != light {
		t.Log("the chart was redrawn with other numbers")
	}
	checkClean(t, page, s.URL("/ops/deep/"))
}

// At all widths, from narrow phones to 4K, the page does not scroll sideways, and
// all controls are visible.
func TestWidths(t *testing.T) {
	s := server.Start(t, site)
	for range 3 {
		crawl(t, s, gptbot, "/a/very/long/path/without/any/blank/"+strings.Repeat("x", 300))
		crawl(t, s, "Mozilla/5.0 (compatible; "+strings.Repeat("longname", 12)+"bot/1.0)", "/private/")
	}
	page := open(t, s.URL("/ops/deep/"), 1440)
	page.Eventually("the refusals are there", `document.querySelectorAll("#denials li").length >= 2`)
	for _, width := range []int64{320, 375, 768, 1024, 1440, 1920, 2560, 3840} {
		page.Run(chromedp.EmulateViewport(width, 900))
		page.Eventually(fmt.Sprintf("the page and its charts fit %d px", width),
			fmt.Sprintf(`innerWidth === %d && document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll("canvas")].every(c => c.getBoundingClientRect().right <= innerWidth)`, width))
		if out := chromium.Eval[string](page, `[...document.querySelectorAll("button, select, input, summary")].filter(e => !e.closest(".scroll") && e.getClientRects().length && !e.matches(".segments input") && (e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < 0)).map(e => e.outerHTML).join()`); out != "" {
			t.Errorf("at %d px outside the window: %s", width, out)
		}
	}
	checkClean(t, page, s.URL("/ops/deep/"))
}

// All controls can be reached with the keyboard, with less than 40 Tabs, and have a name
// for screen readers.
func TestKeyboardAndNames(t *testing.T) {
	s := server.Start(t, site)
	for _, path := range []string{"/", "/a/x", "/b/x", "/c/x"} {
		crawl(t, s, gptbot, path)
		crawl(t, s, bingbot, path)
	}
	page := open(t, s.URL("/ops/deep/"), 1440)
	page.Eventually("a refusal is listed", `document.querySelector("#denials li")`)
	if bad := chromium.Eval[string](page, `[...document.querySelectorAll("button, select, input, [tabindex='0'], summary")].filter(e => e.getClientRects().length).filter(e => !(e.innerText || "").trim() && !(e.labels && e.labels.length) && !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")).map(e => e.outerHTML.slice(0, 100)).join()`); bad != "" {
		t.Errorf("without a name: %s", bad)
	}
	if bad := chromium.Eval[string](page, `[...document.querySelectorAll("[aria-labelledby]")].filter(e => !document.getElementById(e.getAttribute("aria-labelledby"))).map(e => e.id).join()`); bad != "" {
		t.Errorf("aria-labelledby names a missing element: %s", bad)
	}
	// The buttons of a list are one stop: the arrow keys move between them.
	const stops = `[...document.querySelectorAll("a[href], button, select, input, summary, [tabindex]")].filter((e) => e.tabIndex >= 0 && e.checkVisibility() && !(e.type === "radio" && !e.checked))`
	page.Eventually("each list is one stop", `document.querySelector("#crawlers tbody button[tabindex='0']") && !document.querySelector("#denials button:not([tabindex])")`)
	if n := chromium.Eval[int](page, stops+`.length`); n >= 40 {
		t.Errorf("%d stops of the Tab key, want less than 40", n)
	}
	page.Run(chromedp.Evaluate(`window.reached = new Set(); addEventListener("focusin", (event) => reached.add(event.target)); document.activeElement.blur()`, nil))
	for range 40 {
		page.Run(chromedp.KeyEvent(kb.Tab))
	}
	if missed := chromium.Eval[string](page, stops+`.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 120)).join("\n")`); missed != "" {
		t.Errorf("40 times Tab do not reach:\n%s", missed)
	}
	page.Run(chromedp.Focus(`#crawlers tbody button`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown))
	page.Eventually("the arrow key goes to the next crawler", `document.activeElement === document.querySelectorAll("#crawlers tbody button")[1]`)
	before := chromium.Eval[string](page, `document.getElementById("readout").innerText`)
	page.Run(chromedp.Focus(`#chart`, chromedp.ByQuery), chromedp.KeyEvent(kb.Home))
	page.Eventually("the arrow keys move through time", fmt.Sprintf(`document.getElementById("readout").innerText !== %q`, before))
	checkClean(t, page, s.URL("/ops/deep/"))
}

// A hidden tab sends no requests, and sends one at once when it is shown again. A
// paused page sends no requests either.
func TestHiddenAndPaused(t *testing.T) {
	s := server.Start(t, site)
	browser := chromium.Open(t, asPerson)
	page, other := browser.NewPage(), browser.NewPage()
	page.Run(devtools.BringToFront(), chromedp.Navigate(s.URL("/ops/deep/")))
	page.Eventually("the page has data", `!document.getElementById("main").hasAttribute("aria-busy")`)
	quiet := func(why string) {
		t.Helper()
		before := len(page.Requests())
		time.Sleep(7 * time.Second) // two intervals: a slow machine makes fewer requests, never more
		if after := len(page.Requests()); after > before {
			t.Errorf("the %s page sent %d requests", why, after-before)
		}
	}
	other.Run(devtools.BringToFront())
	page.Eventually("the page is hidden", `document.hidden`)
	quiet("hidden")
	crawl(t, s, gptbot, "/")
	page.Run(devtools.BringToFront())
	page.Eventually("the page updates when it is shown", cell("GPTBot", 3)+` === "1"`)
	page.Run(chromedp.Click(`#pause`, chromedp.ByQuery))
	page.Eventually("the page says that it is paused", `document.getElementById("updated").innerText.startsWith("Paused")`)
	quiet("paused")
	page.Run(chromedp.Click(`#pause`, chromedp.ByQuery))
	page.Eventually("the page updates", `document.getElementById("updated").innerText.startsWith("as of")`)
}

// The page shows since when the server does not answer, and updates when it answers
// again.
func TestServerDoesNotAnswer(t *testing.T) {
	s := server.Start(t, site)
	page := open(t, s.URL("/ops/deep/"), 1440)
	page.Eventually("the page is up to date", `document.getElementById("updated").innerText.startsWith("as of")`)
	checkClean(t, page, s.URL("/ops/deep/"))
	const silence = `!document.getElementById("offline").hidden && /does not answer since \d\d:\d\d:\d\d/.test(document.getElementById("offline").innerText)`
	s.Pause(true)
	page.Eventually("the page shows since when the server keeps it waiting", silence)
	s.Pause(false)
	page.Eventually("the page updates again", `document.getElementById("offline").hidden`)
	if err := s.Reload(strings.ReplaceAll(site, "access external", "")); err != nil {
		t.Fatal(err)
	}
	page.Eventually("the page shows that access is no longer allowed", `document.getElementById("offline").innerText.includes("no longer lets you see")`)
	if err := s.Reload(site); err != nil {
		t.Fatal(err)
	}
	page.Eventually("the page updates after access is allowed again", `document.getElementById("offline").hidden`)
	s.Stop()
	page.Eventually("the page shows since when there is no server", silence)
}
