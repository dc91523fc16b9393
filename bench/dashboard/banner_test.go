package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// textOf returns an expression for the text of an element.
func textOf(id string) string {
	return fmt.Sprintf(`(document.getElementById(%q).innerText || "").replaceAll(/\s+/g, " ").trim()`, id)
}

// The banner says in one sentence what is wrong and who it is, and what to do. It is
// green only while nothing is wrong.
func TestBanner(t *testing.T) {
	monitor := strings.Replace(site, "robots {", "robots {\n\t\tmode monitor", 1)
	for _, tt := range []struct {
		name, config string
		prepare      func(t *testing.T, s *server.Server)
		mark, want   string
		todo         string
	}{
		{"all is well", site, func(t *testing.T, s *server.Server) { crawl(t, s, gptbot, "/") },
			"good", "All is well: 1 origin with 3 rules is in force. Nobody has been verified as a search engine.", ""},
		{"monitor mode", monitor, func(t *testing.T, s *server.Server) { crawl(t, s, gptbot, "/"); crawl(t, s, gptbot, "/x") },
			"info", "Monitor mode: nothing is refused. 2 requests would have been refused in the last hour, most of them of GPTBot.", "remove the line mode monitor"},
		{"the emergency switch", site, func(t *testing.T, s *server.Server) {
			resp, err := http.Post(fmt.Sprintf("http://localhost:%d/robots/mode?mode=monitor", s.Admin), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}, "warn", "no requests are refused, because the mode was set to monitor", "set the mode `configured`"},
		{"a busy crawler", site, func(t *testing.T, s *server.Server) {
			for range 250 {
				crawl(t, s, gptbot, "/x")
			}
		}, "good", "Handled: all of the requests of GPTBot", "Nothing to do."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := server.Start(t, tt.config)
			tt.prepare(t, s)
			page := open(t, s.URL("/ops/deep/"), 1440)
			page.Eventually("the banner: "+tt.want, fmt.Sprintf(`%s.includes(%q)`, textOf("banner"), tt.want))
			if got := chromium.Eval[string](page, `document.getElementById("banner").className`); got != "note "+tt.mark {
				t.Errorf("the banner is %s, want %s", got, tt.mark)
			}
			if got := chromium.Eval[string](page, textOf("banner")); !strings.Contains(got, tt.todo) {
				t.Errorf("%s\nwant the next step: %s", got, tt.todo)
			}
			checkClean(t, page, s.URL("/ops/deep/"))
		})
	}
}

// A click on a crawler filters the page. The fragment
// keeps it over a reload, and Back returns. A poll does not take the focus away.
func TestChosenCrawler(t *testing.T) {
	s := server.Start(t, site)
	for range 3 {
		crawl(t, s, gptbot, "/shop/x")
		crawl(t, s, bingbot, "/")
	}
	crawl(t, s, gptbot, "/shop/x")
	page := open(t, s.URL("/ops/deep/"), 1440)
	page.Eventually("both are listed", `document.querySelectorAll("#crawlers tbody tr").length === 2`)
	page.Run(chromedp.Click(`#crawlers tbody button[title="show only this crawler"]`, chromedp.ByQuery))
	const chosen = `document.querySelector("#crawlers tr.chosen") !== null`
	page.Eventually("it is chosen", chosen)
	name := chromium.Eval[string](page, `new URLSearchParams(location.hash.slice(1)).get("crawler")`)
	if got := chromium.Eval[string](page, `[...new Set([...document.querySelectorAll("#denials .who")].map((e) => e.innerText))].join()`); got != name {
		t.Errorf("refusals of %s, want %s", got, name)
	}
	page.Run(chromedp.Focus(`#groups button`, chromedp.ByQuery))
	crawl(t, s, gptbot, "/new/x")
	crawl(t, s, bingbot, "/new/x")
	page.Eventually("the new refusal", `document.getElementById("groups").innerText.includes("/new/*") || document.getElementById("denials").innerText.includes("/new/x")`)
	if got := chromium.Eval[string](page, `document.activeElement.closest("table")?.id || document.activeElement.tagName`); got != "groups" {
		t.Errorf("after a poll the focus is in %s", got)
	}
	page.Run(chromedp.Reload())
	page.Eventually("the choice is kept", chosen)
	page.Run(chromedp.Click(`#crawlers tbody button[title="show all crawlers"]`, chromedp.ByQuery))
	page.Eventually("all crawlers", "!"+chosen)
	page.Run(chromedp.NavigateBack())
	page.Eventually("back", chosen)
	page.Run(chromedp.KeyEvent(kb.Escape))
	checkClean(t, page, s.URL("/ops/deep/"))
}
