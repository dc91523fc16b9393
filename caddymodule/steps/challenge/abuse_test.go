package challenge

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// The style sheet's cookie is only for the browser that says that a page of the same origin
// wants it, or says nothing: no link and no image of another site plants a pass.
func TestWhoGetsTheStyleSheetsCookie(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	const addr = "192.0.2.1"
	sheet := func() string { return find(sheetForm, s.serve("GET", "/blame/a", addr).Body.String()) }
	for _, tt := range []struct {
		dest, site string
		want       bool
	}{
		{"style", "same-origin", true}, {"", "", true}, {"style", "cross-site", false}, {"style", "same-site", false}, {"style", "none", false},
		{"style", "", false}, {"", "same-origin", false}, {"document", "cross-site", false}, {"document", "none", false}, {"image", "same-origin", false},
		{"empty", "same-origin", false},
	} {
		w := s.serve("GET", "/blame/a"+sheet(), addr, "Sec-Fetch-Dest", tt.dest, "Sec-Fetch-Site", tt.site)
		if got := len(w.Result().Cookies()) > 0; got != tt.want || w.Code != http.StatusOK {
			t.Errorf("dest %q, site %q: %d, cookie: %v", tt.dest, tt.site, w.Code, got)
		}
	}
}

// No bound lasts longer after the clock was set back.
func TestBoundsAfterClockSetBack(t *testing.T) {
	t.Parallel()
	var b bucket
	for b.take(noon, ownPages) == 0 {
	}
	if wait := b.take(noon.Add(-time.Hour), ownPages); wait > 0 {
		t.Errorf("a bound holds for %s", wait)
	}
	for b.take(noon, ownPages) == 0 {
	}
	if b.take(noon.Add(-30*time.Second), ownPages) == 0 {
		t.Error("a request that was overtaken empties the bound")
	}
}

// Who presses the button of an old page gets a fresh page, and not
// what the site answers to a POST. Forms of the site go on.
func TestLatePress(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	page := s.serve("GET", "/blame/a?x=1", "192.0.2.1").Body.String()
	target := "/blame/a" + find(buttonForm, page)
	press := func(addr string, fields ...string) (status int, location string) {
		w := s.serve("POST", target, addr, fields...)
		return w.Code, w.Header().Get("Location")
	}
	if status, to := press("198.51.100.1"); status != http.StatusSeeOther || !strings.HasPrefix(to, "/blame/a?x=1&"+parameter) {
		t.Errorf("another exit of the same person: %d to %s", status, to)
	}
	s.now = s.now.Add(2 * time.Hour)
	if status, _ := press("198.51.100.1", "Sec-Fetch-Dest", "empty", "Cookie", "a=b"); status != http.StatusOK {
		t.Errorf("a script: %d", status)
	}
	if status, to := press("192.0.2.1"); status != http.StatusSeeOther || to != "/blame/a?x=1" {
		t.Errorf("two hours later: %d to %s", status, to)
	}
}

// A client that has another network for each request is not sent round in circles.
func TestEachRequestFromAnotherNetwork(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	page := s.serve("GET", "/blame/a", "192.0.2.1").Body.String()
	if w := s.serve("GET", "/blame/a"+find(sheetForm, page), "198.51.100.1"); len(w.Result().Cookies()) > 0 {
		t.Error("a pass for another network")
	}
	next := find(openForm, page)
	w := s.serve("GET", "/blame/a?"+next, "203.0.113.1")
	if body := w.Body.String(); w.Code != http.StatusTooManyRequests || strings.Contains(body, "<script") ||
		strings.Contains(body, "refresh") {
		t.Errorf("it goes on by itself again: %d\n%s", w.Code, body)
	}
	other := ring{rand.Text()}
	s.memory.ring.Store(&other) // another server
	w = s.serve("GET", "/blame/a?"+next, "192.0.2.1")
	if w.Code != http.StatusTooManyRequests || strings.Contains(w.Body.String(), "<script") {
		t.Errorf("it goes on by itself again at another server: %d", w.Code)
	}
	s.now = s.now.Add(tokenLife + time.Second)
	if w := s.serve("GET", "/blame/a?"+next, "192.0.2.1"); w.Header().Get("Location") != "/blame/a" {
		t.Errorf("an old URL: %d to %s", w.Code, w.Header().Get("Location"))
	}
}

// A neighbour at the same address, with the same browser, who fetches a trap URL again and again
// keeps nobody from the pages: who pressed the button has them, also without cookies.
func TestNeighbourInATrap(t *testing.T) {
	t.Parallel()
	for _, keepsCookie := range []bool{true, false} {
		s := trapped(t)
		const addr = "192.0.2.7"
		s.ask("GET", s.trapURL(addr), addr, opened...)
		page := s.serve("GET", "/blame/a", addr, opened...).Body.String()
		w := s.serve("POST", "/blame/a"+find(buttonForm, page), addr, opened...)
		s.ask("GET", s.trapURL(addr), addr, opened...)
		fields := opened
		if keepsCookie {
			c := w.Result().Cookies()[0]
			fields = append([]string{"Cookie", c.Name + "=" + c.Value}, opened...)
		}
		if w := s.serve("GET", w.Header().Get("Location"), addr, fields...); w.Code != http.StatusOK && w.Code != http.StatusSeeOther {
			t.Errorf("with cookies: %v: %d after the press", keepsCookie, w.Code)
		}
		if w := s.serve("GET", "/blame/b", addr, fields...); keepsCookie && w.Code != http.StatusOK {
			t.Errorf("with cookies: %v: %d for the next page", keepsCookie, w.Code)
		}
		if !s.isAsked(addr, opened...) {
			t.Error("the neighbour is not asked")
		}
	}
}

// A stranger leaves nothing behind but what is counted of the address, whatever its User-Agents are:
// no machine displaces what is remembered of others by inventing names.
func TestInventedUserAgentsTakeNoMemory(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range 1000 {
		if i == 500 {
			s.storm(40*time.Second, 1)
		}
		s.ask("GET", "/blame/a", "192.0.2.7", "User-Agent", fmt.Sprint(chrome, i))
		s.ask("GET", "/other", "192.0.2.7", "User-Agent", fmt.Sprint(chrome, i))
	}
	n := 0
	for range s.memory.memos.All() {
		n++
	}
	if n > 1+40 { // the addresses
		t.Errorf("%d values are kept", n)
	}
}

// Scripts of other sites ask with OPTIONS whether they may send a request. All may ask, until the
// back end answers with a page; then only who is known or has a pass: it is no way around.
func TestPreflight(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	preflight := []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty",
		"Origin", "https://x.test", "Access-Control-Request-Method", "PUT"}
	s.ask("POST", "/login", "192.0.2.1", append([]string{"Cookie", "session=1"}, opened...)...)
	s.storm(40*time.Second, 20)
	passes := &tab{site: s, addr: "192.0.2.2", script: true, styles: true, keepsCookie: true}
	page := s.serve("GET", "/blame/a", passes.addr, opened...).Body.String()
	w := s.serve("GET", "/blame/a"+find(sheetForm, page), passes.addr, forStyle...)
	s.ask("GET", "/blame/a", passes.addr, append([]string{"Cookie", w.Result().Cookies()[0].String()}, opened...)...)
	for n := range 50 {
		if _, v, _ := s.askAnswered("OPTIONS", "/blame/a", fmt.Sprint("203.0.113.", n), backend{status: 204, media: "none"}, preflight...); v != Go {
			t.Fatalf("request %d: %v", n, v)
		}
	}
	s.ask("OPTIONS", "/other", "192.0.2.3", preflight...)
	s.ask("OPTIONS", "/blame/a", "192.0.2.3", preflight...)
	for addr, want := range map[string]Verdict{"192.0.2.1": Go, passes.addr: Go, "192.0.2.4": Stranger} {
		if _, v, _ := s.ask("OPTIONS", "/blame/a", addr, preflight...); v != want {
			t.Errorf("after a page, %s: %v", addr, v)
		}
	}
}

// A pass has as many parts of files, and files that the browser has already, as it wants.
func TestPartsOfFilesAreNoPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.1")
	for name, tt := range map[string]struct {
		target string
		as     backend
		want   int
	}{
		"a film":              {"/blame/a.mp4", backend{status: 206, media: "video/mp4"}, 1000},
		"a picture":           {"/blame/a.png", backend{status: 304, media: "none"}, 1000},
		"parts of a page":     {"/blame/a", backend{status: 206, media: "multipart/byteranges; boundary=x"}, 120},
		"a part of a page":    {"/blame/a", backend{status: 206}, 120},
		"a page, not changed": {"/blame/a", backend{status: 304, media: "none"}, 120},
	} {
		s.now = s.now.Add(3 * time.Minute)
		s.storm(40*time.Second, 20)
		n := 0
		for range 1000 {
			if _, v, _ := s.askAnswered("GET", tt.target, "192.0.2.1", tt.as, "Cookie", cookie); v == Go {
				n++
			}
		}
		if n != tt.want {
			t.Errorf("%s: %d, want %d", name, n, tt.want)
		}
	}
}

// A link of another site with a token that it made itself shows nobody the page but strangers on the
// paths of the check: no crawler's index has it.
func TestLinksWithForgedTokens(t *testing.T) {
	t.Parallel()
	const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	forged := func(s *site) string {
		return "?" + parameter + ring{rand.Text()}.text(newToken(s.now).as(openToken), new(bearer))
	}
	for name, tt := range map[string]struct {
		path, method, agent, robotsTxt string
		calm                           bool
		want                           int
	}{
		"a stranger in calm":             {path: "/blame/a", agent: chrome, calm: true, want: http.StatusSeeOther},
		"a stranger":                     {path: "/blame/a", agent: chrome, want: http.StatusTooManyRequests},
		"another page":                   {path: "/other", agent: chrome, want: http.StatusSeeOther},
		"a crawler that no rule binds":   {path: "/blame/a", agent: googlebot, want: http.StatusSeeOther},
		"a crawler that a rule binds":    {path: "/blame/a", agent: googlebot, robotsTxt: "User-agent: *\nDisallow: /x\n", want: http.StatusSeeOther},
		"a health check":                 {path: "/blame/a", agent: "kube-probe/1.29", want: http.StatusSeeOther},
		"DELETE of who is never asked":   {path: "/blame/a", method: "DELETE", agent: "kube-probe/1.29", want: http.StatusOK},
		"POST of a stranger":             {path: "/blame/a", method: "POST", agent: chrome, want: http.StatusSeeOther},
		"DELETE of a stranger elsewhere": {path: "/other", method: "DELETE", agent: chrome, want: http.StatusOK},
	} {
		s := newSite(t, nil)
		s.publish(tt.robotsTxt)
		if !tt.calm {
			s.storm(40*time.Second, 20)
		}
		if w := s.serve(cmp.Or(tt.method, "GET"), tt.path+forged(s), "192.0.2.1", "User-Agent", tt.agent); w.Code != tt.want {
			t.Errorf("%s: %d, want %d", name, w.Code, tt.want)
		}
	}
}

// The button of the page is pressed on the page: no link, image or form of another site gives a pass.
func TestButtonOfAnotherSite(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	target := "/blame/a" + find(buttonForm, s.serve("GET", "/blame/a", "192.0.2.1").Body.String())
	for _, tt := range []struct {
		method, site string
		want         bool
	}{
		{"POST", "same-origin", true}, {"POST", "", true}, {"POST", "cross-site", false}, {"POST", "same-site", false}, {"POST", "none", false},
		{"GET", "same-origin", false}, {"GET", "", false}, {"HEAD", "", false}, {"PUT", "same-origin", false},
	} {
		w := s.serve(tt.method, target, "192.0.2.1", "Sec-Fetch-Site", tt.site)
		if got := len(w.Result().Cookies()) > 0; got != tt.want {
			t.Errorf("%s from %q: %d, cookie: %v", tt.method, tt.site, w.Code, got)
		}
	}
}

// A pass is given for the style sheet's token, to a style sheet, and for the button's, to a press, each
// in its time: for no other.
func TestWhatGivesAPass(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	b := bearer{origin: judge.NewOrigin(s.scheme, s.host, 443), addr: netip.MustParseAddr("192.0.2.1"), userAgent: chrome, target: "/blame/a"}
	for kind := styleToken; kind <= trapToken; kind++ {
		for _, age := range []time.Duration{-time.Minute, 0, tokenLife, tokenLife + 2*time.Second, buttonLife, buttonLife + 2*time.Second} {
			token := newToken(s.now.Add(-age)).as(kind)
			target := "/blame/a?" + parameter + s.memory.keys().text(token, &b)
			isStyle := len(s.serve("GET", target, "192.0.2.1", forStyle...).Result().Cookies()) > 0
			isPress := len(s.serve("POST", target, "192.0.2.1", opened...).Result().Cookies()) > 0
			if want := kind == styleToken && age >= 0 && age <= tokenLife; isStyle != want {
				t.Errorf("kind %d, %s old: the style sheet gives a pass: %v", kind, age, isStyle)
			}
			if want := kind == buttonToken && age >= 0 && age <= buttonLife; isPress != want {
				t.Errorf("kind %d, %s old: the button gives a pass: %v", kind, age, isPress)
			}
		}
	}
}

// Who goes through the names of crawlers gets ten times what one name gets.
func TestManyNames(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.publish("")
	s.storm(40*time.Second, 20)
	names := strings.Fields("Googlebot bingbot GPTBot CCBot ClaudeBot PerplexityBot Bytespider Amazonbot Applebot AhrefsBot SemrushBot MJ12bot " +
		"DotBot PetalBot YandexBot Baiduspider DuckDuckBot SeznamBot Qwantbot archive.org_bot")
	through := make(map[string]int)
	for i := range 100 * len(names) {
		name := names[i%len(names)]
		if _, v, _ := s.ask("GET", "/blame/a", address(i), "User-Agent", name+"/1.0"); v == Go {
			through[name]++
			through[""]++
		}
	}
	if n := through[""]; n != 600 || len(through) != 1+len(names) {
		t.Errorf("%d pages: %v", n, through)
	}
}

// While no storm is, a crawler that no rule binds comes as fast as it wants.
func TestFastCrawlersInCalm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.publish("")
	for i := range 1000 {
		if i%10 == 0 {
			s.now = s.now.Add(time.Second)
		}
		if _, v, _ := s.ask("GET", "/blame/a", "192.0.2.1", "User-Agent", "bingbot/2.0"); v != Go {
			t.Fatalf("request %d: %v", i, v)
		}
	}
}
