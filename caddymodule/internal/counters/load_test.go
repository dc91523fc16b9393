package counters

import (
	"fmt"
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// A load has what became of the requests, and the folder that they have in common.
func TestLoadFolder(t *testing.T) {
	for _, tt := range []struct {
		target string // of the nth request
		reason judge.Reason
		want   string
	}{
		{"/shop/%d?q=1", judge.Disallowed, "/shop/"},
		{"/shop/a/%d", judge.Allowed, "/shop/"},
		{"http://example.com/shop/%d", judge.CrawlDelay, "/shop/"},
		{"/%d", judge.Allowed, "/"},
		{"/%d/x", judge.Allowed, "/"},
		{"/shop/%d", managed.HiddenReason, "/"}, // patterns of hidden paths are never shown
		{"/0123456789012345678901234567890123456789012345678901234567890123456789/%d", judge.Allowed, "/"},
	} {
		clock := newTestClock()
		c := New(clock.now)
		site := c.Site("example.com")
		for i := range 200 {
			r := clock.request()
			r.Target = fmt.Sprintf(tt.target, i)
			site.Count(decision(gptbot, tt.reason), r)
		}
		loads := c.Loads(100)
		i := slices.IndexFunc(loads, func(l *Load) bool { return l.Crawler == "GPTBot" })
		if i < 0 || loads[i].Folder != tt.want {
			t.Errorf("%s, %s: %+v, want the folder %q", tt.target, tt.reason, loads[max(i, 0)], tt.want)
			continue
		}
		if refused := loads[i].Refused[0]; (refused == 200) != (tt.reason.Info().Action != judge.Pass) {
			t.Errorf("%s: %d refused", tt.reason, refused)
		}
	}
}

// Nothing is allocated for requests to the same folder.
func TestCountAllocatesNothing(t *testing.T) {
	clock := newTestClock()
	site, d, r := New(clock.now).Site("example.com"), decision(gptbot, judge.Allowed), clock.request()
	for range 100 {
		site.Count(d, r)
	}
	if n := testing.AllocsPerRun(1000, func() { site.Count(d, r) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}
