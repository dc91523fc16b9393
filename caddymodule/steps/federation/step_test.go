package federation

import (
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// An address has 60 such requests in any minute.
func TestMayPass(t *testing.T) {
	f := new(Federation)
	if err := f.Join(step.Site{}); err != nil {
		t.Fatal(err)
	}
	defer f.Cleanup()
	begin := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	passes := func(n int, after time.Duration, client, host string) (passed int) {
		for range n {
			if f.mayPass(&judge.Request{Method: http.MethodGet, Client: client, Origin: judge.NewOrigin("https", host, 443), Time: begin.Add(after)}) {
				passed++
			}
		}
		return passed
	}
	for _, tt := range []struct {
		n            int
		after        time.Duration
		client, host string
		want         int
	}{
		{20, 0, "192.0.2.1", "a.test", 20},
		{100, 59 * time.Second, "192.0.2.1", "a.test", 40},
		{1, 59 * time.Second, "192.0.2.1", "b.test", 1},
		{61, 59 * time.Second, "192.0.2.2", "a.test", 60},
		{100, time.Minute, "192.0.2.1", "a.test", 20}, // not 60: the 40 of a second before count
		{100, 119 * time.Second, "192.0.2.1", "a.test", 40},
		{60, 0, "2001:db8::1", "a.test", 60},
		{1, 0, "2001:db8::2", "a.test", 0},
		{1, -time.Hour, "2001:db8::2", "a.test", 1}, // the clock was set back
	} {
		if got := passes(tt.n, tt.after, tt.client, tt.host); got != tt.want {
			t.Errorf("%+v: %d pass", tt, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { passes(1, 0, "192.0.2.1", "a.test") }); n > 1 { // the Request of this test
		t.Errorf("%v allocations", n)
	}
}
