package enforce

import (
	"context"
	"net/http"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// decideOn decides on r, with defaults for the fields that are not set.
func (e *engineTest) decideOn(r judge.Request) judge.Decision {
	var d judge.Decision
	if r.Client == "" {
		r.Client = "192.0.2.1"
	}
	r.Origin, r.Time = fake.Home, e.clock.Now()
	e.Decide(context.Background(), &r, &d)
	return d
}

func TestStarGroupByMethodAndClass(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: GitHub-Hookshot\nDisallow: /own/\n\nUser-agent: Sweepo\nDisallow: /own/\n"
	all := judge.Settings{HTTPClients: true, Programs: true, Strict: true}
	for _, tt := range []struct {
		name       string
		rules      judge.Settings
		method, ua string
		target     string
		want       judge.Action
	}{
		{"GET of a user-triggered fetcher", judge.Settings{}, "", fake.Chatgpt, "/private/x", judge.Deny},
		{"HEAD of a user-triggered fetcher", judge.Settings{}, http.MethodHead, fake.Chatgpt, "/private/x", judge.Deny},
		{"POST of a user-triggered fetcher", judge.Settings{}, http.MethodPost, fake.Chatgpt, "/private/x", judge.Pass},
		{"POST of a user-triggered fetcher, strict", all, http.MethodPost, fake.Chatgpt, "/private/x", judge.Pass},
		{"POST of a crawler", judge.Settings{}, http.MethodPost, fake.Gptbot, "/private/x", judge.Deny},
		{"POST of a webhook", all, http.MethodPost, fake.Stripe, "/private/x", judge.Pass},
		{"GET of a webhook", all, http.MethodGet, fake.Stripe, "/private/x", judge.Pass},
		{"webhook with its own group, path of that group", judge.Settings{}, http.MethodPost, "GitHub-Hookshot/044aadd", "/own/x", judge.Deny},
		{"webhook with its own group, path of the group for *", all, http.MethodPost, "GitHub-Hookshot/044aadd", "/private/x", judge.Pass},
		{"program", judge.Settings{}, "", fake.Program, "/private/x", judge.Pass},
		{"program, with HTTPClients", judge.Settings{HTTPClients: true}, "", fake.Program, "/private/x", judge.Pass},
		{"program, with Programs", judge.Settings{Programs: true}, "", fake.Program, "/private/x", judge.Deny},
		{"POST of a program, with Programs", judge.Settings{Programs: true}, http.MethodPost, fake.Program, "/private/x", judge.Deny},
		{"library, with Programs", judge.Settings{Programs: true}, "", fake.Curl, "/private/x", judge.Pass},
		{"POST of a program with its own group", judge.Settings{}, http.MethodPost, "Sweepo/1.0", "/own/x", judge.Deny},
	} {
		if d := newEngineTest(t, file, tt.rules).decideOn(judge.Request{Method: tt.method, UserAgents: []string{tt.ua}, Target: tt.target}); d.Action != tt.want {
			t.Errorf("%s: %v, %v; want %v", tt.name, d.Action, d.Reason, tt.want)
		}
	}
}
