package enforce

import (
	"context"
	"testing"
)

// watchful is a Suspicion with a fixed answer. It counts the requests.
type watchful struct {
	suspect  bool
	observed int
}

func (w *watchful) ObserveRequest(rules *Rules) bool {
	if w.observed++; rules == nil {
		panic("no rules")
	}
	return w.suspect
}

func TestSuspicion(t *testing.T) {
	e := newEngineTest(t, site, Settings{ExemptPaths: []string{"/private/feed.xml"}})
	for _, tt := range []struct {
		name, ua, target string
		suspect          bool
		want             Reason
		observed         int
	}{
		{"a suspect, disallowed by the group for *", chrome, "/private/x", true, Suspected, 1},
		{"a suspect, another spelling", chrome, "/x/..//%70rivate/", true, Suspected, 1},
		{"a suspect, an allowed path", chrome, "/private/press/", true, Person, 1},
		{"a suspect, an exempt path", chrome, "/private/feed.xml", true, Person, 1},
		{"a suspect, robots.txt", chrome, "/robots.txt", true, Person, 1},
		{"a person", chrome, "/private/x", false, Person, 1},
		{"a crawler is not observed", gptbot, "/x", true, Disallowed, 0},
		{"a crawler that a group allows is not observed", googlebot, "/private/x", true, Allowed, 0},
	} {
		w := &watchful{suspect: tt.suspect}
		var d Decision
		e.Decide(context.Background(), &Request{Target: tt.target, UserAgents: []string{tt.ua}, Origin: home, Time: e.clock.now(), Suspicion: w}, &d)
		if d.Reason != tt.want || w.observed != tt.observed || d.Rules == nil {
			t.Errorf("%s: %v, observed %d times; want %v, %d", tt.name, d.Reason, w.observed, tt.want, tt.observed)
		}
		if d.Reason == Suspected && (d.Action != Deny || d.Group.Token() != "*" || d.Line != 2 || d.Layer != FileLayer || d.Limits != nil) {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
}
