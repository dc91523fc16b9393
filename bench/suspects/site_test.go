package suspects

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// userAgent is the User-Agent of Chromium in these tests. Headless Chromium would
// send another one.
const userAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// asAPerson makes a page send the fields of Chrome on a person's machine.
func asAPerson() chromedp.Action {
	return emulation.SetUserAgentOverride(userAgent).WithUserAgentMetadata(&emulation.UserAgentMetadata{
		Brands:   []*emulation.UserAgentBrandVersion{{Brand: "Chromium", Version: "140"}, {Brand: "Google Chrome", Version: "140"}, {Brand: "Not_A Brand", Version: "24"}},
		Platform: "Linux", PlatformVersion: "6.1.0", Architecture: "x86",
	})
}

// pages is the number of pages of the site.
const pages = 60

// site is the running test site. Its pages share a style and a script. Each page
// has its own picture and a trap.
type site struct {
	*server.Server
	t *testing.T
}

func startSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := func(title, more string) string {
		return fmt.Sprintf(`<!DOCTYPE html><html lang="en"><head><title>%s</title><link rel="stylesheet" href="/style.css"><script src="/app.js" defer></script></head>
<body>{{with placeholder "http.robots.trap"}}<div hidden><a id="trap" href="{{.}}" rel="nofollow" tabindex="-1" aria-hidden="true">Everything</a></div>{{end}}<h1>%[1]s</h1>%s</body></html>`, title, more)
	}
	var list strings.Builder
	for n := range pages {
		fmt.Fprintf(&list, `<p><a id="p%d" href="/page-%[1]d.html">Page %[1]d</a></p>`, n)
		write(fmt.Sprintf("page-%d.html", n), page(fmt.Sprint("Page ", n), fmt.Sprintf(`<img src="/picture-%d.svg" alt="A picture"><p><a id="next" href="/page-%d.html">Next</a></p>`, n, (n+1)%pages)))
		write(fmt.Sprintf("picture-%d.svg", n), `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
	}
	write("index.html", page("Index", list.String()))
	write("ahead.html", page("Ahead", `<link rel="prefetch" href="/page-1.html"><link rel="prefetch" href="{{placeholder "http.robots.trap"}}">
<script type="speculationrules">{"prerender":[{"urls":["/page-2.html"],"eagerness":"immediate"}],"prefetch":[{"urls":["/page-3.html"],"eagerness":"immediate"}]}</script>
<script type="speculationrules">{"prerender":[{"urls":["{{placeholder "http.robots.trap"}}"],"eagerness":"immediate"}]}</script>`))
	write("planted.html", page("A comment", `<img id="planted" src="{{placeholder "http.robots.trap"}}" alt=""><iframe src="{{placeholder "http.robots.trap"}}"></iframe><script>fetch("{{placeholder "http.robots.trap"}}")</script>`))
	write("style.css", "body{margin:2em}")
	write("app.js", "document.title += '!'")
	write("account/index.html", page("Account", ""))
	s := server.Start(t, fmt.Sprintf(`{
	metrics
}
https://localhost:$TLSPORT {
	root %s
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /account/
			Disallow: /calendar-all/
			TXT
		publish
		suspects {
			trap /calendar-all/*
			action bind
		}
	}
	header Cache-Control "max-age=600"
	respond /calendar-all/* "There is nothing here."
	templates
	file_server
}`, dir))
	return &site{s, t}
}

// signals returns the number of times that each signal was raised.
func (s *site) signals() map[string]float64 {
	s.t.Helper()
	resp, err := http.Get(s.AdminURL("/metrics"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	found := make(map[string]float64)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if strings.HasPrefix(name, "caddy_robots_suspect_signals_total{") || name == "caddy_robots_suspects_found_total" {
			var v float64
			if _, err := fmt.Sscan(value, &v); err == nil && v > 0 {
				found[name] = v
			}
		}
	}
	return found
}

// wantsNoSignal checks that people raised no signal, and that they get a page that
// is disallowed to robots.
func (s *site) wantsNoSignal(p *chromium.Page) {
	s.t.Helper()
	if got := s.signals(); len(got) != 0 {
		s.t.Errorf("people raised %v", got)
	}
	s.wantsNoSuspect(p)
}

// wantsNoSuspect checks that there are no suspects, and that a person gets a page
// that is disallowed to robots.
func (s *site) wantsNoSuspect(p *chromium.Page) {
	s.t.Helper()
	p.Run(chromedp.Navigate(s.TLSURL("/account/")))
	s.shows(p, "Account")
	if n := s.signals()["caddy_robots_suspects_found_total"]; n != 0 {
		s.t.Errorf("%v people are suspects", n)
	}
}

// found returns the log line about a suspect, nil if there is none.
func (s *site) found() map[string]any {
	for line := range strings.Lines(s.Log()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == "a client behaves like a robot and sends a browser's User-Agent" {
			return fields
		}
	}
	return nil
}

// shows waits until a page has a heading.
func (s *site) shows(p *chromium.Page, heading string) {
	s.t.Helper()
	s.waitFor(p, fmt.Sprintf("document.readyState === 'complete' && document.querySelector('h1')?.textContent === %q", heading))
}

// waitFor waits until a JavaScript expression is true. It ignores errors, because
// an evaluation fails during a navigation.
func (s *site) waitFor(p *chromium.Page, expression string) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var yes bool
		if err := p.Try(chromedp.Evaluate("Boolean("+expression+")", &yes)); err == nil && yes {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain until: %s", expression)
		}
	}
}

// click clicks on a link and waits for the heading of the next page.
func (s *site) click(p *chromium.Page, id, heading string) {
	s.t.Helper()
	p.Run(chromedp.Click("#"+id, chromedp.ByQuery))
	s.shows(p, heading)
}

// person opens a tab of a person with the site, and waits until it is up.
func (s *site) person(b *chromium.Browser) *chromium.Page {
	s.t.Helper()
	p := b.NewPage()
	p.Run(network.Enable(), asAPerson())
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := p.Try(chromedp.Navigate(s.TLSURL("/")), chromedp.WaitVisible("#p0"))
		if err == nil {
			return p
		}
		if time.Now().After(end) {
			s.t.Fatal(err)
		}
	}
}
