package enforce

import (
	"context"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// The path rules of the group for * apply to a client that the caller suspects.
func TestSuspect(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{ExemptPaths: []string{"/private/feed.xml"}})
	for _, tt := range []struct {
		name, ua, target string
		suspect          bool
		want             judge.Reason
		person           bool
	}{
		{"a suspect, disallowed by the group for *", fake.Chrome, "/private/x", true, judge.Suspected, true},
		{"a suspect, another spelling", fake.Chrome, "/x/..//%70rivate/", true, judge.Suspected, true},
		{"a suspect, an allowed path", fake.Chrome, "/private/press/", true, judge.Person, true},
		{"a suspect, an exempt path", fake.Chrome, "/private/feed.xml", true, judge.Person, true},
		{"a suspect, robots.txt", fake.Chrome, "/robots.txt", true, judge.Person, true},
		{"a person", fake.Chrome, "/private/x", false, judge.Person, true},
		{"a crawler", fake.Gptbot, "/x", false, judge.Disallowed, false},
		{"a crawler that a group allows", fake.Googlebot, "/private/x", false, judge.Allowed, false},
	} {
		r := &judge.Request{Target: tt.target, UserAgents: []string{tt.ua}, Origin: fake.Home, Time: e.clock.Now()}
		var c judge.Client
		var d judge.Decision
		if e.Identify(&c, r, e.Resolve(context.Background(), r)); c.IsPerson() != tt.person {
			t.Errorf("%s is a person: %t", tt.name, c.IsPerson())
		}
		c.Suspect = tt.suspect
		if c.Judge(&d); d.Reason != tt.want || d.Rules == nil {
			t.Errorf("%s: %v; want %v", tt.name, d.Reason, tt.want)
		}
		if d.Reason == judge.Suspected && (d.Action != judge.Deny || d.Group.Token() != "*" || d.Line != 2 || d.Layer != judge.FileLayer || d.Limits != nil) {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
}
