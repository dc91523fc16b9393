package federation

import (
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// An address gets 60 such requests a minute at a site.
func TestMayPass(t *testing.T) {
	f := &Federation{budgets: throttle.NewMemory(1000)}
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
		{100, 0, "192.0.2.1", "a.test", 60},
		{1, 0, "192.0.2.1", "b.test", 1},
		{61, 0, "192.0.2.2", "a.test", 60},
		{100, 30 * time.Second, "192.0.2.1", "a.test", 30},
		{100, 2 * time.Minute, "192.0.2.1", "a.test", 60},
		{60, 0, "2001:db8::1", "a.test", 60},
		{1, 0, "2001:db8::2", "a.test", 0},
	} {
		if got := passes(tt.n, tt.after, tt.client, tt.host); got != tt.want {
			t.Errorf("%+v: %d pass", tt, got)
		}
	}
}
