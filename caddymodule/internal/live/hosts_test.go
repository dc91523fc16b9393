package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// countHost counts n requests to a host of a catch-all site.
func (w *watcher) countHost(n int, host string, a crawler.Agent, claim verify.State, why judge.Reason) {
	for range n {
		d := &judge.Decision{Reason: why, Subject: judge.Subject{Agent: a, Claim: verify.Result{State: claim}}}
		if why == judge.RulesPending {
			d.Action = judge.Throttle
		}
		w.app.Counters.Site(statusapi.AnySite).Host(host, w.now).Count(d, &counters.Request{Time: w.now, Target: "/x"})
	}
}

// A flood names the host of a catch-all site. Where no single host has one, it is the
// site's.
func TestFloodOfAHost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flood func(*watcher)
		want  string
	}{
		{"of one host", func(w *watcher) { w.countHost(900, "t1.example", gptbot, 0, judge.Allowed) }, "begin flood t1.example GPTBot"},
		{"of many hosts", func(w *watcher) {
			for i := range 90 {
				w.countHost(10, fmt.Sprintf("t%d.example", i), gptbot, 0, judge.Allowed)
			}
		}, "begin flood * GPTBot"},
		{"of no host name", func(w *watcher) { w.countHost(900, "-rf", gptbot, 0, judge.Allowed) }, "begin flood * GPTBot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWatcher()
			for range 7 {
				for i := range 3 {
					w.countHost(20, fmt.Sprintf("t%d.example", i), gptbot, 0, judge.Allowed)
				}
				w.pass(time.Hour)
			}
			tt.flood(w)
			if got := w.told(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			for scope, want := range map[string]bool{"t1.example": strings.Contains(tt.want, "t1."), "t2.example": false, statusapi.AnySite: true} {
				if list := w.accidents(statusapi.Sites(scope)); len(list) > 0 != want {
					t.Errorf("in the scope of %s: %+v", scope, list)
				}
			}
		})
	}
}

// The setting guard stops refusals at the host where a search engine is refused, and at
// no other host of the site.
func TestGuardOfAHost(t *testing.T) {
	w := newWatcher()
	modes := make(map[string]Mode)
	h := &Handler{
		Site: &routes.Site{Server: routes.NewServer(&caddyhttp.Server{}), Hosts: []string{statusapi.AnySite}}, Settings: &config.Settings{Guard: new(true)},
		Running:     func() (*enforce.Engine, Mode) { return nil, Mode{} },
		SetMode:     func(Mode) error { t.Error("the mode of all hosts is changed"); return nil },
		SetHostMode: func(host string, m *Mode) error { modes[host] = *m; return nil },
		HostModes:   func() map[string]Mode { return modes },
	}
	w.app.Handlers = func() []*Handler { return []*Handler{h} }
	w.Reporter = New(w.app)
	var acted []Accident
	for range 3 {
		w.pass(30 * time.Second)
		w.countHost(2, "t1.example", googlebot, verify.Verified, judge.RulesPending)
		w.countHost(2, "t2.example", googlebot, verify.Verified, judge.Allowed)
		var list []Accident
		for _, run := range w.app.Counters.Runs() {
			if run.Refused > 0 {
				list = append(list, refusedSearch(&run, w.now))
			}
		}
		acted = guard(w.Reporter, list, w.now)
	}
	if len(modes) != 1 || len(modes["t1.example"].Except) != 1 {
		t.Errorf("modes: %+v", modes)
	}
	if len(acted) != 1 || acted[0].Kind != GuardActed || acted[0].Site != "t1.example" {
		t.Errorf("%+v", acted)
	}
}
