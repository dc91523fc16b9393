package dashboard

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// Tables fold after ten rows, what robots.txt does not apply to by itself is below crawlers,
// and the dot has the colour of the worst problem.
func TestFolds(t *testing.T) {
	s := server.Start(t, site)
	for i := range 15 {
		crawl(t, s, fmt.Sprintf("Bot%d/1.0 (+https://bot%d.example/)", i, i), "/x")
	}
	crawl(t, s, "curl/8.5.0", "/x")
	page := open(t, s.URL("/ops/deep/"), 390)
	page.Eventually("all are counted", `document.querySelectorAll("#crawlers tbody tr").length === 17`)
	const visible = `[...document.querySelectorAll("#crawlers tbody tr")].filter((tr) => !tr.hidden).length`
	if got := chromium.Eval[int](page, visible); got != 10 {
		t.Errorf("%d rows are shown", got)
	}
	page.Run(chromedp.Click(`#crawlers + button`, chromedp.ByQuery))
	page.Eventually("all are shown", visible+" === 17")
	if got := chromium.Eval[string](page, `[...document.querySelectorAll("#crawlers tbody tr")].slice(-2).map((tr) => tr.cells[0].firstChild.textContent).join()`); got != "HTTP libraries and programs,curl" {
		t.Errorf("the last two rows: %s", got)
	}
	if got := chromium.Eval[string](page, `document.getElementById("live").className`); got != "live on good" {
		t.Errorf("the dot: %s", got)
	}
	if got := chromium.Eval[string](page, textOf("nowsearch")); got == "" {
		t.Error("nothing is said about search engines")
	}
	checkClean(t, page, s.URL("/ops/deep/"))
}
