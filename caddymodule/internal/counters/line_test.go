package counters

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// A rule whose line number changes keeps its counts.
func TestMovedRuleKeepsItsCounts(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	d := decision(gptbot, judge.Disallowed)
	c.Site("example.com").Count(d, clock.request())
	d.Line = 7
	c.Site("example.com").Count(d, clock.request())
	rules := c.View(statusapi.AllSites(), statusapi.SpanHour).Lines
	if len(rules) != 1 || rules[0].Number != 7 || rules[0].Denied != 2 {
		t.Errorf("rules: %+v", rules)
	}
}
