package mistakes_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
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
