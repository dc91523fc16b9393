package enforce

import (
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

func TestFederates(t *testing.T) {
	const file = "User-agent: *\nDisallow: /users/\n\nUser-agent: NamedServer\nDisallow: /users/\n"
	const server = "snac/2.60 (+https://snac.example)"
	for _, tt := range []struct {
		name, ua, method, target, file string
		settings                       judge.Settings
		reason                         judge.Reason
		onlyDocument                   bool
	}{
		{"disallowed", server, "GET", "/users/a", file, judge.Settings{}, judge.NotCrawling, true},
		{"HEAD", server, "HEAD", "/users/a", file, judge.Settings{}, judge.NotCrawling, true},
		{"allowed", server, "GET", "/", file, judge.Settings{}, judge.Allowed, false},
		{"allowed, but slowly", server, "GET", "/", "User-agent: *\nCrawl-delay: 9\n", judge.Settings{}, judge.NotCrawling, true},
		{"another method", server, "OPTIONS", "/users/a", file, judge.Settings{}, judge.Disallowed, false},
		{"POST", server, "POST", "/users/a", file, judge.Settings{}, judge.NotCrawling, false},
		{"strict", server, "GET", "/users/a", file, judge.Settings{Strict: true}, judge.Disallowed, false},
		{"a crawler of the registry", fake.Bingbot, "GET", "/users/a", file, judge.Settings{}, judge.Disallowed, false},
		{"named by a group", "NamedServer/1.0 (+https://x.example)", "GET", "/users/a", file, judge.Settings{}, judge.Disallowed, false},
		{"and a crawler of the registry", server + " GPTBot/1.0", "GET", "/users/a", file, judge.Settings{}, judge.Disallowed, false},
		{"a person", fake.Chrome, "GET", "/users/a", file, judge.Settings{}, judge.Person, false},
		{"no rules", server, "GET", "/users/a", "", judge.Settings{}, judge.Unbound, false},
	} {
		e := newEngineTest(t, tt.file, tt.settings)
		r := judge.Request{Method: tt.method, UserAgents: []string{tt.ua}, Target: tt.target, Federates: true}
		if d := e.decideOn(r); d.Reason != tt.reason || d.OnlyDocument != tt.onlyDocument {
			t.Errorf("%s: %v, only a document: %v; want %v, %v", tt.name, d.Reason, d.OnlyDocument, tt.reason, tt.onlyDocument)
		}
	}
}

// Until the rules are known, a document passes, and nothing else.
func TestFederatesWithoutRules(t *testing.T) {
	e, err := NewEngine(judge.Settings{}, &fake.Source{Shared: true}, throttle.NewMemory(10), nil, origins.Config{Now: fake.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := &judge.Request{UserAgents: []string{"snac/2.60 (+https://snac.example)"}, Target: "/users/a", Federates: true}
	var c judge.Client
	var d judge.Decision
	e.Identify(&c, r, e.Origins().Pending())
	if c.Judge(&d); d.Action != judge.Pass || !d.OnlyDocument {
		t.Errorf("%v, %v, only a document: %v", d.Action, d.Reason, d.OnlyDocument)
	}
	r.Federates = false
	if c.Judge(&d); d.Reason != judge.RulesPending || d.OnlyDocument {
		t.Errorf("then: %v, only a document: %v", d.Reason, d.OnlyDocument)
	}
}

// An address has 60 such requests in any minute.
func TestMayFederate(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{})
	begin := e.clock.Now()
	passes := func(n int, after time.Duration, client, host string) (passed int) {
		for range n {
			if e.MayFederate(&judge.Request{Method: http.MethodGet, Client: client, Origin: judge.NewOrigin("https", host, 443), Time: begin.Add(after)}) {
				passed++
			}
		}
		return passed
	}
	for _, tt := range []struct {
		n            int
		after        time.Duration
		client, host string
		want         int
	}{
		{20, 0, "192.0.2.1", "a.test", 20},
		{100, 59 * time.Second, "192.0.2.1", "a.test", 40},
		{1, 59 * time.Second, "192.0.2.1", "b.test", 1},
		{61, 59 * time.Second, "192.0.2.2", "a.test", 60},
		{100, time.Minute, "192.0.2.1", "a.test", 20}, // not 60: the 40 of a second before count
		{100, 119 * time.Second, "192.0.2.1", "a.test", 40},
		{60, 0, "2001:db8::1", "a.test", 60},
		{1, 0, "2001:db8::2", "a.test", 0},
		{1, -time.Hour, "2001:db8::2", "a.test", 1}, // the clock was set back
	} {
		if got := passes(tt.n, tt.after, tt.client, tt.host); got != tt.want {
			t.Errorf("%+v: %d pass", tt, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { passes(1, 0, "192.0.2.1", "a.test") }); n > 1 { // the Request of this test
		t.Errorf("%v allocations", n)
	}
}
