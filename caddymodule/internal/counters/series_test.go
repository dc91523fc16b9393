package counters

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func TestWindowsAsTimePasses(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	count := func(n int) {
		c.Fold()
		for range n {
			site.Count(decision(gptbot, judge.Disallowed), clock.request())
		}
		c.Fold()
	}
	windows := func() statusapi.Windows[statusapi.Counts] {
		return c.View(statusapi.AllSites(), statusapi.SpanHour).Summary.Crawlers
	}
	count(1)
	clock.add(59 * time.Minute)
	count(2)
	if w := windows(); w.Hour.Denied != 3 {
		t.Errorf("after 59 minutes: %+v", w.Hour)
	}
	clock.add(time.Minute)
	if w := windows(); w.Hour.Denied != 2 || w.Day.Denied != 3 {
		t.Errorf("after an hour: %+v", w)
	}
	clock.add(23 * time.Hour)
	if w := windows(); w.Hour.Denied != 0 || w.Day.Denied != 2 || w.Month.Denied != 3 {
		t.Errorf("after a day: %+v", w)
	}
	clock.add(30 * 24 * time.Hour)
	count(4)
	if w := windows(); w.Day.Denied != 4 || w.Month.Denied != 4 || w.Total.Denied != 7 {
		t.Errorf("after a month: %+v", w)
	}
	clock.add(-40 * 24 * time.Hour)
	c.Fold()
	count(5)
	if w := windows(); w.Hour.Denied != 5 || w.Month.Denied != 5 || w.Total.Denied != 12 {
		t.Errorf("after the clock was set back: %+v", w)
	}
}
