package enforce

import (
	"context"
	"testing"
)

// The path rules of the group for * apply to a client that the caller suspects.
func TestSuspect(t *testing.T) {
	e := newEngineTest(t, site, Settings{ExemptPaths: []string{"/private/feed.xml"}})
	for _, tt := range []struct {
		name, ua, target string
		suspect          bool
		want             Reason
		person           bool
	}{
		{"a suspect, disallowed by the group for *", chrome, "/private/x", true, Suspected, true},
		{"a suspect, another spelling", chrome, "/x/..//%70rivate/", true, Suspected, true},
		{"a suspect, an allowed path", chrome, "/private/press/", true, Person, true},
		{"a suspect, an exempt path", chrome, "/private/feed.xml", true, Person, true},
		{"a suspect, robots.txt", chrome, "/robots.txt", true, Person, true},
		{"a person", chrome, "/private/x", false, Person, true},
		{"a crawler", gptbot, "/x", false, Disallowed, false},
		{"a crawler that a group allows", googlebot, "/private/x", false, Allowed, false},
	} {
		r := &Request{Target: tt.target, UserAgents: []string{tt.ua}, Origin: home, Time: e.clock.now()}
		var c Client
		var d Decision
		if e.Identify(&c, r, e.Resolve(context.Background(), r)); c.IsPerson() != tt.person {
			t.Errorf("%s is a person: %t", tt.name, c.IsPerson())
		}
		c.Suspect = tt.suspect
		if c.Judge(&d); d.Reason != tt.want || d.Rules == nil {
			t.Errorf("%s: %v; want %v", tt.name, d.Reason, tt.want)
		}
		if d.Reason == Suspected && (d.Action != Deny || d.Group.Token() != "*" || d.Line != 2 || d.Layer != FileLayer || d.Limits != nil) {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
}
