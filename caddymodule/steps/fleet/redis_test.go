package fleet

import (
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

var site = step.Site{
	Hosts: func() []string { return []string{"example.com"} }, Log: zap.NewNop(), Budgets: throttle.NewMemory(10),
}

// The steps of several configurations share a connection, which ends with the last of them.
func TestClosedConnectionsLeaveNoGoroutines(t *testing.T) {
	current := goleak.IgnoreCurrent()
	steps := []*Fleet{{URL: "redis://127.0.0.1:1"}, {URL: "redis://127.0.0.1:1"}}
	for _, f := range steps {
		if err := f.Join(site); err != nil {
			t.Fatal(err)
		}
		if r := f.Limiter().Take(t.Context(), time.Now(), nil); !r.OK {
			t.Error("a limiter that is not connected refuses requests without limits")
		}
		f.Start()
	}
	r := steps[0].redis
	if r != steps[1].redis || len(r.steps) != 2 {
		t.Errorf("%p and %p, %d steps", r, steps[1].redis, len(r.steps))
	}
	for _, f := range steps {
		if err := f.Cleanup(); err != nil {
			t.Error(err)
		}
	}
	// A client of Redis that is closed ends these two goroutines some seconds later.
	err := goleak.Find(current,
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*call).DelayDo.func1"),
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*clusterClient)._refresh.func2"))
	if err != nil {
		t.Error(err)
	}
}
