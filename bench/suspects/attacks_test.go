package suspects

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
)

// An attacker at the same address, as behind a carrier's NAT, has a trap URL
// that was minted for it, and gets a person onto a page with it. Nobody is
// bound, and no signal is raised.
func TestPlantedTraps(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	for name, markup := range map[string]string{
		"image":             `<img src="%s">`,
		"many images":       `<script>for (let i = 0; i < 200; i++) new Image().src = "%s?" + i</script>`,
		"style":             `<link rel="stylesheet" href="%s">`,
		"script":            `<script src="%s"></script>`,
		"prefetch":          `<link rel="prefetch" href="%s"><script type="speculationrules">{"prefetch":[{"urls":["%[1]s"],"eagerness":"immediate"}],"prerender":[{"urls":["%[1]s"],"eagerness":"immediate"}]}</script>`,
		"frames":            `<script>for (let i = 0; i < 60; i++) { const f = document.createElement("iframe"); f.src = "%s?" + i; document.body.append(f) }</script>`,
		"fetches":           `<script>for (let i = 0; i < 200; i++) fetch("%s?" + i, {mode: "no-cors", credentials: "omit", headers: {Accept: "text/html"}}).catch(() => {})</script>`,
		"fetched robots":    `<script>for (let i = 0; i < 50; i++) fetch(new URL("/robots.txt?" + i, "%s"), {mode: "no-cors"}).catch(() => {})</script>`,
		"link":              `<a id="go" href="%s">A present</a><script>addEventListener("load", () => document.getElementById("go").click())</script>`,
		"link, no referrer": `<a id="go" rel="noreferrer" href="%s">A present</a><script>addEventListener("load", () => document.getElementById("go").click())</script>`,
		"redirect":          `<meta http-equiv="refresh" content="0; url=%s">`,
		"form":              `<form id="f" method="get" action="%s"></form><script>addEventListener("load", () => document.getElementById("f").submit())</script>`,
		"posted form":       `<form id="f" method="post" action="%s?caddy-robots-continue=AAAAAAAAAAAAAAAAAAAAAA"></form><script>addEventListener("load", () => document.getElementById("f").submit())</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{s.Server, t}
			p := s.person(b)
			trap := chromium.Eval[string](p, "document.getElementById('trap').href")
			planted := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<!DOCTYPE html><title>Other</title><body>"+markup, html.EscapeString(trap))
			}))
			defer planted.Close()
			p.Run(chromedp.Navigate(planted.URL))
			arrived := "performance.getEntriesByType('resource').some(e => e.name.startsWith(" + fmt.Sprintf("%q", s.TLSURL("/")) + ")) || location.href.startsWith(" + fmt.Sprintf("%q", s.TLSURL("/")) + ")"
			s.is(p, arrived)
			s.nothing(p)
			if cookies := chromium.Eval[string](p, "document.cookie"); cookies != "" {
				t.Errorf("a cookie was set: %s", cookies)
			}
		})
	}
}

// What a page of the site itself embeds, as a comment with a picture might, does
// not count; and one who follows the hidden link raises one signal alone.
func TestTrapsInThePagesOfTheSite(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	p.Run(chromedp.Navigate(s.TLSURL("/planted.html")))
	s.is(p, "performance.getEntriesByType('resource').filter(e => e.name.includes('/calendar-all/')).length >= 2")
	s.nothing(p)
	p.Run(chromedp.Navigate(s.TLSURL("/")), chromedp.Evaluate("document.getElementById('trap').click()", nil))
	s.is(p, "location.pathname.startsWith('/calendar-all/')")
	for n := range 5 {
		p.Run(chromedp.Navigate(s.TLSURL("/")))
		s.click(p, fmt.Sprint("p", n), fmt.Sprint("Page ", n))
	}
	if got := s.signals(); len(got) != 1 || got[`caddy_robots_suspect_signals_total{signal="trap"}`] != 1 {
		t.Errorf("signals %v", got)
	}
	s.freePass(p)
}
