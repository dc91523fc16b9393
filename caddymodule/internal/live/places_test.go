package live

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// A problem is in the words of who may see it.
func TestProblemsOfPlaces(t *testing.T) {
	w := newWatcher()
	problems := func(scope statusapi.Scope) []statusapi.Problem {
		return append(w.accidents(scope), w.unserved(scope)...)
	}
	w.app.Problems = func() []statusapi.Problem { return []statusapi.Problem{mistakes.Late([]string{"a.test", "b.test"})} }
	for subject, scope := range map[string]statusapi.Scope{"a.test, b.test": statusapi.AllSites(), "b.test": statusapi.Sites("b.test", "c.test")} {
		got := problems(scope)
		if len(got) == 0 || got[0].Subject != subject || !strings.HasPrefix(got[0].Message, "the robots handler of "+subject+" has never decided") {
			t.Errorf("%+v, want %q", got, subject)
		}
	}
	w.app.Problems = func() []statusapi.Problem { return []statusapi.Problem{mistakes.WithoutHandler()} }
	if got := problems(statusapi.AllSites()); len(got) != 1 || got[0].Subject != "this server" {
		t.Errorf("%+v", got)
	}
	if got := problems(statusapi.Sites("a.test")); len(got) != 1 || got[0].Subject != "a.test" {
		t.Errorf("who may not see all sites: %+v", got)
	}
}
