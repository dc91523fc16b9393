package challenge

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

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
// of a browser.
func (s *site) ask(method, target, addr string, fields ...string) (*Arrival, Verdict, *http.Request) {
	s.t.Helper()
	r := httptest.NewRequest(method, "https://"+s.host+target, nil)
	r.Header.Set("User-Agent", chrome)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	s.q = judge.Request{
		Method: method, Target: target, UserAgents: r.Header["User-Agent"], Client: addr, Time: s.now,
		Origin: judge.NewOrigin(s.scheme, s.host, 443), Authorized: r.Header["Authorization"] != nil, Invented: s.invented, Site: s.pattern(),
	}
	a := new(Arrival)
	s.check.Receive(a, &s.q, r)
	var d judge.Decision
	s.rules.Check(&s.q, &d)
	return a, s.check.Pace(a, &s.q, r, &d), r
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

// Loneliness ends with any other request within 20 seconds, also with one that comes late,
// and not with a further document.
func TestLonely(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what   string
		target string
		after  time.Duration
		lone   int32
	}{
		{"a style sheet", "/a.css", 3 * time.Second, 0},
		{"another page", "/", 19 * time.Second, 0},
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
	for i := range 20 {
		s.ask("GET", "/", address(i))
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
}

// Clients that are no browsers share what the setting allows.
func TestOthersShareABound(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	count := func(method string, fields ...string) (through int) {
		for i := range 2000 {
			if _, v, _ := s.ask(method, "/blame/a", address(i), fields...); v == Go {
				through++
			}
		}
		return through
	}
	for _, ua := range []string{"curl/8.5.0", "Lynx/2.8.9", "Mozilla/5.0 (Linux) mirall/3.0", "Photos/1.0 CFNetwork/1410.0.3 Darwin/22.6.0", "python-requests/2.31"} {
		if n := count("GET", "User-Agent", ua); n > 60 {
			t.Errorf("%s: %d get through", ua, n)
		}
	}
	if n := count("POST"); n > 60 {
		t.Errorf("bare POST: %d", n)
	}
	s.now = s.now.Add(time.Minute)
	for name, fields := range map[string][]string{
		"images": {"Sec-Fetch-Dest", "image"}, "credentials": {"Authorization", "Basic eDp4"}, "prefetches": {"Sec-Purpose", "prefetch"},
	} {
		if n := count("GET", fields...); n > 60 {
			t.Errorf("%s: %d get through at once", name, n)
		}
	}
	for _, ua := range []string{"GPTBot/1.0", "kube-probe/1.29"} { // a rule binds the first one
		if n := count("GET", "User-Agent", ua); n != 2000 {
			t.Errorf("%s: %d get through", ua, n)
		}
	}
	if n := count("POST", "User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"); n != 2000 {
		t.Errorf("webhooks: %d get through", n)
	}
	if _, v, _ := s.ask("GET", "/other", "192.0.2.9", "User-Agent", "curl/8.5.0"); v != Go {
		t.Error("another path is held")
	}
}

// A few machines are no storm, however many documents they request.
func TestFewAddressesAreNoStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for range 60 {
		s.now = s.now.Add(time.Second)
		for i := range 30 {
			s.ask("GET", "/blame/a", address(i%3))
		}
	}
	if s.isOn() {
		t.Error("three addresses switch the check on")
	}
}

// Neither a machine with many requests nor a client with a pass hides a storm.
func TestOneClientHidesNoStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	cookie := s.pass("192.0.2.1")
	s.now = s.now.Add(time.Hour) // the check is off again
	for range 60 {
		s.now = s.now.Add(time.Second)
		for i := range 20 {
			s.ask("GET", "/blame/a", address(int(s.now.Unix())*20+i))
		}
		for range 100 {
			s.ask("GET", "/blame/b", "192.0.2.3")
			s.ask("GET", "/blame/c", "192.0.2.1", "Cookie", cookie)
		}
	}
	if !s.isOn() {
		t.Error("the check is off")
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
