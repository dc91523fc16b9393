package enforce

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// Before the first robots.txt is read, crawlers are throttled, and all other
// clients are let through at once.
func TestDecisionsBeforeTheFirstRules(t *testing.T) {
	for _, tt := range []struct {
		name       string
		rules      judge.Settings
		ua, target string
		action     judge.Action
		reason     judge.Reason
	}{
		{"crawler", judge.Settings{}, fake.Gptbot, "/x", judge.Throttle, judge.RulesPending},
		{"unknown crawler", judge.Settings{}, fake.Newbot, "/x", judge.Throttle, judge.RulesPending},
		{"crawler that ignores *, but may have its own group", judge.Settings{}, fake.Adsbot, "/x", judge.Throttle, judge.RulesPending},
		{"person", judge.Settings{}, fake.Chrome, "/x", judge.Pass, judge.Person},
		{"library", judge.Settings{}, fake.Curl, "/x", judge.Pass, judge.NoRules},
		{"library, with HTTPClients", judge.Settings{HTTPClients: true}, fake.Curl, "/x", judge.Throttle, judge.RulesPending},
		{"exempt crawler", judge.Settings{Exempt: []judge.Exemption{{Name: "GPTBot"}}}, fake.Gptbot, "/x", judge.Pass, judge.Exempt},
		{"exempt path", judge.Settings{ExemptPaths: []string{"/.well-known/*"}}, fake.Gptbot, "/.well-known/x", judge.Pass, judge.ExemptPath},
		{"robots.txt", judge.Settings{}, fake.Gptbot, "/robots.txt", judge.Pass, judge.ExemptPath},
		{"program", judge.Settings{}, fake.Program, "/x", judge.Pass, judge.NoRules},
		{"probe", judge.Settings{}, kubeProbe, "/x", judge.Pass, judge.NoRules},
		{"webhook", judge.Settings{}, fake.Stripe, "/hook", judge.Pass, judge.NoRules},
		{"user-triggered fetcher that sends an event", judge.Settings{}, fake.Chatgpt, "/hook", judge.Pass, judge.NoRules},
		{"POST of a crawler", judge.Settings{}, fake.Gptbot, "/hook", judge.Throttle, judge.RulesPending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := &fake.Source{Block: make(chan struct{})}
			c := fake.NewClock()
			e, err := NewEngine(tt.rules, src, throttle.NewMemory(16), nil, origins.Config{Now: c.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer e.origins.Settle()
			defer e.Close()
			defer close(src.Block)
			ctx, gone := context.WithCancel(context.Background())
			gone() // so that the request does not wait
			var d judge.Decision
			method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[tt.target == "/hook"]
			e.Decide(ctx, &judge.Request{Method: method, Target: tt.target, UserAgents: []string{tt.ua}, Origin: fake.Home, Time: c.Now()}, &d)
			if d.Action != tt.action || d.Reason != tt.reason {
				t.Errorf("%v, %v; want %v, %v", d.Action, d.Reason, tt.action, tt.reason)
			}
			if tt.action == judge.Throttle && d.RetryAfter != 5*time.Second {
				t.Errorf("Retry-After %v", d.RetryAfter)
			}
		})
	}
}
