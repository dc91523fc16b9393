package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
)

// failing is a handler of events that panics, or never ends.
type failing struct {
	Hang bool `json:"hang,omitempty"`
}

func init() { caddy.RegisterModule(new(failing)) }

func (*failing) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.fail", New: func() caddy.Module { return new(failing) }}
}

func (h *failing) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	h.Hang = d.NextArg()
	return nil
}

func (h *failing) Handle(context.Context, caddy.Event) error {
	if h.Hang {
		select {}
	}
	panic("the handler's own mistake")
}

// deployed is a site whose robots.txt the back end serves.
func deployed(back *flaky, global string) string {
	return "{\n\t" + global + "}\nhttp://shop.test:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy " + back.Listener.Addr().String() + "\n}\n"
}

// refresh makes the server read robots.txt again.
func (s *server) refresh() {
	s.t.Helper()
	s.adminRequest(http.MethodPost, "refresh", 200, nil)
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

// A handler of events that panics or never ends harms neither people nor a reload.
func TestEventHandlersThatFail(t *testing.T) {
	t.Parallel()
	for then, want := range map[string][]string{"": {"rules_lost", "panic"}, "hang": {"rules_lost"}} {
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			back := newFlaky(t)
			config := deployed(back, fmt.Sprintf("events {\n\t\ton robots_rules_lost fail %s\n\t}\n", then))
			s := start(t, config)
			if s.at("shop.test", googlebot, "/x"); len(s.accidents()) > 0 {
				t.Fatalf("before: %v", s.accidents())
			}
			back.answerWith(text(404, ""))
			s.refresh()
			s.eventually("the accident is told", func() bool { return len(s.lines("an accident began")) == 1 })
			s.wants(200, s.at("shop.test", chrome, "/x"), "a person")
			if err := s.reload(config + "# changed\nhttp://other.test:$PORT {\n}\n"); err != nil {
				t.Fatal(err)
			}
			s.wants(200, s.at("shop.test", chrome, "/x"), "a person after a reload")
			s.eventually("the problems are shown", func() bool { return slices.Equal(s.accidents(), want) })
		})
	}
}
