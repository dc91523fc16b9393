package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
)

// The pointer shows tooltips, and so do the arrow keys in a timeline.
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
	// Only one chart is in the tab order.
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
	tab.Eventually("the hour is described", tip+`.includes(" from people, ")`)
	clean(t, tab, url)
}
