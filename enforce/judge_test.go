package enforce

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/robots"
)

func TestDisallowsStar(t *testing.T) {
	p, err := judge.Settings{ExemptPaths: []string{"/private/feed.xml"}}.Rules(judge.Response{Status: 200, Body: []byte(fake.Site)})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"/": false, "/private/x": true, "/x/..//private/": true, "/private/press/": false, "/private/feed.xml": false, "/no-google/": false} {
		if got := p.DisallowsStar(target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

// Hidden paths hold in every spelling; exempt paths are exempt only
// if every form of a path is.
func TestSpellingsOfSettings(t *testing.T) {
	for _, windows := range []bool{false, true} {
		settings := judge.Settings{
			Views:       robots.ViewOptions{Windows: windows},
			Edit:        fake.Hide("/hid%2Fx"),
			ExemptPaths: []string{"/.well-known/*"},
		}
		e := newEngineTest(t, "User-agent: *\nDisallow: /private/\n", settings)
		const bot = "OneBot/1.0 (+https://bot.example/)"
		for _, tt := range []struct {
			target  string
			reason  judge.Reason
			windows bool // so only on Windows
		}{
			{"/hid%2Fx", managed.HiddenReason, false}, {"/./hid%2Fx", managed.HiddenReason, false}, {"/a/..//hid%2fx", managed.HiddenReason, false}, {"/hid/x", judge.Allowed, false},
			{"/.well-known/x", judge.ExemptPath, false}, {"/.well-known/../private/", judge.Disallowed, false},
			{`/.well-known/..\private/`, judge.Disallowed, true}, {"/.well-known/..%5cprivate./", judge.Disallowed, true}, {"/PRIVATE/", judge.Disallowed, true},
		} {
			want := tt.reason
			if got := e.decide(tt.target, bot).Reason; (got == want) != (windows || !tt.windows) {
				t.Errorf("%q on Windows %v: %v, want %v", tt.target, windows, got, want)
			}
			e.clock.Advance(time.Minute)
		}
	}
}
