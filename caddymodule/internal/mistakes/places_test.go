package mistakes_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// A problem is in the words of who may see it.
func TestProblemsOfPlaces(t *testing.T) {
	place := mistakes.Late([]string{"a.test", "b.test"})
	for _, tt := range []struct {
		scope   statusapi.Scope
		subject string
	}{
		{statusapi.AllSites(), "a.test, b.test"}, {statusapi.Sites("b.test", "c.test"), "b.test"}, {statusapi.Sites("c.test"), ""},
	} {
		got := place.Problems(tt.scope)
		if tt.subject == "" && len(got) > 0 || tt.subject != "" && (len(got) != 1 || got[0].Subject != tt.subject || !strings.HasPrefix(got[0].Message, "the robots handler of "+tt.subject+" has never decided")) {
			t.Errorf("%+v, want %q", got, tt.subject)
		}
	}
	none := mistakes.WithoutHandler()
	if p := none.Problems(statusapi.AllSites()); len(p) != 1 || p[0].Kind != statusapi.NoRules || len(none.Problems(statusapi.Sites("a.test"))) > 0 {
		t.Errorf("no handler: %+v", p)
	}
}

// A file that all hosts of a pattern have is the site's, one of a single host is its
// tenant's.
func TestHosts(t *testing.T) {
	broken, fine := rulesOf(t, judge.Content{Body: []byte("User-agent: *\nDisallow: a\n")}), rulesOf(t, judge.Content{Body: []byte("User-agent: *\nDisallow: /\n")})
	problem := func(message string) statusapi.Problem {
		return statusapi.Problem{Severity: statusapi.Warning, Kind: statusapi.Mistake, Subject: message, Message: message}
	}
	var hosts mistakes.Hosts
	hosts.Add(1, "*.one.test", broken, problem("b"))
	hosts.Add(1, "*.one.test", broken, problem("a"))
	hosts.Add(1, "*.two.test", broken, problem("c"))
	hosts.Add(1, "*.two.test", fine, statusapi.Problem{})
	hosts.Add(1, "*.three.test", fine, statusapi.Problem{})
	hosts.Add(2, "*.three.test", broken, problem("d"))
	got := make(map[string]string)
	for _, p := range hosts.Problems() {
		got[p.Message] = p.Subject
	}
	if len(got) != 2 || got["a"] != "*.one.test" || got["d"] != "*.three.test" {
		t.Errorf("%v", got)
	}
}
