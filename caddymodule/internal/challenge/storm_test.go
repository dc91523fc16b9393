package challenge

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"

type nobody struct{}

func (nobody) Checked(Result)  {}
func (nobody) KeyFailed(error) {}

// site is a site with a check, and a clock.
type site struct {
	t      testing.TB
	now    time.Time
	check  *Check
	memory *Memory
	rules  *judge.Rules
	host   string
	q      judge.Request // the latest one
	scheme string
	// invented says that the host is one of *.example.com.
	invented bool
}

func (s *site) pattern() string {
	if s.invented {
		return "*.example.com"
	}
	return ""
}

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func newSite(t testing.TB, change func(*Config)) *site {
	t.Helper()
	m := NewMemory(nobody{})
	m.ready.Store(true)
	s := &site{t: t, now: noon, memory: m, host: "example.com", scheme: "https"}
	c := Config{Name: "challenge /blame/*", Over: 60, Window: time.Minute, For: 4 * time.Hour, Page: Builtin()}
	if change != nil {
		change(&c)
	}
	s.check = New(m, c)
	var err error
	settings := judge.Settings{Challenge: judge.Challenge{Paths: []string{"/blame/*"}}}
	if s.rules, err = settings.Rules(judge.Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /closed/\n")}); err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request. The fields are pairs of names and values; User-Agent replaces that
// of a browser, and an empty value removes a field. What goes on gets a page, or the file
// that its path has.
func (s *site) ask(method, target, addr string, fields ...string) (*Arrival, Verdict, *http.Request) {
	s.t.Helper()
	return s.askAnswered(method, target, addr, backend{}, fields...)
}

// backend is what a back end answers: without a status 200, without a type that of the
// path.
type backend struct {
	status int
	media  string
	field  string // a further one, with its value
	err    error
}

// askAnswered sends a request to which the back end has a certain answer.
func (s *site) askAnswered(method, target, addr string, as backend, fields ...string) (*Arrival, Verdict, *http.Request) {
	s.t.Helper()
	r := httptest.NewRequest(method, "https://"+s.host+target, nil)
	r.Header.Set("User-Agent", chrome)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	for i := 0; i < len(fields); i += 2 {
		if r.Header.Set(fields[i], fields[i+1]); fields[i+1] == "" {
			r.Header.Del(fields[i])
		}
	}
	s.q = judge.Request{
		Method: method, Target: target, UserAgents: r.Header["User-Agent"], Client: addr, Time: s.now,
		Origin: judge.NewOrigin(s.scheme, s.host, 443), Authorized: r.Header["Authorization"] != nil, Invented: s.invented, Site: s.pattern(),
	}
	a := new(Arrival)
	s.check.Receive(a, &s.q, r)
	var d judge.Decision
	s.rules.Check(&s.q, &d)
	v := s.check.Pace(a, &s.q, r, &d)
	if v == Go {
		s.answer(a, r, as)
	}
	a.End()
	return a, v, r
}

// answer answers a request that goes on.
func (s *site) answer(a *Arrival, r *http.Request, as backend) {
	w := a.Reach(httptest.NewRecorder())
	if as.err == nil {
		if as.media == "" {
			as.media = "text/html; charset=utf-8"
			if of := mime.TypeByExtension(path.Ext(r.URL.Path)); isFile(r.URL.Path) || path.Ext(r.URL.Path) == ".ico" {
				as.media = of
			}
		}
		if as.media != "none" {
			w.Header().Set("Content-Type", as.media)
		}
		if name, value, ok := strings.Cut(as.field, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(cmp.Or(as.status, http.StatusOK))
	}
	a.Done(as.err, r)
}

// address returns the address of stranger i.
func address(i int) string {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String()
}

// storm lets strangers come for a time, perSecond at a time, one request from each. It
// returns how many got through in the last half of the time.
func (s *site) storm(d time.Duration, perSecond int, fields ...string) (through, all int) {
	s.t.Helper()
	end, half := s.now.Add(d), s.now.Add(d/2)
	for ; s.now.Before(end); s.now = s.now.Add(time.Second) {
		for i := range perSecond {
			_, v, _ := s.ask("GET", "/blame/"+address(i), address(int(s.now.Unix()-noon.Unix())*perSecond+i), fields...)
			if !s.now.Before(half) {
				if all++; v == Go {
					through++
				}
			}
		}
	}
	return through, all
}

// isOn reports whether a stranger is asked.
func (s *site) isOn() bool {
	s.t.Helper()
	_, v, _ := s.ask("GET", "/blame/x", "192.0.2.250")
	return v == Stranger
}

func TestStormIsHeldWithinHalfAMinute(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string][]string{
		"a library's fields": nil,
		"a browser's fields": {"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
		"a forged cookie":    {"Cookie", "__Host-caddy-robots-pass=" + strings.Repeat("A", tokenLen)},
		"a referer":          {"Referer", "https://example.com/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, perSecond := range []int{2, 20, 200} {
				s := newSite(t, nil)
				if perSecond == 2 {
					s.storm(time.Minute, 2, fields...)
				}
				s.storm(30*time.Second, perSecond, fields...)
				if through, all := s.storm(10*time.Second, perSecond, fields...); through > 0 {
					t.Errorf("%d a second: %d of %d get through", perSecond, through, all)
				}
			}
		})
	}
}

// Cookies that have the form of another server's passes switch nothing off.
func TestForgedPassesOfAnotherServer(t *testing.T) {
	t.Parallel()
	s, key := newSite(t, nil), randomKey(noon)
	pass := key.text(newToken(noon).as(passByStyle), new(bearer))
	s.storm(30*time.Second, 20)
	if through, all := s.storm(30*time.Second, 20, "Cookie", "__Host-caddy-robots-pass="+pass); through > 0 {
		t.Errorf("%d of %d get through", through, all)
	}
}

func TestQuietSiteAsksNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.Over = 600 })
	if through, all := s.storm(5*time.Minute, 9); through != all {
		t.Errorf("%d of %d get through", through, all)
	}
}

// A flash crowd: documents, and the files that they embed.
func TestFlashCrowdIsNotAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range 2000 {
		if i%33 == 0 {
			s.now = s.now.Add(time.Second)
		}
		if _, v, _ := s.ask("GET", "/blame/a", address(i)); v != Go {
			t.Fatalf("visitor %d: %v", i, v)
		}
		if i >= 100 { // three seconds later
			for _, file := range []string{"/site.css", "/blame/lines.js"} {
				if _, v, _ := s.ask("GET", file, address(i-100), "Sec-Fetch-Dest", "style"); v != Go {
					t.Fatalf("file of visitor %d: %v", i, v)
				}
			}
		}
	}
}

// Loneliness ends with an embedded file within 20 seconds, and with nothing else.
func TestLonely(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what   string
		target string
		after  time.Duration
		lone   int32
	}{
		{"a style sheet", "/a.css", 3 * time.Second, 0},
		{"another page", "/", 19 * time.Second, 1},
		{"an icon", "/favicon.ico", time.Second, 1},
		{"a script just in time", "/a.js", 19 * time.Second, 0},
		{"too late", "/a.css", 20 * time.Second, 1},
		{"one more document", "/blame/b", 5 * time.Second, 2},
	} {
		s := newSite(t, nil)
		s.ask("GET", "/blame/a", "192.0.2.1")
		s.now = s.now.Add(tt.after)
		s.ask("GET", tt.target, "192.0.2.1")
		s.now = s.now.Add(20 * time.Second)
		s.ask("GET", "/blame/a", "192.0.2.2")
		for storm := range s.check.Storms {
			if got := storm.lone.Load(); got != tt.lone {
				t.Errorf("%s: %d lone, want %d", tt.what, got, tt.lone)
			}
		}
	}
}

func TestStormEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	if !s.isOn() {
		t.Fatal("the check is not on")
	}
	s.storm(6*time.Minute, 1) // as many as are allowed
	if !s.isOn() {
		t.Error("the check is off while half of the storm comes")
	}
	for range 30 {
		s.now = s.now.Add(10 * time.Second)
		if s.ask("GET", "/blame/x", address(int(s.now.Unix()))); s.now.Sub(noon) < 11*time.Minute && !s.isOn() {
			t.Errorf("off after %s", s.now.Sub(noon))
		}
	}
	s.now = s.now.Add(2 * time.Minute)
	if s.isOn() {
		t.Error("the check is on after the storm")
	}
}

// Where most visitors fetch no files here, all strangers' documents count.
func TestFilesElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range leastNetworks {
		s.ask("GET", "/", address(i<<8))
	}
	for range 40 {
		s.now = s.now.Add(time.Second)
		for i := range 4 { // everybody looks at two pages
			addr := address(int(s.now.Unix())*4 + i)
			s.ask("GET", "/blame/a", addr)
			s.ask("GET", "/", addr)
		}
	}
	if !s.isOn() {
		t.Error("the check is off")
	}
}

func TestBusyServer(t *testing.T) {
	t.Parallel()
	busy := false
	s := newSite(t, func(c *Config) { c.Over, c.Busy = 600, func() bool { return busy } })
	s.storm(time.Minute, 5)
	if s.isOn() {
		t.Fatal("the check is on below the number")
	}
	busy = true
	if s.storm(2*time.Second, 5); !s.isOn() {
		t.Error("the check is off while the server is busy with lone addresses")
	}
	s = newSite(t, func(c *Config) { c.Busy = func() bool { return true } })
	if s.each(5*time.Minute, 1, func(second, _ int) string { return address(second / 10) }, "Accept", "text/html"); !s.isOn() {
		t.Error("the check is off while the server is busy with six addresses a minute")
	}
	s = newSite(t, func(c *Config) { c.Busy = func() bool { return true } })
	for second := range 300 {
		s.now = s.now.Add(time.Second)
		if second%10 == 0 {
			s.ask("GET", "/blame/a", address(second))
		}
	}
	if s.isOn() {
		t.Error("the check is on for six pages a minute")
	}
}

// What a request says of itself opens nothing while the check is on, and keeps no storm from
// being seen.
func TestNoFieldIsAWayAround(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method string
		fields []string
	}{
		"Sec-Fetch-Dest: image":         {fields: []string{"Sec-Fetch-Dest", "image"}},
		"Sec-Fetch-Dest: empty":         {fields: []string{"Sec-Fetch-Dest", "empty"}},
		"Sec-Purpose":                   {fields: []string{"Sec-Purpose", "prefetch"}},
		"Upgrade":                       {fields: []string{"Upgrade", "x"}},
		"Accept":                        {fields: []string{"Accept", "image/*"}},
		"Authorization":                 {fields: []string{"Authorization", "x"}},
		"Range":                         {fields: []string{"Range", "bytes=0-"}},
		"If-None-Match":                 {fields: []string{"If-None-Match", "*"}},
		"curl":                          {fields: []string{"User-Agent", "curl/8.5.0"}},
		"an app":                        {fields: []string{"User-Agent", "Photos/1.0 CFNetwork/1410.0.3 Darwin/22.6.0"}},
		"MSIE":                          {fields: []string{"User-Agent", "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1)"}},
		"no User-Agent":                 {fields: []string{"User-Agent", ""}},
		"HEAD":                          {method: "HEAD"},
		"FOO":                           {method: "FOO"},
		"PROPFIND":                      {method: "PROPFIND"},
		"POST with a cookie":            {method: "POST", fields: []string{"Cookie", "a=b"}},
		"POST of a page":                {method: "POST", fields: []string{"Sec-Fetch-Site", "same-origin", "Cookie", "a=b"}},
		"a webhook":                     {method: "POST", fields: []string{"User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"}},
		"OPTIONS without its fields":    {method: "OPTIONS"},
		"a browser's fields":            {fields: opened},
		"a referer":                     {fields: []string{"Referer", "https://example.com/"}},
		"a forged pass":                 {fields: []string{"Cookie", "__Host-caddy-robots-pass=" + strings.Repeat("A", tokenLen)}},
		"a style sheet of the check":    {fields: []string{"Sec-Fetch-Dest", "style", "Sec-Fetch-Site", "same-origin"}},
		"a browser that nobody knows":   {fields: []string{"User-Agent", "NetSurf/3.11 (Linux)"}},
		"a name of a crawler, invented": {fields: []string{"User-Agent", "XQBot/1.0"}},
		"an unverified Googlebot":       {fields: []string{"User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, perSecond := range []int{4, 100} {
				s := newSite(t, nil)
				s.publish("")
				through := 0
				for i := range 10_000 {
					if i%perSecond == 0 {
						s.now = s.now.Add(time.Second)
					}
					target := "/blame/" + strconv.Itoa(i)
					if _, v, _ := s.ask(cmp.Or(tt.method, "GET"), target, address(i), tt.fields...); v == Go && s.now.Sub(noon) > time.Minute {
						through++
					}
				}
				allowed := 0
				if strings.Contains(name, "name of") || strings.Contains(name, "Googlebot") { // what `over` allows
					allowed = 60 + int(s.now.Sub(noon)/time.Second)
				}
				if through > allowed {
					t.Errorf("%d a second: %d of 10,000 get through after a minute", perSecond, through)
				}
			}
		})
	}
}

// A request counts when it reaches the back end, and is given back only by a complete answer
// that is no page.
func TestWhatIsAPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method string
		as     backend
		want   bool
	}{
		"a page":                {want: true},
		"XHTML":                 {as: backend{media: "application/xhtml+xml"}, want: true},
		"no type":               {as: backend{media: "none"}, want: true},
		"206":                   {as: backend{status: 206}, want: true},
		"304":                   {as: backend{status: 304, media: "none"}, want: true},
		"502":                   {as: backend{status: 502}, want: true},
		"an error 502":          {as: backend{err: caddyhttp.Error(502, nil)}, want: true},
		"broken off":            {as: backend{err: http.ErrHandlerTimeout}, want: true},
		"HEAD":                  {method: "HEAD", as: backend{media: "image/png"}, want: true},
		"JSON":                  {as: backend{media: "application/json"}},
		"a style sheet":         {as: backend{media: "text/css"}},
		"302":                   {as: backend{status: 302}},
		"404":                   {as: backend{status: 404}},
		"an error 404":          {as: backend{err: caddyhttp.Error(404, nil)}},
		"204":                   {as: backend{status: 204, media: "none"}},
		"101":                   {as: backend{status: 101, media: "none"}},
		"a hit of a cache":      {as: backend{field: "Cache-Status: Souin; hit; ttl=10"}},
		"a miss of a cache":     {as: backend{field: "Cache-Status: Souin; fwd=miss"}, want: true},
		"a page with a charset": {as: backend{media: "TEXT/HTML;charset=latin1"}, want: true},
	} {
		s := newSite(t, nil)
		for i := range 1200 {
			if i%20 == 0 {
				s.now = s.now.Add(time.Second)
			}
			s.askAnswered(cmp.Or(tt.method, "GET"), "/blame/a", address(i), tt.as)
		}
		if got := s.isOn(); got != tt.want {
			t.Errorf("%s: counts: %v", name, got)
		}
	}
}

// A name of a crawler that no rule binds never gets the page: it has `over`, and invented
// names share one.
func TestNamesOfCrawlers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.publish("")
	s.storm(40*time.Second, 20)
	count := func(fields ...string) (through int) {
		for i := range 1000 {
			_, v, _ := s.ask("GET", "/blame/a", address(i), fields...)
			if v == Go {
				through++
			}
			if v == Stranger {
				t.Errorf("%v get the page", fields)
				break
			}
		}
		return through
	}
	for _, ua := range []string{"Googlebot/2.1", "bingbot/2.0", "XQBot/1.0"} {
		if n := count("User-Agent", ua); n != 60 {
			t.Errorf("%s: %d get through", ua, n)
		}
	}
	if n := count("User-Agent", "YZBot/1.0"); n != 0 {
		t.Errorf("another invented name: %d get through", n)
	}
	if n := count("User-Agent", "kube-probe/1.29"); n != 1000 {
		t.Errorf("a probe: %d get through", n)
	}
	s.publish("User-agent: *\nDisallow: /closed/\n")
	if n := count("User-Agent", "XQBot/1.0"); n != 1000 {
		t.Errorf("a crawler that a rule binds: %d get through", n)
	}
}

// Who was known before the check went on may do all but open documents.
func TestKnownVisitors(t *testing.T) {
	t.Parallel()
	git := []string{"User-Agent", "git/2.47.1", "Accept", "*/*", "Authorization", "Basic eDp4"}
	form := append([]string{"Cookie", "session=1"}, opened...)
	hook := []string{"User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"}
	fetch := []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}
	for name, tt := range map[string]struct {
		before func(s *site, addr string)
		method string
		fields []string
		want   bool
	}{
		"git with credentials": {func(s *site, addr string) { s.ask("GET", "/p.git", addr, git...) }, "GET", git, true},
		"git that was refused": {func(s *site, addr string) { s.askAnswered("GET", "/p.git", addr, backend{status: 401}, git...) }, "GET", git, false},
		"a form":               {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "POST", form, true},
		"a form, after a visit": {func(s *site, addr string) {
			s.ask("GET", "/", addr, opened...)
			s.ask("GET", "/a.css", addr, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "style")
		}, "POST", form, true},
		"a form, after a page alone": {func(s *site, addr string) { s.ask("GET", "/", addr, opened...) }, "POST", form, false},
		"a webhook":                  {func(s *site, addr string) { s.ask("POST", "/hook", addr, hook...) }, "POST", hook, true},
		"a script of a regular":      {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "GET", fetch, true},
		"a document of a regular":    {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "GET", opened, false},
		"somebody else there":        {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "POST", append([]string{"User-Agent", chrome + " x"}, form...), false},
		"a stranger":                 {func(*site, string) {}, "POST", form, false},
		"a bare POST":                {func(s *site, addr string) { s.ask("POST", "/login", addr) }, "POST", nil, false},
	} {
		s := newSite(t, nil)
		tt.before(s, "192.0.2.1")
		s.now = s.now.Add(23 * time.Hour)
		s.storm(40*time.Second, 20)
		s.ask("POST", "/login", "192.0.2.2", form...) // too late
		if _, v, _ := s.ask(tt.method, "/blame/a", "192.0.2.1", tt.fields...); v == Go != tt.want {
			t.Errorf("%s: %v", name, v)
		}
		if _, v, _ := s.ask("POST", "/blame/a", "192.0.2.2", form...); v == Go {
			t.Errorf("%s: who came after the check went on is known", name)
		}
		if !tt.want {
			continue
		}
		through := 0
		for range 1000 {
			if _, v, _ := s.ask(tt.method, "/blame/a", "192.0.2.1", tt.fields...); v == Go {
				through++
			}
		}
		if through > knownBurst {
			t.Errorf("%s: %d pages at once", name, through)
		}
		s.now = s.now.Add(time.Hour)
		for range 1000 { // what is no page
			if _, v, _ := s.askAnswered(tt.method, "/blame/a", "192.0.2.1", backend{media: "application/json"}, tt.fields...); v != Go {
				t.Fatalf("%s: an answer that is no page counts", name)
			}
		}
	}
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	if _, v, _ := s.ask("OPTIONS", "/blame/a", "192.0.2.3", "Origin", "https://x.test", "Access-Control-Request-Method", "PUT"); v != Go {
		t.Errorf("a CORS preflight: %v", v)
	}
}

// each lets clients come for a time, n of them each second, and returns whether the check went
// on. from returns the address of client i of a second.
func (s *site) each(d time.Duration, n int, from func(second, i int) string, fields ...string) (on bool) {
	s.t.Helper()
	for second := range int(d / time.Second) {
		s.now = s.now.Add(time.Second)
		for i := range n {
			if _, v, _ := s.ask("GET", "/blame/a", from(second, i), fields...); v != Go {
				on = true
			}
		}
	}
	return on
}

// An address counts at most twenty pages a minute, and then as a lone one, whatever it fetches.
// An IPv6 /48 is one address.
func TestWhatAnAddressCounts(t *testing.T) {
	t.Parallel()
	v6 := func(_, i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }
	for _, tt := range []struct {
		what   string
		second int
		from   func(second, i int) string
		embeds bool
		want   bool
	}{
		{"three addresses at full speed", 30, func(_, i int) string { return address(i % 3) }, false, false},
		{"four addresses at full speed", 40, func(_, i int) string { return address(i % 4) }, false, true},
		{"four that fetch style sheets", 40, func(_, i int) string { return address(i % 4) }, true, true},
		{"fifty /64s of one /48 at 60 a minute", 50, v6, false, false},
		{"four /48s", 4, func(_, i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, false, true},
		{"an office of forty people at one address", 1, func(int, int) string { return address(1) }, true, false},
		{"forty people at their pace, with style sheets", 40, func(second, i int) string {
			return address(second/20*40 + i)
		}, true, true},
		{"one lone page a minute", 1, func(second, _ int) string { return address(second / 60) }, false, false},
	} {
		s := newSite(t, nil)
		if tt.embeds {
			for i := range 1 << 8 {
				s.ask("GET", "/a.css", address(i))
			}
		}
		if got := s.each(3*time.Minute, tt.second, tt.from); got != tt.want {
			t.Errorf("%s: on: %v", tt.what, got)
		}
	}
}

// Very many addresses that were never seen before count at once: a burst of seconds gets
// little. A crowd that fetches what pages embed does not.
func TestBurstOfNewAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	through := 0
	for second := range 20 {
		s.now = s.now.Add(time.Second)
		for i := range 500 {
			if _, v, _ := s.ask("GET", "/blame/a", address(second*500+i)); v == Go {
				through++
			}
		}
	}
	if through > 2000 {
		t.Errorf("%d of 10,000 pages in a burst of 20 seconds", through)
	}
	s = newSite(t, nil)
	for second := range 60 {
		s.now = s.now.Add(time.Second)
		for i := range 200 {
			s.ask("GET", "/blame/a", address(second*200+i))
		}
		for i := range 200 { // a second later
			if second > 0 {
				s.ask("GET", "/a.css", address((second-1)*200+i))
			}
		}
	}
	if s.isOn() {
		t.Error("a crowd of 200 people a second is asked")
	}
}

// While the check is on no page leaves, and yet it stays on, without a gap.
func TestStormOfHalfAnHour(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(time.Minute, 10)
	for minute := range 30 {
		if through, all := s.storm(time.Minute, 2); through > 0 {
			t.Fatalf("minute %d: %d of %d get through", minute, through, all)
		}
	}
}

// Passes hide no storm, nor do machines with many requests.
func TestOneClientHidesNoStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	var cookies []string
	for i := range 10 {
		cookies = append(cookies, s.pass(fmt.Sprintf("192.0.2.%d", i)))
	}
	s.now = s.now.Add(time.Hour) // the check is off again
	s.ask("GET", "/a.css", "192.0.2.3")
	for range 60 {
		s.now = s.now.Add(time.Second)
		for i := range 20 {
			s.ask("GET", "/blame/a", address(int(s.now.Unix())*20+i))
		}
		for i := range 100 {
			s.ask("GET", "/blame/b", "192.0.2.3")
			s.ask("GET", "/blame/c", "192.0.2.1", "Cookie", cookies[i%10])
		}
	}
	if !s.isOn() {
		t.Error("the check is off")
	}
}

// Whether visitors embed files is counted by networks, whatever comes first.
func TestBlindness(t *testing.T) {
	t.Parallel()
	blind := func(s *site) bool {
		for storm := range s.check.Storms {
			return storm.State(s.now).Blind
		}
		return false
	}
	s := newSite(t, nil)
	for i := range 1000 { // all of one /48, and of four /24
		s.ask("GET", "/", fmt.Sprintf("2001:db8:0:%x::1", i))
		s.ask("GET", "/", address(i))
	}
	if blind(s) {
		t.Error("a few networks make it blind")
	}
	s = newSite(t, nil)
	for i := range 200 { // first the page of the check and what it embeds
		s.ask("GET", "/blame/a", address(i<<8))
		s.ask("GET", "/a.css", address(i<<8))
		s.ask("GET", "/", address(i<<8))
	}
	if blind(s) {
		t.Error("files before the page do not count")
	}
	for i := range 203 {
		s.ask("GET", "/", address(1<<20+i<<8))
	}
	if !blind(s) {
		t.Error("it is not blind, though most networks embed nothing")
	}
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	for _, host := range []string{"", "example.com"} {
		if s.check.Set(host, false); s.isOn() {
			t.Errorf("on after off for %q", host)
		}
		if s.check.Set(host, true); !s.isOn() {
			t.Errorf("off after on for %q", host)
		}
	}
	if s.check.Set("other.example", false); !s.isOn() {
		t.Error("off for another host")
	}
	s.memory.ready.Store(false)
	if s.isOn() {
		t.Error("on before keys were looked for: who has a pass would be asked")
	}
}
