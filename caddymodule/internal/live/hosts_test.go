package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// countHost counts n requests to a host of a catch-all site.
func (w *watcher) countHost(n int, host string, a crawler.Agent, said claim.State, why judge.Reason) {
	for range n {
		d := &judge.Decision{Reason: why, Subject: judge.Subject{Agent: a, Claim: claim.Result{State: said}}}
		if why == judge.RulesPending {
			d.Action = judge.Throttle
		}
		w.app.Counters.Site(statusapi.AnySite).Host(host).Count(d, &counters.Request{Time: w.now, Target: "/x"})
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
