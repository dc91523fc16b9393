package judge

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A crawler that uses google/robotstxt is denied only paths that both readings
// disallow. For every other crawler, only the reading by Settings.Dialect counts.
func TestGoogleReading(t *testing.T) {
	const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	const bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	for _, tt := range []struct {
		name, text, target string
		google, bing       Action
		line               int // the line that decides for Googlebot
	}{
		{"index page", "User-agent: *\nDisallow: /a/\nAllow: /a/index.html\n", "/a/", Pass, Deny, 3},
		{"index page in another spelling", "User-agent: *\nDisallow: /a/\nAllow: /a/index.html\n", "//a/./", Pass, Deny, 3},
		{"other page", "User-agent: *\nDisallow: /a/\nAllow: /a/index.html\n", "/a/b", Deny, Deny, 2},
		{"other page in another spelling", "User-agent: *\nDisallow: /a/\nAllow: /a/index.html\n", "/a/%62", Deny, Deny, 2},
		{"Allow with a key that only Google reads", "User-agent: *\nDisallow: /a\nAllowed: /a/b\n", "/a/b", Pass, Deny, 3},
		{"Disallow with a key that only Google reads", "User-agent: *\nDisallow: /a\nDisallow all: /\n", "/b", Pass, Pass, 0},
		{"group that only Google reads", "User-agents: Googlebot\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n", "/a", Pass, Deny, 0},
		{"group that Google does not read", "User-agent: *\u00a0\nDisallow: /\n", "/a", Pass, Deny, 0},
		{"path that both readings disallow", "User-agent: *\nDisallow: /a b\nDisallow: /c\n", "/c", Deny, Deny, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := Settings{}.Compile()
			if err != nil {
				t.Fatal(err)
			}
			p := rules.compile(Content{Body: []byte(tt.text)})
			var d Decision
			p.Check(&Request{UserAgents: []string{googlebot}, Method: "GET", Target: tt.target}, &d)
			if d.Action != tt.google || d.Line != tt.line {
				t.Errorf("Googlebot: %v by line %d, want %v by line %d", d.Action, d.Line, tt.google, tt.line)
			}
			if byGoogle := d.Reading == robots.Google; byGoogle != (tt.google != tt.bing) {
				t.Errorf("Googlebot: let through by Google's reading: %v", byGoogle)
			}
			p.Check(&Request{UserAgents: []string{bingbot}, Method: "GET", Target: tt.target}, &d)
			if d.Action != tt.bing || d.Reading != robots.RFC9309 {
				t.Errorf("bingbot: %v by reading %v, want %v", d.Action, d.Reading, tt.bing)
			}

			strict, err := Settings{Strict: true}.Compile()
			if err != nil {
				t.Fatal(err)
			}
			strict.compile(Content{Body: []byte(tt.text)}).Check(&Request{UserAgents: []string{googlebot}, Method: "GET", Target: tt.target}, &d)
			if d.Action != tt.bing {
				t.Errorf("Googlebot, strict: %v, want %v", d.Action, tt.bing)
			}
		})
	}
}
