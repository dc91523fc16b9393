package challenge

import (
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Use renews a pass when half of its time is over, on answers that no shared cache may
// store, and until 24 hours after it was made.
func TestRenewal(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Always = true })
	pass, b := newToken(s.now).as(passByStyle), bearer{origin: judge.NewOrigin("https", s.host, 443), userAgent: chrome}
	cookie := s.check.cookie(pass, &b, s.check.For)
	for _, step := range []struct {
		after   time.Duration // since the pass was made
		control string
		want    int // Max-Age in seconds; 0: no cookie, -1: the pass is not good
	}{
		{time.Hour, "private", 0},
		{3 * time.Hour, "max-age=60", 0},
		{3 * time.Hour, "private, max-age=60", 4 * 3600},
		{6 * time.Hour, "no-store", 4 * 3600}, // by the renewed cookie, as all that follow
		{9 * time.Hour, "no-store", 4 * 3600},
		{12 * time.Hour, "no-store", 4 * 3600},
		{15 * time.Hour, "no-store", 4 * 3600},
		{18 * time.Hour, "no-store", 4 * 3600},
		{21 * time.Hour, "no-store", 3 * 3600},
		{23 * time.Hour, "no-store", 0},
		{25 * time.Hour, "no-store", -1},
	} {
		s.now = noon.Add(step.after)
		_, v, _ := s.askAnswered("GET", "/blame/a", "192.0.2.1", backend{field: "Cache-Control: " + step.control}, "Cookie", cookie.Name+"="+cookie.Value)
		got := -1
		if v == Go {
			got = 0
			for _, c := range s.sent.Result().Cookies() {
				cookie, got = c, c.MaxAge
			}
		}
		if got != step.want {
			t.Errorf("after %s, %s: %d, want %d", step.after, step.control, got, step.want)
		}
	}
}

// Who is excepted is never asked: by an address, or by the name of a crawler.
func TestExcept(t *testing.T) {
	c := &Challenge{Paths: []string{"/blame/*"}, Except: []string{"Feedly", "203.0.113.0/24", "2001:db8::1"}}
	settings, err := c.config()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *Config) { c.Always, c.Names, c.From = true, settings.Names, settings.From })
	for _, tt := range []struct {
		addr, agent string
		want        Verdict
	}{
		{"203.0.113.9", chrome, Go},
		{"2001:db8::1", chrome, Go},
		{"203.0.114.9", chrome, Stranger},
		{"192.0.2.1", "Mozilla/5.0 (compatible; Feedly/1.0; +https://feedly.com/fetcher.html)", Go},
	} {
		for i := range 100 { // more than a name that is not excepted may have
			if _, v, _ := s.ask("GET", fmt.Sprint("/blame/", i), tt.addr, "User-Agent", tt.agent); v != tt.want {
				t.Errorf("%s, %s: %d", tt.addr, tt.agent, v)
				break
			}
		}
	}
}
