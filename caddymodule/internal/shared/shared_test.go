package shared

import (
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// closer counts calls of Close.
type closer struct{ closed int }

func (c *closer) Close() error { c.closed++; return nil }

func TestValuesAreClosedAfterTheLastRelease(t *testing.T) {
	create := func() *closer { return new(closer) }
	first, releaseFirst := Get(t.Name(), create)
	again, releaseAgain := Get(t.Name(), create)
	if first != again {
		t.Error("two values with one key")
	}
	if err := releaseFirst(); err != nil || first.closed != 0 {
		t.Errorf("closed %d times while it is in use, %v", first.closed, err)
	}
	if err := releaseAgain(); err != nil || first.closed != 1 {
		t.Errorf("closed %d times after the last release, %v", first.closed, err)
	}
	other, release := Get(t.Name(), create)
	if other == first {
		t.Error("a closed value is used again")
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestClosedValuesLeaveNoGoroutines(t *testing.T) {
	current := goleak.IgnoreCurrent()
	config, err := throttle.ParseFleetURL("redis://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	fleet := NewFleet(config, throttle.NewMemory(10))
	if r := fleet.Take(t.Context(), time.Now(), nil); !r.OK {
		t.Error("a fleet that is not connected refuses requests without limits")
	}
	verifier := NewVerifier(verify.Config{Lists: true})
	for range 2 { // each configuration starts them
		fleet.Start(zap.NewNop())
		verifier.Start(&certmagic.FileStorage{Path: t.TempDir()}, zap.NewNop())
	}
	if fleet.Connected() == nil {
		t.Error("a fleet that was started has no connection")
	}
	for _, c := range []interface{ Close() error }{fleet, verifier} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	fleet.Start(zap.NewNop()) // after Close it does nothing
	// A client of Redis that is closed ends these two goroutines some seconds
	// later.
	err = goleak.Find(current,
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*call).DelayDo.func1"),
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*clusterClient)._refresh.func2"))
	if err != nil {
		t.Error(err)
	}
}
