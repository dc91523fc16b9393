package suspects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
)

// A robot in Chromium sends a person's User-Agent and follows each link as fast as
// possible.
func TestFastRobotInChromiumIsFound(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	links := chromium.Eval[[]string](p, "Array.from(document.links, a => a.href)")
	for _, link := range links {
		if s.found() != nil {
			break
		}
		_ = p.Try(chromedp.Navigate(link)) // the trap has no page
	}
	line := s.found()
	if line == nil {
		t.Fatalf("it was not found; signals %v", s.signals())
	}
	requests := line["documents"].(float64) + line["embedded"].(float64)
	t.Logf("found after %v requests, %v of them documents, by %v", requests, line["documents"], line["signals"])
	if requests > 200 || line["signals"] != "trap,pace" {
		t.Errorf("found after %v requests by %v", requests, line["signals"])
	}
	p.Run(chromedp.Navigate(s.TLSURL("/account/")))
	s.shows(p, "One moment, please")
}

// The page for refused suspects works in a browser: its style is applied, its
// Content-Security-Policy blocks nothing, and the button leads to the refused page.
func TestPageForSuspectsInABrowser(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	trap := chromium.Eval[string](p, "document.getElementById('trap').href")
	_ = p.Try(chromedp.Navigate(trap))
	for n := 0; s.found() == nil && n < 10*pages; n++ {
		p.Run(chromedp.Navigate(s.TLSURL(fmt.Sprintf("/page-%d.html", n%pages))))
	}
	p.Run(chromedp.Navigate(s.TLSURL("/account/?a=1&b=%22")))
	if got := chromium.Eval[string](p, "getComputedStyle(document.querySelector('main').parentElement).maxWidth"); got == "none" {
		t.Error("the style is not applied")
	}
	for _, problem := range p.Errors() {
		if strings.Contains(problem, "Content Security Policy") {
			t.Error(problem)
		}
	}
	p.Run(chromedp.Click("button", chromedp.ByQuery))
	s.shows(p, "Account")
	if got := chromium.Eval[string](p, "location.pathname + location.search"); got != "/account/?a=1&b=%22" {
		t.Errorf("the button leads to %s", got)
	}
	p.Run(chromedp.Navigate(s.TLSURL("/")), chromedp.Navigate(s.TLSURL("/account/")))
	s.shows(p, "Account")
}
