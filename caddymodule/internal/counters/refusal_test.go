package counters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// A refusal has no query, no full address and no hidden path.
func TestRefusalHidesPrivateData(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	r := clock.request()
	r.UserAgents = []string{"GPTBot/1.2 \xff"}
	c.Site("example.com").Count(decision(gptbot, judge.Disallowed), r)
	r.Client, r.Target = "2001:db8:1:2::3", "http://user:pw@example.com/private/y?secret=2"
	c.Site("example.com").Count(decision(gptbot, judge.Disallowed), r)
	c.Site("example.com").Count(decision(gptbot, managed.HiddenReason), r)
	got := c.Kept(statusapi.AllSites(), 0)
	if len(got) != 3 {
		t.Fatalf("%d refusals, want 3", len(got))
	}
	if f := got[2]; f.Client != "192.0.2.0/24" || f.Path != "/private/x" || f.UserAgent != "GPTBot/1.2 \uFFFD" || f.Rule != "Disallow: /private/" {
		t.Errorf("%+v", f)
	}
	if f := got[1]; f.Client != "2001:db8:1::/48" || f.Path != "/private/y" {
		t.Errorf("%+v", f)
	}
	if f := got[0]; f.Path != "" || f.Rule != "" || f.Line != 12 || f.Layer != "hidden" {
		t.Errorf("%+v", f)
	}
	for _, target := range []string{"/a?b", "/a#b", "http:opaque?b", "https://h?b", "*", ""} {
		if p := pathOf(target); strings.ContainsAny(p, "?#") {
			t.Errorf("path of %q is %q", target, p)
		}
	}
}

// Many refusals of one crawler do not replace those of others. Omitted counts the
// ones that were not kept.
func TestFloodOfOneCrawlerKeepsOtherRefusals(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	site.Count(decision(goodbot, judge.Disallowed), clock.request())
	for range 100 {
		for range 1000 {
			site.Count(decision(gptbot, judge.Disallowed), clock.request())
		}
		clock.add(time.Second)
	}
	recent := c.Kept(statusapi.AllSites(), 0)
	shown := int64(0)
	for _, f := range recent {
		if f.Crawler == "GPTBot" {
			shown += 1 + f.Omitted
		}
	}
	if last := recent[len(recent)-1]; last.Crawler != "GoodBot" {
		t.Errorf("the oldest refusal is %+v", last)
	}
	if len(recent) < 50 || len(recent) > 70 || shown < 98_000 || shown > 100_000 {
		t.Errorf("%d refusals are kept, and account for %d", len(recent), shown)
	}
}

// Refusals of many hosts make room for those of others: no host has more than twice the rest.
func TestTheMostMakeRoom(t *testing.T) {
	r := &New(newTestClock().now).refusals
	for i := range 3 * maxRefusals {
		r.put(&statusapi.Refusal{Host: fmt.Sprint(i % 20), Decision: verdict.Decision{Crawler: "a"}})
	}
	for range 3 * maxRefusals {
		r.put(&statusapi.Refusal{Host: "noisy.test", Decision: verdict.Decision{Crawler: "b"}})
	}
	if len(r.kept) != maxRefusals || len(r.hosts) != 21 || r.hosts["noisy.test"] > maxRefusals/4 {
		t.Errorf("%d are kept: %v", len(r.kept), r.hosts)
	}
	if !slices.IsSortedFunc(r.kept, func(a, b *statusapi.Refusal) int { return cmp.Compare(a.Seq, b.Seq) }) {
		t.Error("they are not in order")
	}
}
