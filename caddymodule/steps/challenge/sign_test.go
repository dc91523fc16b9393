package challenge

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// trapped adds a trap to a site, which each group of its robots.txt disallows.
func trapped(t *testing.T) *site {
	t.Helper()
	s := newSite(t, func(c *Config) { c.trap = "/calendar-all/" })
	s.publish("User-agent: *\nDisallow: /calendar-all/\n")
	return s
}

// publish replaces the site's robots.txt.
func (s *site) publish(text string) {
	s.t.Helper()
	var err error
	s.rules, err = judge.Settings{}.Rules(judge.Response{Status: 200, Body: []byte(text)})
	if err != nil {
		s.t.Fatal(err)
	}
}

// trapURL returns a trap URL for an address.
func (s *site) trapURL(addr string) string {
	return s.check.TrapURL(&judge.Request{Client: addr, Time: s.now, Origin: judge.NewOrigin(s.scheme, s.host, 443)}, s.rules)
}

// opened are the fields of a request for a page that the user of a browser, or a page of
// the site, opens.
var opened = []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}

// isAsked reports whether a client gets the page for a path of the check.
func (s *site) isAsked(addr string, fields ...string) bool {
	s.t.Helper()
	a, v, _ := s.ask("GET", "/blame/a", addr, fields...)
	if v == Stranger && !a.alone {
		s.t.Error("the page goes on by itself")
	}
	return v == Stranger
}

// A request for a trap URL of its own address marks a client, unless another site, or a
// browser by itself, may have caused it.
func TestTrapMarks(t *testing.T) {
	t.Parallel()
	const addr, oldFirefox = "192.0.2.7", "Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Firefox/78.0"
	fields := func(site, mode, dest string, more ...string) []string {
		return append([]string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode, "Sec-Fetch-Dest", dest}, more...)
	}
	for name, tt := range map[string]struct {
		fields []string
		method string
		scheme string
		from   string
		after  time.Duration
		target func(string) string
		want   bool
	}{
		"a link of a page":            {fields: opened, want: true},
		"the address bar":             {fields: fields("none", "navigate", "document"), want: true},
		"a program without fields":    {want: true},
		"HEAD":                        {fields: opened, method: "HEAD", want: true},
		"with a query":                {fields: opened, target: func(u string) string { return u + "?utm_source=x" }, want: true},
		"the same /64":                {fields: opened, from: "2001:db8::ffff", want: true},
		"after 24 hours":              {fields: opened, after: trapLife, want: true},
		"a cookie":                    {fields: append([]string{"Cookie", "a=b"}, opened...), want: true},
		"after it expired":            {fields: opened, after: trapLife + time.Second},
		"another address":             {fields: opened, from: "192.0.2.8"},
		"a broken URL":                {fields: opened, target: func(u string) string { return u[:len(u)-3] + "AAA" }},
		"a file below it":             {fields: opened, target: func(u string) string { return u + "/x" }},
		"another path":                {fields: opened, target: func(u string) string { return "/x" + u }},
		"an image of another site":    {fields: fields("cross-site", "no-cors", "image")},
		"an image of the same site":   {fields: fields("same-origin", "no-cors", "image")},
		"a link on another site":      {fields: fields("cross-site", "navigate", "document", "Sec-Fetch-User", "?1")},
		"a link on a subdomain":       {fields: fields("same-site", "navigate", "document")},
		"a frame":                     {fields: fields("same-origin", "navigate", "iframe")},
		"a script's fetch":            {fields: fields("same-origin", "cors", "empty")},
		"a prefetch":                  {fields: append([]string{"Sec-Purpose", "prefetch;prerender"}, opened...)},
		"a prefetch with Purpose":     {fields: append([]string{"Purpose", "prefetch"}, opened...)},
		"a prefetch with X-Moz":       {fields: append([]string{"X-Moz", "prefetch"}, opened...)},
		"a form":                      {fields: opened, method: "POST"},
		"an Authorization field":      {fields: append([]string{"Authorization", "Basic eDp5"}, opened...)},
		"a browser without the field": {fields: []string{"User-Agent", oldFirefox}},
		"a crawler":                   {fields: []string{"User-Agent", "GPTBot/1.2"}},
	} {
		s := trapped(t)
		from, minted := addr, addr
		if tt.from != "" {
			from = tt.from
		}
		if strings.Contains(from, ":") {
			minted = "2001:db8::1"
		}
		target := s.trapURL(minted)
		if tt.target != nil {
			target = tt.target(target)
		}
		s.now = s.now.Add(tt.after)
		method := "GET"
		if tt.method != "" {
			method = tt.method
		}
		s.ask(method, target, from, tt.fields...)
		if got := s.isAsked(from, tt.fields...) || s.isAsked(from, opened...) || s.isAsked(from); got != tt.want {
			t.Errorf("%s: asked: %t, want %t", name, got, tt.want)
		}
	}
	s := trapped(t)
	s.scheme = "http"
	if u := s.trapURL(addr); u != "" {
		t.Errorf("a trap URL over plain HTTP: %s", u)
	}
}

// /robots.txt marks only who has a browser's name, and none of the fields that this browser
// always sends.
func TestRobotsTxtMarks(t *testing.T) {
	t.Parallel()
	const webView = "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36"
	for name, tt := range map[string]struct {
		fields []string
		want   bool
	}{
		"a script":         {nil, true},
		"a browser":        {opened, false},
		"one field":        {[]string{"Sec-Fetch-Mode", "navigate"}, false},
		"a prefetch":       {[]string{"Sec-Purpose", "prefetch"}, false},
		"credentials":      {[]string{"Authorization", "Basic eDp5"}, false},
		"a WebView":        {[]string{"User-Agent", webView}, false},
		"a robot's name":   {[]string{"User-Agent", "Mozilla/5.0 (compatible; ExampleBot/1.0)"}, false},
		"a program's name": {[]string{"User-Agent", "curl/8.5.0"}, false},
	} {
		s := newSite(t, nil)
		s.ask("GET", "/robots.txt", "192.0.2.7", tt.fields...)
		if got := s.isAsked("192.0.2.7", tt.fields...) || s.isAsked("192.0.2.7"); got != tt.want {
			t.Errorf("%s: asked: %t, want %t", name, got, tt.want)
		}
	}
	s := newSite(t, nil)
	s.scheme = "http"
	if s.ask("GET", "/robots.txt", "192.0.2.7"); s.isAsked("192.0.2.7") {
		t.Error("plain HTTP marks")
	}
}

// A mark touches no other client, no other path, and ends after a day; so does the check
// that the operator switched off.
func TestWhoIsMarked(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.ask("GET", "/robots.txt", "192.0.2.7")
	for name, fields := range map[string][]string{
		"a browser at the same address": opened, "another User-Agent": {"User-Agent", strings.Replace(chrome, "131", "132", 1)},
	} {
		if s.isAsked("192.0.2.7", fields...) {
			t.Errorf("%s is asked", name)
		}
	}
	if s.isAsked("192.0.2.8") {
		t.Error("another address is asked")
	}
	if _, v, _ := s.ask("GET", "/other", "192.0.2.7"); v != Go {
		t.Errorf("another path: %v", v)
	}
	s.host = "other.example"
	if s.isAsked("192.0.2.7") {
		t.Error("asked at another host")
	}
	s.host = "example.com"
	s.check.Switch("example.com", false)
	if s.isAsked("192.0.2.7") {
		t.Error("asked while the check is off")
	}
	s.check.Switch("example.com", true)
	s.now = s.now.Add(24 * time.Hour)
	if !s.isAsked("192.0.2.7") || !s.isAsked("192.0.2.7", "Accept", "image/*") {
		t.Error("not asked after 24 hours")
	}
	s.now = s.now.Add(time.Second)
	if s.isAsked("192.0.2.7") {
		t.Error("asked after more than 24 hours")
	}
}

// A press of the button frees at once, also a client that keeps no cookie; a pass that the
// style sheet gave does not.
func TestPressFrees(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{true, false} {
		s := newSite(t, nil)
		s.ask("GET", "/robots.txt", "192.0.2.7")
		b := &tab{site: s, addr: "192.0.2.7", script: true, styles: true, keepsCookie: keeps}
		if b.visit("/blame/a"); b.clicks != 1 {
			t.Errorf("cookies %t: %d clicks", keeps, b.clicks)
		}
		if b.visit("/blame/b"); keeps && b.clicks != 1 {
			t.Errorf("%d clicks for two pages", b.clicks)
		}
	}
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.7")
	s.now = s.now.Add(10 * time.Minute)
	s.ask("GET", "/robots.txt", "192.0.2.7")
	if !s.isAsked("192.0.2.7", "Cookie", cookie) {
		t.Error("a pass that the style sheet gave frees")
	}
}

// A trap that a group allows is not used.
func TestAllowedTraps(t *testing.T) {
	t.Parallel()
	s := trapped(t)
	u := s.trapURL("192.0.2.7")
	for text, want := range map[string]string{
		"User-agent: *\nDisallow: /calendar-all/\n\nUser-agent: GPTBot\nDisallow: /\n":   "",
		"User-agent: *\nDisallow: /calendar-all/\n\nUser-agent: GPTBot\nDisallow: /x/\n": "GPTBot (line 4)",
		"User-agent: *\nDisallow: /x/\n":                                                 "* (line 1)",
		"User-agent: GPTBot\nDisallow: /\n":                                              "no group for *",
		"User-agent: *\nDisallow: /calendar-all/\nAllow: /calendar-all/*x\n":             "* (line 1)",
		"": "no group for *",
	} {
		s.publish(text)
		if got := s.check.trap.Allowed(s.rules); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if want == "" || strings.Contains(text, "Allow:") {
			continue
		}
		if u := s.trapURL("192.0.2.7"); u != "" {
			t.Errorf("%q: the trap URL %s", text, u)
		}
		if s.ask(http.MethodGet, u, "192.0.2.7", opened...); s.isAsked("192.0.2.7", opened...) {
			t.Errorf("%q: the trap marks", text)
		}
	}
}

func TestParseTrap(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"/calendar-all/*", "/calendar-all/", "/a/b.c/~d/*", "/x/*"} {
		if got, err := ParseTrap(s); err != nil || string(got) != strings.TrimSuffix(s, "*") {
			t.Errorf("%s: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "/", "/*", "*", "x/", "/x", "/x*", "/x/*/y/*", "/x/**", "//x/", "/x//y/", "/a b/", "/a\n/", "/ä/", "/x?/", "/x%20/", "/{x}/", "/x$/", "/.well-known/x/", "/" + strings.Repeat("x", 256) + "/"} {
		if got, err := ParseTrap(s); err == nil {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// Only what was made for an address is a trap URL of it, in one spelling.
func FuzzTrap(f *testing.F) {
	s := newSite(f, func(c *Config) { c.trap = "/calendar-all/" })
	s.publish("User-agent: *\nDisallow: /calendar-all/\n")
	made := s.trapURL("192.0.2.7")
	f.Add(made)
	f.Add(made + "?x")
	f.Add("/calendar-all/" + strings.Repeat("A", tokenLen))
	f.Add(made[:20] + "\n" + made[20:])
	f.Fuzz(func(t *testing.T, target string) {
		path, _, _ := strings.Cut(target, "?")
		q := &judge.Request{Target: target, Client: "192.0.2.7", Time: s.now, Origin: judge.NewOrigin("https", s.host, 443)}
		if s.check.isTrapped(q, s.rules) != (path == made) {
			t.Errorf("%q", target)
		}
	})
}
