package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// deployed is a site whose robots.txt the back end serves.
func deployed(back *flaky, global string) string {
	return "{\n\t" + recorded + global + "}\nhttp://shop.test:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy " + back.Listener.Addr().String() + "\n}\n"
}

// refresh makes the server read robots.txt again.
func (s *server) refresh(query string) statusapi.Refresh {
	s.t.Helper()
	var answer statusapi.Refresh
	s.adminRequest(http.MethodPost, "refresh"+query, 200, &answer)
	return answer
}

// accidents returns the kinds of the problems.
func (s *server) accidents() (kinds []string) {
	s.t.Helper()
	for _, p := range adminValue[statusapi.Health](s, "health").Problems {
		if !statusapi.IsUnmeant(p.Kind) {
			kinds = append(kinds, p.Kind)
		}
	}
	return kinds
}

// A handler that panics or never ends harms neither people nor a reload.
func TestEventHandlersThatFail(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"panic", "hang"} {
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			back := newFlaky(t)
			config := strings.Replace(deployed(back, ""), "events\n", "events "+then+"\n", 1)
			s := start(t, config)
			if s.at("shop.test", googlebot, "/x"); len(s.accidents()) > 0 {
				t.Fatalf("before: %v", s.accidents())
			}
			back.answerWith(text(404, ""))
			s.refresh("")
			s.wantEvents(nil, "started", "robots_rules_lost begin shop.test")
			s.wants(200, s.at("shop.test", chrome, "/x"), "a person")
			if err := s.reload(config + "# changed\nhttp://other.test:$PORT {\n}\n"); err != nil {
				t.Fatal(err)
			}
			want := []string{"rules_lost"}
			if then == "panic" {
				want = append(want, "panic")
			}
			if s.wants(200, s.at("shop.test", chrome, "/x"), "a person after a reload"); !slices.Equal(s.accidents(), want) {
				t.Errorf("problems: %v", s.accidents())
			}
		})
	}
}
