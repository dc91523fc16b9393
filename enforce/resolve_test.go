package enforce

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Before the first robots.txt is read, crawlers are throttled, and all other
// clients are let through at once.
func TestDecisionsBeforeTheFirstRules(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rules  Settings
		ua     string
		target string
		action Action
		reason Reason
	}{
		{"crawler", Settings{}, gptbot, "/x", Throttle, RulesPending},
		{"unknown crawler", Settings{}, newbot, "/x", Throttle, RulesPending},
		{"crawler that ignores *, but may have its own group", Settings{}, adsbot, "/x", Throttle, RulesPending},
		{"person", Settings{}, chrome, "/x", Pass, Person},
		{"library", Settings{}, curl, "/x", Pass, NoRules},
		{"library, with HTTPClients", Settings{HTTPClients: true}, curl, "/x", Throttle, RulesPending},
		{"exempt crawler", Settings{Exempt: []Exemption{{Name: "GPTBot"}}}, gptbot, "/x", Pass, Exempt},
		{"exempt path", Settings{ExemptPaths: []string{"/.well-known/*"}}, gptbot, "/.well-known/x", Pass, ExemptPath},
		{"robots.txt", Settings{}, gptbot, "/robots.txt", Pass, ExemptPath},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := &fakeSource{block: make(chan struct{})}
			c := newClock()
			e, err := NewEngine(tt.rules, src, throttle.NewMemory(16), nil, Config{Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			defer e.origins.Settle()
			defer e.Close()
			defer close(src.block)
			ctx, gone := context.WithCancel(context.Background())
			gone() // so that the request does not wait
			var d Decision
			e.Decide(ctx, &Request{Target: tt.target, UserAgents: []string{tt.ua}, Origin: home, Time: c.now()}, &d)
			if d.Action != tt.action || d.Reason != tt.reason {
				t.Errorf("%v, %v; want %v, %v", d.Action, d.Reason, tt.action, tt.reason)
			}
			if tt.action == Throttle && d.RetryAfter != 5*time.Second {
				t.Errorf("Retry-After %v", d.RetryAfter)
			}
		})
	}
}

// With DenyFailed, crawlers are denied while the source fails.
func TestDenyFailed(t *testing.T) {
	src := &fakeSource{shared: true}
	src.set(500, "")
	e, err := NewEngine(Settings{}, src, throttle.NewMemory(16), nil, Config{DenyFailed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.origins.Load(context.Background())
	for ua, want := range map[string]Reason{gptbot: Unavailable, adsbot: Unavailable, chrome: Person, curl: NoRules} {
		var d Decision
		e.Decide(context.Background(), &Request{Target: "/x", UserAgents: []string{ua}, Origin: home, Time: time.Now()}, &d)
		if d.Reason != want || (want == Unavailable) != (d.Action == Deny && d.RetryAfter > 0) {
			t.Errorf("%.40s: %v, %v", ua, d.Action, d.Reason)
		}
	}
}

// Before the first policy is known, requests to which the group for `*` would
// not apply are let through.
func TestPendingRulesLetWebhooksThrough(t *testing.T) {
	p := newEngineTest(t, "", Settings{}).Origins().Pending()
	for ua, tt := range map[string]struct {
		method string
		want   Action
	}{
		stripe:  {http.MethodPost, Pass},
		chatgpt: {http.MethodPost, Pass},
		program: {http.MethodGet, Pass},
		gptbot:  {http.MethodPost, Throttle},
	} {
		var d Decision
		p.Check(&Request{Method: tt.method, UserAgents: []string{ua}, Target: "/"}, &d)
		if d.Action != tt.want {
			t.Errorf("%s %s: %v, %v; want %v", tt.method, ua, d.Action, d.Reason, tt.want)
		}
	}
}
