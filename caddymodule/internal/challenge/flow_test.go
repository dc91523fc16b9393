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
	a, v, r := s.ask(method, target, addr, fields...)
	switch v {
	case Go:
		_, _ = w.WriteString("the page " + r.URL.RequestURI() + " " + r.Header.Get("Cookie"))
	case TooMany:
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		if err := s.check.Serve(w, v, a, &s.q, r, http.StatusTooManyRequests); err != nil {
			s.t.Fatal(err)
		}
	}
	return w
}

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
		if m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">`).FindStringSubmatch(page); m != nil && b.styles {
			css, _, _ := strings.Cut(target, "?")
			if w := b.get("GET", css+m[1], "Sec-Fetch-Dest", "style"); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
				b.t.Fatalf("the style sheet: %d, %v", w.Code, w.Header())
			}
		}
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		if m := regexp.MustCompile(`"(caddy-robots-pass=[^"]*)"`).FindStringSubmatch(page); m != nil && b.script {
			target += separator + m[1]
			continue
		}
		path, _, _ := strings.Cut(target, "?")
		if m := regexp.MustCompile(`content="0; url=([^"]*)"`).FindStringSubmatch(page); m != nil && !b.script {
			target, fragment = path+html.UnescapeString(m[1]), ""
			continue
		}
		m := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page)
		if m == nil {
			b.t.Fatalf("no button: %d\n%s", w.Code, page)
		}
		b.clicks++
		target, fragment, method = path+html.UnescapeString(m[1]), "", "POST"
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
		{"no script", false, true, true, 0, false},
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
	if w := s.serve("GET", "/a?caddy-robots-pass=x", "192.0.2.1", "Sec-Fetch-Dest", "style"); w.Code != 200 || w.Body.Len() != 0 || len(w.Result().Cookies()) > 0 {
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

func TestBoundsOfAPass(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.1")
	through := func(n int, from func(int) string, fields ...string) (passed int) {
		for i := range n {
			if _, v, _ := s.ask("GET", "/blame/b", from(i), append(fields, "Cookie", cookie)...); v == Go {
				passed++
			}
		}
		return passed
	}
	one := func(int) string { return "192.0.2.1" }
	if n := through(1000, one); n < 100 || n > 120 {
		t.Errorf("%d documents at once", n)
	}
	s.now = s.now.Add(time.Minute)
	if n := through(1000, one); n < 59 || n > 61 {
		t.Errorf("%d documents in a minute", n)
	}
	s.now = s.now.Add(10 * time.Minute)
	s.storm(40*time.Second, 20)
	if n := through(5000, one, "Sec-Fetch-Dest", "image"); n != 1200 {
		t.Errorf("%d images", n)
	}
	s.now = s.now.Add(10 * time.Minute)
	s.storm(40*time.Second, 20)
	networks := func(i int) string { return "203." + address(i * 256)[3:] }
	if n := through(100, networks); n > 16 {
		t.Errorf("the pass is good in %d networks", n)
	}
	s.now = s.now.Add(4 * time.Hour)
	s.storm(40*time.Second, 20)
	if n := through(5, one); n != 0 {
		t.Error("the pass is good after its time")
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

// An address gets 30 passes an hour, and more only by the button.
func TestPassesOfAnAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	seen := make(map[string]bool)
	for range passesAnHour {
		seen[s.pass("192.0.2.1")] = true
	}
	if len(seen) != passesAnHour {
		t.Errorf("%d passes", len(seen))
	}
	b := &tab{site: s, addr: "192.0.2.1", script: true, styles: true, keepsCookie: true}
	if b.visit("/blame/a"); b.clicks != 1 {
		t.Errorf("pass 31: %d clicks", b.clicks)
	}
	page := s.serve("GET", "/blame/a", "192.0.2.1").Body.String()
	action := html.UnescapeString(regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page)[1])
	if w := s.serve("POST", "/blame/a"+action, "192.0.2.1"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("a second press at once: %d, %v", w.Code, w.Header())
	}
	if s.pass("192.0.2.2") == "" {
		t.Error("another address gets no pass")
	}
}

// fetchStyle gets a page, and the style sheet of the page, without coming back.
func (s *site) fetchStyle(addr string) {
	s.t.Helper()
	page := s.serve("GET", "/blame/a", addr).Body.String()
	if m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">`).FindStringSubmatch(page); m != nil {
		s.serve("GET", "/blame/a"+m[1], addr, "Sec-Fetch-Dest", "style")
	}
}

func (s *site) trouble() string {
	for storm := range s.check.Storms {
		return storm.Trouble(s.now).Text
	}
	return ""
}

// Where nobody comes back, the operator hears of it, and the page has its button alone, until
// somebody comes back or an hour has passed. Nothing switches the check off.
func TestNobodyComesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	isAlone := func() bool {
		t.Helper()
		w := s.serve("GET", "/blame/x", "192.0.2.250")
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "<button") {
			t.Fatalf("no page: %d", w.Code)
		}
		return !strings.Contains(w.Body.String(), "<script")
	}
	s.storm(40*time.Second, 20)
	for i := range 40 {
		s.fetchStyle(address(1<<20 + i)) // all of one network
	}
	s.now = s.now.Add(11 * time.Second)
	if isAlone() || s.trouble() != "" {
		t.Error("one network makes it look broken")
	}
	for i := range troubled {
		s.fetchStyle(address(1<<20 + i<<8))
	}
	s.now = s.now.Add(11 * time.Second)
	if !isAlone() || !strings.Contains(s.trouble(), "nobody came back") {
		t.Errorf("nobody comes back, and health says: %q", s.trouble())
	}
	if through, all := s.storm(10*time.Second, 20); through > 0 {
		t.Errorf("%d of %d strangers get through", through, all)
	}
	page := s.serve("GET", "/blame/a", "192.0.2.1").Body.String()
	press := html.UnescapeString(regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page)[1])
	cookie := s.serve("POST", "/blame/a"+press, "192.0.2.1").Result().Cookies()[0]
	if s.ask("GET", "/blame/a", "192.0.2.1", "Cookie", cookie.Name+"="+cookie.Value); isAlone() || s.trouble() != "" {
		t.Error("somebody came back")
	}
	for i := range troubled {
		s.fetchStyle(address(1<<21 + i<<8))
	}
	s.storm(time.Hour+time.Minute, 1)
	if isAlone() || s.trouble() != "" {
		t.Error("it is not tried again after an hour")
	}
}

func TestAnotherServersPasses(t *testing.T) {
	t.Parallel()
	other := newSite(t, nil)
	other.storm(40*time.Second, 20)
	for _, fleet := range []bool{false, true} { // whose servers have one key
		s := newSite(t, nil)
		s.memory.inFleet.Store(fleet)
		s.storm(40*time.Second, 20)
		for i := range troubled {
			addr := address(1<<20 + i<<8)
			s.fetchStyle(addr)
			if _, v, _ := s.ask("GET", "/blame/b", addr, "Cookie", other.pass(addr)); v != Stranger {
				t.Errorf("%v", v)
			}
		}
		if s.now = s.now.Add(time.Second); !s.isOn() {
			t.Error("passes of another server switch the check off")
		}
		if why := s.trouble(); strings.Contains(why, "another server") == fleet {
			t.Errorf("in a fleet %v: %q", fleet, why)
		}
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
	m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">`).FindStringSubmatch(page)
	if w := second.serve("GET", "/blame/a"+m[1], "192.0.2.1", "Sec-Fetch-Dest", "style"); len(w.Result().Cookies()) != 1 {
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
