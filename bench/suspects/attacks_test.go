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

// An attacker has the same address as a person, for example behind a carrier's
// NAT, and so gets trap URLs for this address. The person opens a page of the
// attacker with such a URL. This must raise no signal.
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
			s.waitFor(p, arrived)
			s.wantsNoSignal(p)
			if cookies := chromium.Eval[string](p, "document.cookie"); cookies != "" {
				t.Errorf("a cookie was set: %s", cookies)
			}
		})
	}
}

// Trap URLs that a page of the site itself embeds, such as in a comment, raise no
// signal. A person who follows the hidden link raises only one signal, and is no
// suspect.
func TestTrapsInThePagesOfTheSite(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	p.Run(chromedp.Navigate(s.TLSURL("/planted.html")))
	s.waitFor(p, "performance.getEntriesByType('resource').filter(e => e.name.includes('/calendar-all/')).length >= 2")
	s.wantsNoSignal(p)
	p.Run(chromedp.Navigate(s.TLSURL("/")), chromedp.Evaluate("document.getElementById('trap').click()", nil))
	s.waitFor(p, "location.pathname.startsWith('/calendar-all/')")
	for n := range 5 {
		p.Run(chromedp.Navigate(s.TLSURL("/")))
		s.click(p, fmt.Sprint("p", n), fmt.Sprint("Page ", n))
	}
	if got := s.signals(); len(got) != 1 || got[`caddy_robots_suspect_signals_total{signal="trap"}`] != 1 {
		t.Errorf("signals %v", got)
	}
	s.wantsNoSuspect(p)
}
