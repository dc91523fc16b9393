package challenge

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// serve sends a request and answers it as the handler does. A request that goes on gets 200.
func (s *site) serve(method, target, addr string, fields ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	w := httptest.NewRecorder()
	_, v, r := s.ask(method, target, addr, fields...)
	switch v {
	case Go:
		_, _ = w.WriteString("the page " + r.URL.RequestURI() + " " + r.Header.Get("Cookie"))
	case TooMany:
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		if err := s.check.Answer(s.x, w); err != nil {
			s.t.Fatal(err)
		}
	}
	return w
}

// What pages of the check have: the style sheet's URL, the parameter that the script opens, and the
// URL of the button.
var (
	sheetForm  = regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">`)
	openForm   = regexp.MustCompile(`"(caddy-robots-pass=[^"]*)"`)
	buttonForm = regexp.MustCompile(`action="([^"]*)"`)
)

// find returns what a page has; "" if it has not.
func find(form *regexp.Regexp, page string) string {
	m := form.FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// forStyle are the fields of a request for the style sheet.
var forStyle = []string{"Sec-Fetch-Dest", "style", "Sec-Fetch-Site", "same-origin"}

// tab is that of a browser with and without its abilities.
type tab struct {
	*site
	addr                        string
	script, styles, keepsCookie bool
	cookies                     map[string]string
	requests, clicks            int
}

func (b *tab) get(method, target string, fields ...string) *httptest.ResponseRecorder {
	b.requests++
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+value)
	}
	if len(pairs) > 0 {
		fields = append(fields, "Cookie", strings.Join(pairs, "; "))
	}
	w := b.serve(method, target, b.addr, append([]string{"Sec-Fetch-Dest", "document"}, fields...)...)
	for _, c := range w.Result().Cookies() {
		if b.keepsCookie {
			b.cookies[c.Name] = c.Value
		}
	}
	return w
}

// visit opens a URL as a browser does, until it has the page. It returns the URL of the
// page, without the host, as the browser shows it, and the page.
func (b *tab) visit(target string) (shown, body string) {
	b.t.Helper()
	if b.cookies == nil {
		b.cookies = make(map[string]string)
	}
	method, fragment := "GET", ""
	target, fragment, _ = strings.Cut(target, "#")
	for range 12 {
		w := b.get(method, target)
		method = "GET"
		at, err := url.Parse("https://" + b.host + target)
		if err != nil {
			b.t.Fatal(err)
		}
		if location := w.Header().Get("Location"); w.Code == http.StatusSeeOther {
			next, err := at.Parse(location)
			if err != nil || next.Host != b.host {
				b.t.Fatalf("%s leads to %s: %v", target, location, err)
			}
			target = next.RequestURI()
			continue
		}
		if w.Code == http.StatusOK {
			if fragment != "" {
				target += "#" + fragment
			}
			return target, w.Body.String()
		}
		page := w.Body.String()
		path, _, _ := strings.Cut(target, "?")
		if sheet := find(sheetForm, page); sheet != "" && b.styles {
			if w := b.get("GET", path+sheet, forStyle...); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
				b.t.Fatalf("the style sheet: %d, %v", w.Code, w.Header())
			}
		}
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		if next := find(openForm, page); next != "" && b.script {
			target += separator + next
			continue
		}
		button := find(buttonForm, page)
		if button == "" {
			b.t.Fatalf("no button: %d\n%s", w.Code, page)
		}
		b.clicks++
		target, fragment, method = path+button, "", "POST"
	}
	b.t.Fatalf("a loop at %s", target)
	return "", ""
}

func TestBrowsersPass(t *testing.T) {
	t.Parallel()
	const target = "/blame/a%2fb/%C3%A4.go?x=%2b+1&y&&z='#L10"
	for _, tt := range []struct {
		name                    string
		script, styles, cookies bool
		clicks                  int
		fragment                bool
	}{
		{"all", true, true, true, 0, true},
		{"no script", false, true, true, 1, false},
		{"no style sheets", true, false, true, 1, false},
		{"no cookies", true, true, false, 1, false},
		{"neither script nor style sheets", false, false, true, 1, false},
		{"nothing", false, false, false, 1, false},
	} {
		for _, scheme := range []string{"https", "http"} {
			s := newSite(t, func(*Config) {})
			s.scheme = scheme
			s.storm(40*time.Second, 20)
			b := &tab{site: s, addr: "192.0.2.77", script: tt.script, styles: tt.styles, keepsCookie: tt.cookies}
			shown, body := b.visit(target)
			want := target
			if !tt.fragment {
				want, _, _ = strings.Cut(target, "#")
			}
			if !tt.cookies { // the URL keeps the parameter until the page is opened again
				shown, _, _ = strings.Cut(shown, "&"+parameter)
			}
			if shown != want || b.clicks != tt.clicks || !strings.HasPrefix(body, "the page ") || strings.Contains(body, "caddy-robots-pass") {
				t.Errorf("%s, %s: %s after %d clicks and %d requests: %s", tt.name, scheme, shown, b.clicks, b.requests, body)
			}
			if b.requests > 8 {
				t.Errorf("%s: %d requests", tt.name, b.requests)
			}
			if !tt.cookies {
				continue
			}
			b.requests, b.clicks = 0, 0
			if _, _ = b.visit("/blame/other"); b.requests != 1 || b.clicks != 0 {
				t.Errorf("%s: %d requests for a second page", tt.name, b.requests)
			}
		}
	}
}

func TestCookieAndParameterAreRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for cookie, want := range map[string]string{
		"a=b; __Host-caddy-robots-pass=x; c=d": "a=b; c=d", "__Host-caddy-robots-pass=x": "", "caddy-robots-pass=": "",
		"xcaddy-robots-pass=1": "xcaddy-robots-pass=1",
	} {
		if w := s.serve("GET", "/any", "192.0.2.1", "Cookie", cookie); w.Body.String() != "the page /any "+want {
			t.Errorf("%s: %s", cookie, w.Body)
		}
	}
	for target, want := range map[string]string{
		"/a?caddy-robots-pass=x": "/a", "/a?b=1&caddy-robots-pass=x": "/a?b=1", "/a?caddy-robots-pass=x&b=1": "/a?b=1", "/a?&caddy-robots-pass=x": "/a?",
		"//evil.test/a?caddy-robots-pass=": "/.//evil.test/a", `/\evil.test?caddy-robots-pass=1`: `/./\evil.test`,
		"/ä?caddy-robots-pass=1": "/%C3%A4",
	} {
		w := s.serve("GET", target, "192.0.2.1")
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != want {
			t.Errorf("%s: %d to %s, want %s", target, w.Code, got, want)
		}
		if w := s.serve("POST", target, "192.0.2.1"); w.Code != http.StatusOK || strings.Contains(w.Body.String(), parameter) {
			t.Errorf("POST %s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := s.serve("GET", "/a?caddy-robots-pass=x", "192.0.2.1", forStyle...); w.Code != 200 || w.Body.Len() != 0 || len(w.Result().Cookies()) > 0 {
		t.Errorf("a style sheet with a broken token: %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// pass returns the cookie of a browser that has passed.
func (s *site) pass(addr string) string {
	s.t.Helper()
	b := &tab{site: s, addr: addr, script: true, styles: true, keepsCookie: true}
	b.visit("/blame/a")
	for name, value := range b.cookies {
		return name + "=" + value
	}
	s.t.Fatal("no cookie")
	return ""
}

// through returns how many of n requests with a pass go on, and that the others get the page
// with its button alone.
func (s *site) through(n int, from func(int) string, cookie string, as backend, fields ...string) (passed int) {
	s.t.Helper()
	for i := range n {
		a, v, _ := s.askAnswered("GET", "/blame/b", from(i), as, append(fields, "Cookie", cookie)...)
		if v == Go {
			passed++
		} else if v != Stranger || a.memory != nil && !a.alone {
			s.t.Errorf("%v, with a button alone: %v", v, a.alone)
		}
	}
	return passed
}

// A pass has 60 pages a minute, and as many files as it wants.
func TestBoundsOfAPass(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.over = 10 })
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.1")
	one := func(int) string { return "192.0.2.1" }
	for s.serve("GET", "/blame/b", "192.0.2.1", "Cookie", cookie).Code == http.StatusOK {
	}
	s.now = s.now.Add(time.Second / 2)
	if w := s.serve("GET", "/blame/b", "192.0.2.1", "Cookie", cookie); w.Header().Get("Retry-After") != "1" {
		t.Errorf("retry after %q s", w.Header().Get("Retry-After"))
	}
	s.storm(4*time.Minute, 1)
	if n := s.through(1000, one, cookie, backend{media: "image/png"}); n != 1000 {
		t.Errorf("%d images", n)
	}
	for _, fields := range [][]string{nil, {"Sec-Fetch-Dest", "image"}, {"Authorization", "x"}, {"Accept", "image/*"}} {
		if n := s.through(1000, one, cookie, backend{}, fields...); n < 119 || n > 120 {
			t.Errorf("%v: %d pages at once", fields, n)
		}
		s.storm(time.Minute, 1)
		if n := s.through(1000, one, cookie, backend{}, fields...); n < 59 || n > 61 {
			t.Errorf("%v: %d pages in a minute", fields, n)
		}
		s.storm(3*time.Minute, 1)
	}
}

// All passes of an address have 600 pages a minute; above it, each of them still has six, also
// those of a neighbour, and the button gives one more.
func TestBoundOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, addresses := range [][2]string{{"192.0.2.1", "192.0.2.1"}, {"2001:db8::1", "2001:db8:0:ffff::1"}} {
		s := newSite(t, func(c *Config) { c.over = 10 })
		s.storm(40*time.Second, 20)
		neighbour := &tab{site: s, addr: addresses[1], script: true, styles: true, keepsCookie: true}
		neighbour.visit("/blame/a")
		robot := func(int) string { return addresses[0] }
		all := 0
		for range 29 {
			all += s.through(121, robot, s.pass(addresses[0]), backend{})
		}
		if most := 600 + 29*(fewPages.burst+1); all < 600 || all > most {
			t.Errorf("%s: %d pages at once by 29 passes, at most %d", addresses[0], all, most)
		}
		if neighbour.visit("/blame/b"); neighbour.clicks > 0 {
			t.Errorf("%s: a neighbour with a pass has to click", addresses[0])
		}
		for i := range 20 {
			if neighbour.visit("/blame/c"); neighbour.clicks > 1+i/fewPages.burst {
				t.Fatalf("%s: a neighbour has to click %d times for %d pages", addresses[0], neighbour.clicks, i)
			}
		}
	}
}

func TestForeignPasses(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.1")
	for name, ask := range map[string]func() Verdict{
		"a second cookie of this name": func() Verdict {
			if _, v, _ := s.ask("GET", "/blame/b", "192.0.2.1", "Cookie", "__Host-caddy-robots-pass=zz; "+cookie+"; __Host-caddy-robots-pass=yy"); v != Go {
				return v
			}
			return Stranger
		},
		"another browser": func() Verdict {
			_, v, _ := s.ask("GET", "/blame/b", "192.0.2.1", "Cookie", cookie, "User-Agent", strings.Replace(chrome, "131", "132", 1))
			return v
		},
		"a changed octet": func() Verdict {
			other := "AA"
			if strings.HasSuffix(cookie, other) {
				other = "BB"
			}
			_, v, _ := s.ask("GET", "/blame/b", "192.0.2.1", "Cookie", cookie[:len(cookie)-2]+other)
			return v
		},
	} {
		if v := ask(); v != Stranger {
			t.Errorf("%s: %v", name, v)
		}
	}
	s.host = "other.example"
	s.storm(40*time.Second, 20)
	if _, v, _ := s.ask("GET", "/blame/b", "192.0.2.1", "Cookie", cookie); v != Stranger {
		t.Errorf("another host: %v", v)
	}
}

// fetchStyle gets a page, and the style sheet of the page, without coming back.
func (s *site) fetchStyle(addr string) {
	s.t.Helper()
	page := s.serve("GET", "/blame/a", addr).Body.String()
	s.serve("GET", "/blame/a"+find(sheetForm, page), addr, forStyle...)
}

// waiting returns how many addresses the operator hears of that did not come back.
func (s *site) waiting() (n int) {
	for storm := range s.check.Storms {
		n += int(storm.waiting.Load())
	}
	return n
}

// Where nobody comes back, the operator hears of it, until somebody does. Nothing switches the
// check off.
func TestNobodyComesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	for i := range 2 * leastWaiting {
		s.fetchStyle(address(1<<20 + i/2))
	}
	if n := s.waiting(); n != leastWaiting {
		t.Errorf("%d addresses wait", n)
	}
	if through, all := s.storm(10*time.Second, 20); through > 0 {
		t.Errorf("%d of %d strangers get through", through, all)
	}
	s.ask("GET", "/blame/a", "192.0.2.1", "Cookie", s.pass("192.0.2.1"))
	if n := s.waiting(); n != 0 {
		t.Errorf("somebody came back, and %d wait", n)
	}
}

// A style sheet may go to another server with the same key.
func TestStyleSheetAtAnotherServer(t *testing.T) {
	t.Parallel()
	first, second := newSite(t, nil), newSite(t, nil)
	second.memory.ring.Store(first.memory.ring.Load())
	first.storm(40*time.Second, 20)
	second.now = first.now
	page := first.serve("GET", "/blame/a", "192.0.2.1").Body.String()
	if w := second.serve("GET", "/blame/a"+find(sheetForm, page), "192.0.2.1", forStyle...); len(w.Result().Cookies()) != 1 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.1")
	s.now = s.now.Add(-time.Hour)
	s.ask("GET", "/blame/b", "192.0.2.1", "Cookie", cookie)
	if s.storm(40*time.Second, 20); !s.isOn() {
		t.Error("off after the clock was set back")
	}
	b := &tab{site: s, addr: "192.0.2.9", script: true, styles: true, keepsCookie: true}
	if b.visit("/blame/a"); b.clicks != 0 {
		t.Errorf("%d clicks", b.clicks)
	}
}
