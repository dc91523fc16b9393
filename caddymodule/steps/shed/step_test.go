package shed

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// A request that is counted allocates nothing.
func TestStepAllocatesNothing(t *testing.T) {
	load := New(64)
	s := &Shed{load: func() *Load { return load }, place: &judge.Place{Layer: Layer}}
	enter := s.Wrap(func(*step.Exchange) {})
	for _, ua := range []string{"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "GPTBot/1.2"} {
		x := &step.Exchange{HTTP: httptest.NewRequest(http.MethodGet, "/", nil)}
		x.Request = judge.Request{Target: "/", Client: "192.0.2.1", Time: time.Now()}
		x.Decision = *decide(t, &x.Request, ua)
		count := func() {
			enter(x)
			if load.inFlight.Load() != 1 {
				t.Errorf("%s is not counted", ua)
			}
			s.End(x)
		}
		if n := testing.AllocsPerRun(100, count); n != 0 {
			t.Errorf("%s: %v allocations", ua, n)
		}
	}
}
