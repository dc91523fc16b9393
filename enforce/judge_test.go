package enforce

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

func TestDisallowsStar(t *testing.T) {
	p, err := Settings{ExemptPaths: []string{"/private/feed.xml"}}.Rules(Response{Status: 200, Body: []byte(site)})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"/": false, "/private/x": true, "/x/..//private/": true, "/private/press/": false, "/private/feed.xml": false, "/no-google/": false} {
		if got := p.DisallowsStar(target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

// Hidden paths and paths of limits hold in every spelling; exempt paths are exempt only
// if every form of a path is.
func TestSpellingsOfSettings(t *testing.T) {
	for _, windows := range []bool{false, true} {
		settings := Settings{
			Views:       robots.ViewOptions{Windows: windows},
			Managed:     hide("/hid%2Fx"),
			ExemptPaths: []string{"/.well-known/*"},
			Limits:      []Limit{{Paths: []string{"/slow%2Fx"}, All: every(1, time.Hour)}},
		}
		e := newEngineTest(t, "User-agent: *\nDisallow: /private/\n", settings)
		const bot = "OneBot/1.0 (+https://bot.example/)"
		for _, tt := range []struct {
			target  string
			reason  Reason
			windows bool // so only on Windows
		}{
			{"/hid%2Fx", Hidden, false}, {"/./hid%2Fx", Hidden, false}, {"/a/..//hid%2fx", Hidden, false}, {"/hid/x", Allowed, false},
			{"/.well-known/x", ExemptPath, false}, {"/.well-known/../private/", Disallowed, false},
			{`/.well-known/..\private/`, Disallowed, true}, {"/.well-known/..%5cprivate./", Disallowed, true}, {"/PRIVATE/", Disallowed, true},
			{"/slow%2Fx", Allowed, false}, {"/./slow%2Fx", OverLimit, false}, {"//slow%2fx", OverLimit, false}, {"/slow/x", Allowed, false},
		} {
			want := tt.reason
			if got := e.decide(tt.target, bot).Reason; (got == want) != (windows || !tt.windows) {
				t.Errorf("%q on Windows %v: %v, want %v", tt.target, windows, got, want)
			}
			e.clock.advance(time.Minute)
		}
	}
}
