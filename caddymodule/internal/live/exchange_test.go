package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// sharedTexts is the store of a fleet.
type sharedTexts struct {
	step.Store
	texts map[string][]byte
	away  bool
}

func (s *sharedTexts) Exchange(_ context.Context, _, server string, text []byte, _ time.Duration, _ int, each func([]byte)) error {
	if s.away {
		return errors.New("away")
	}
	s.texts[server] = text
	for _, text := range s.texts {
		each(text)
	}
	return nil
}

// member is a handler's part in a fleet.
type member struct{ store *sharedTexts }

func (m member) Store() step.Store       { return m.store }
func (member) Limiter() throttle.Limiter { return nil }

// Two servers of one fleet show the sum of both, for the sites of that fleet alone; while the
// others can't be reached, each shows its own counts.
func TestServersOfAFleetShowTheirSum(t *testing.T) {
	one, two := &sharedTexts{texts: make(map[string][]byte)}, &sharedTexts{texts: make(map[string][]byte)}
	var servers []*watcher
	for n := range 2 {
		w := newWatcher()
		w.app.Handlers = func() []*Handler {
			return []*Handler{
				{Site: &routes.Site{Hosts: []string{"a.test"}}, Sharer: member{one}}, {Site: &routes.Site{Hosts: []string{"b.test"}}, Sharer: member{two}},
				{Site: &routes.Site{Hosts: []string{"alone.test"}}},
			}
		}
		w.Reporter = New(w.app)
		for range n + 1 {
			for _, site := range []string{"a.test", "b.test", "alone.test"} {
				w.app.Counters.Site(site).CountPerson(0)
			}
		}
		servers = append(servers, w)
	}
	people := func(w *watcher, site string) (uint64, int) {
		v := w.app.Counters.View(statusapi.Sites(site), statusapi.SpanHour)
		return v.People.Total, v.Servers
	}
	exchange := func(wantErr bool) {
		t.Helper()
		for range 2 { // the first server sees the second one in the next minute
			for _, w := range servers {
				if err := w.exchange(t.Context()); (err != nil) != wantErr {
					t.Error(err)
				}
			}
		}
	}
	exchange(false)
	for n, w := range servers {
		for _, tt := range []struct {
			site    string
			people  uint64
			servers int
		}{{"a.test", 3, 2}, {"b.test", 3, 2}, {"alone.test", uint64(n + 1), 0}} {
			if n, of := people(w, tt.site); n != tt.people || of != tt.servers {
				t.Errorf("%s: %d people on %d servers, want %d on %d", tt.site, n, of, tt.people, tt.servers)
			}
		}
	}
	one.away = true
	exchange(true)
	for _, tt := range []struct {
		site    string
		people  uint64
		servers int
	}{{"a.test", 1, 0}, {"b.test", 3, 2}} {
		if n, of := people(servers[0], tt.site); n != tt.people || of != tt.servers {
			t.Errorf("away: %s: %d people on %d servers, want %d on %d", tt.site, n, of, tt.people, tt.servers)
		}
	}
}

// Exchange ends with its context.
func TestExchangeEnds(t *testing.T) {
	w := newWatcher()
	w.app.Log, w.app.Handlers = zap.NewNop(), func() []*Handler {
		return []*Handler{{Site: &routes.Site{Hosts: []string{"a.test"}}, Sharer: member{&sharedTexts{away: true}}}}
	}
	w.Reporter = New(w.app)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Exchange(ctx)
}
