package challenge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/bench/internal/webdriver"
)

// atMost bounds the requests of one visit: the page of the check, its style sheet, the URL
// with the token, and, with the button, a press, a page and the redirect after it.
const atMost = 8

// oneAtMost stands for the number of checks of a tab: the first that passes lets the other
// pass too.
const oneAtMost = -1

// client is a browser at a site. Each visit has a path of its own, by which the access
// log has its requests.
type client struct {
	*site
	*webdriver.Browser
	t      *testing.T
	origin string
	name   string
	visits int
}

// path returns the path of a new visit.
func (c *client) path(what string) string {
	c.visits++
	return fmt.Sprintf("/blame/%s-%d-%s", c.name, c.visits, what)
}

// eventually waits until ok is true. If that takes too long, it shows the last requests.
func (c *client) eventually(what string, ok func() bool) {
	c.t.Helper()
	if !waitFor(ok) {
		entries := c.requests("/blame/" + c.name)
		c.t.Fatalf("waited %v in vain until %s; the browser is at %s; requests:\n%s", patience, what, c.URL(),
			list(entries[max(0, len(entries)-20):]))
	}
}

// sees waits until the browser has been served a target, and shows its page.
func (c *client) sees(target string) {
	c.t.Helper()
	c.arrives(target)
	c.eventually("the page is shown", func() bool { return c.Title() == "The page" })
}

// arrives waits until the back end has served a target.
func (c *client) arrives(target string) {
	c.t.Helper()
	c.eventually("the back end serves "+target, func() bool { return c.got(http.MethodGet, target) > 0 })
}

// wants checks the requests of a visit: how many of them got the page of the check, and how
// often the button was pressed.
func (c *client) wants(path string, checks, presses int) {
	c.t.Helper()
	var documents, pressed, served int
	var entries []entry
	c.eventually("the access log has the page", func() bool {
		documents, pressed, served = 0, 0, 0
		entries = c.requests(path)
		for _, e := range entries {
			switch {
			case e.Request.Method == http.MethodPost:
				pressed++
			case e.Status == http.StatusTooManyRequests:
				documents++
			case e.Status == http.StatusOK && !e.isToken(), e.Status == http.StatusOK && presses > 0 && e.isPage():
				served++
			}
		}
		return served > 0
	})
	if checks == oneAtMost {
		checks = min(documents, 1)
	}
	if documents != checks || pressed != presses || served != 1 || len(entries) > atMost {
		c.t.Errorf("%s: the page of the check %d times, want %d; %d presses, want %d; %d pages; %d requests:\n%s",
			path, documents, checks, pressed, presses, served, len(entries), list(entries))
	}
}

// isPage reports whether a request with a token is not for a style sheet.
func (e entry) isPage() bool {
	accept := strings.Join(e.Request.Headers["Accept"], "")
	return strings.HasPrefix(accept, "text/html")
}

func list(entries []entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&b, "\t", e)
	}
	return b.String()
}

// TestBrowsers visits the site with real browsers while strangers storm it.
func TestBrowsers(t *testing.T) {
	for _, engine := range webdriver.Engines() {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			s := startSite(t)
			s.waitForCheck()
			t.Run("visits", func(t *testing.T) { visits(t, s, engine) })
			t.Run("pages", func(t *testing.T) { pages(t, s, engine) })
			if engine.Name != "webkit" { // WebKitGTK has no HTTP/3
				t.Run("http3", func(t *testing.T) { http3(t, s, engine) })
			}
			for _, v := range variants {
				t.Run(v.name, func(t *testing.T) { v.visit(t, s, engine) })
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.leaked) > 0 {
				t.Errorf("the back end got tokens or passes: %q", s.leaked)
			}
		})
	}
}

// odd is a path and query in all forms that have to stay as they are.
const odd = "/a%2fb/%C3%A4+'/x?q=a%2fb&r=%C3%A4+%27&s=1"

// visits are those of a browser with everything, over HTTPS and HTTP.
func visits(t *testing.T, s *site, engine webdriver.Engine) {
	b, odd := engine.Open(t, webdriver.Options{Host: host}), odd
	if engine.Name == "webkit" { // WebKitGTK writes escapes in upper case before it sends them
		odd = strings.ReplaceAll(odd, "%2f", "%2F")
	}
	for i, origin := range s.origins()[:2] {
		c := &client{site: s, Browser: b, t: t, origin: origin, name: fmt.Sprint(engine.Name, i)}
		t.Run([]string{"https", "http"}[i], func(t *testing.T) {
			c.t = t
			first := c.path("first")
			_ = c.Open(origin + "/open") // drivers change the URLs that they open
			c.Run(fmt.Sprintf("location = %q", first+odd+"#L10"))
			c.sees(first + odd)
			if got := c.Eval("location.href"); got != origin+first+odd+"#L10" {
				t.Errorf("the URL is %s", got)
			}
			c.wants(first, 1, 0)

			second := c.path("second")
			_ = c.Open(origin + second)
			c.sees(second)
			c.wants(second, 0, 0)
			c.Reload()
			c.eventually("the page is loaded again", func() bool { return c.got(http.MethodGet, second) == 2 })
			c.Back()
			c.eventually("the first page is shown again", func() bool { return strings.Contains(c.URL(), first) && c.Title() == "The page" })
			for _, e := range c.requests(second) {
				if e.Status != http.StatusOK {
					t.Errorf("second visit: %v", e)
				}
			}

			c.Forget()
			empty := c.path("empty")
			_ = c.Open(origin + empty + "?")
			c.sees(empty + "?")
			if got := c.Eval("location.href"); got != origin+empty+"?" {
				t.Errorf("the URL is %s", got)
			}
			c.wants(empty, 1, 0)

			c.Forget()
			one, two := c.path("tab"), c.path("tab")
			c.Run(fmt.Sprintf("window.open(%q); window.open(%q)", one, two))
			c.arrives(one)
			c.arrives(two)
			c.wants(one, oneAtMost, 0)
			c.wants(two, oneAtMost, 0)
		})
	}
}

// framed is a script that puts a frame into the page.
func framed(url string) string {
	return fmt.Sprintf("; const f = document.createElement('iframe'); f.src = %q; document.body.append(f)", url)
}

// submitted is a script that sends a form.
func submitted(method, action string) string {
	form := fmt.Sprintf("<form method=%s action='%s'><input name=q value='a b/c'></form>", method, action)
	return fmt.Sprintf("document.body.insertAdjacentHTML('beforeend', %q); document.forms[0].submit()", form)
}

// pages are what pages embed, and other ways to a page.
func pages(t *testing.T, s *site, engine webdriver.Engine) {
	b := engine.Open(t, webdriver.Options{Host: host})
	origin := s.TLSURL("")
	c := &client{site: s, Browser: b, t: t, origin: origin, name: engine.Name + "p"}
	open := func() {
		_ = c.Open(origin + "/open")
		c.eventually("the page is shown", func() bool { return c.Title() == "The page" })
	}
	pass := func() { // without it, whatever the browser asks for gets the check
		path := c.path("pass")
		_ = c.Open(origin + path)
		c.sees(path)
		c.wants(path, 1, 0)
	}
	pass()
	fetched, image, frame := c.path("data"), c.path("image.svg"), c.path("frame")
	c.Run(fmt.Sprintf("fetch(%q); new Image().src = %q", fetched, image) + framed(frame))
	for _, path := range []string{fetched, image, frame} {
		c.arrives(path)
		c.wants(path, 0, 0)
	}

	prefetched, prerendered := c.path("prefetched"), c.path("prerendered")
	c.Run(fmt.Sprintf(`const l = document.createElement("link"), s = document.createElement("script");
		l.rel = "prefetch"; l.href = %q; s.type = "speculationrules";
		s.text = JSON.stringify({prerender: [{urls: [%q], eagerness: "immediate"}]});
		document.head.append(l, s)`, prefetched, prerendered))
	if engine.Name == "chromium" {
		c.arrives(prefetched)
		c.arrives(prerendered)
	}
	c.Run(fmt.Sprintf("location = %q", prerendered))
	c.sees(prerendered)
	c.eventually("the access log has the page", func() bool { return len(s.requests(prerendered)) > 0 })
	if entries := s.requests(prerendered); len(entries) > atMost {
		t.Errorf("requests:\n%s", list(entries))
	}

	c.Forget()
	open()
	searched := c.path("search")
	c.Run(submitted("get", searched))
	c.sees(searched + "?q=a+b%2Fc")
	c.wants(searched, 1, 0)

	c.Forget()
	pass()
	posted := c.path("posted")
	c.Run(submitted("post", posted))
	c.eventually("the form arrives", func() bool { return c.got(http.MethodPost, posted) == 1 })
	c.eventually("its page is shown", func() bool { return strings.Contains(c.URL(), posted) && c.Title() == "The page" })
	s.mu.Lock()
	if got := s.bodies["POST "+posted]; got != "q=a+b%2Fc" {
		t.Errorf("the form has %q", got)
	}
	s.mu.Unlock()

	c.Forget()
	zip := c.path("a.zip")
	_ = c.Open(origin + zip)
	c.arrives(zip)
	c.wants(zip, 1, 0)

	c.Forget()
	pass()
	c.Run(`navigator.serviceWorker.register("/worker.js", {scope: "/"}).then(() => navigator.serviceWorker.ready)
		.then(() => { document.title = "controlled" })`)
	c.eventually("the service worker runs", func() bool { return c.Title() == "controlled" })
	worked := c.path("worker")
	_ = c.Open(origin + worked + "?a=1")
	c.sees(worked + "?a=1")
	c.wants(worked, 0, 0)

	// A browser keeps no cookie in a frame of another site. So the frame has the page with the
	// button.
	_ = c.Open(s.URL("/open"))
	c.eventually("the other page is shown", func() bool { return strings.HasPrefix(c.URL(), s.URL("")) && c.Title() == "The page" })
	plain := c.path("plain")
	c.Run(framed(s.origins()[1] + plain))
	c.eventually("the frame has a page", func() bool {
		checks := 0
		for _, e := range s.requests(plain) {
			if e.Status == http.StatusTooManyRequests {
				checks++
			}
		}
		return checks == 2 || c.got(http.MethodGet, plain) > 0
	})
	t.Cleanup(func() {
		if entries := s.requests(plain); len(entries) > atMost {
			t.Errorf("requests of a frame:\n%s", list(entries))
		}
	})
}

// http3 visits pages until the browser has changed to HTTP/3.
func http3(t *testing.T, s *site, engine webdriver.Engine) {
	b := engine.Open(t, webdriver.Options{
		HTTP3: strings.TrimPrefix(s.TLSURL(""), "https://"), Root: s.certificate("root"), Intermediate: s.certificate("intermediate"),
	})
	c := &client{site: s, Browser: b, t: t, origin: s.TLSURL(""), name: engine.Name + "h3"}
	for range 5 {
		path := c.path("x")
		_ = c.Open(c.origin + path + "?a=1")
		c.sees(path + "?a=1")
		c.wants(path, 1, 0)
		for _, e := range s.requests(path) {
			if e.Request.Proto == "HTTP/3.0" {
				return
			}
		}
		c.Forget()
	}
	t.Errorf("no HTTP/3:\n%s", list(s.requests("/blame/"+c.name)))
}

// variant is a browser that lacks something.
type variant struct {
	name            string
	options         webdriver.Options
	checks, presses int
}

var variants = []variant{
	{"no script", webdriver.Options{NoScript: true}, 1, 1},
	{"no style sheets", webdriver.Options{NoStyles: true}, 2, 1},
	{"no cookies", webdriver.Options{NoCookies: true}, 2, 1},
	{"no script, no cookies", webdriver.Options{NoScript: true, NoCookies: true}, 1, 1},
	{"nothing", webdriver.Options{NoScript: true, NoStyles: true, NoCookies: true}, 1, 1},
}

func (v variant) visit(t *testing.T, s *site, engine webdriver.Engine) {
	v.options.Host = host
	b := engine.Open(t, v.options)
	for i, origin := range s.origins()[:2] {
		name := strings.NewReplacer(" ", "", ",", "").Replace(v.name)
		c := &client{site: s, Browser: b, t: t, origin: origin, name: fmt.Sprint(engine.Name, i, name)}
		path := c.path("x")
		target := path + "?a=1&b=%2F"
		_ = c.Open(origin + target)
		if v.presses > 0 {
			c.eventually("the page with the button comes", func() bool {
				n := 0
				for _, e := range s.requests(path) {
					if e.Status == http.StatusTooManyRequests {
						n++
					}
				}
				return n == v.checks
			})
			c.eventually("the button is pressed", func() bool {
				c.Press(webdriver.Enter)
				for range 10 {
					for _, e := range s.requests(path) {
						if e.Request.Method == http.MethodPost {
							return true
						}
					}
				}
				return false
			})
		}
		c.sees(target)
		c.wants(path, v.checks, v.presses)
	}
}
