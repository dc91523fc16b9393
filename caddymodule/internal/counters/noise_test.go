package counters

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// The refusals of one tenant of a catch-all leave those of another, also with the names
// of many crawlers.
func TestNoiseOfOneHostHidesNothingOfAnother(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("*")
	refuse := func(host string, d *judge.Decision) {
		r := clock.request()
		r.Origin.Host = host
		site.Count(d, r)
	}
	for range 8 {
		refuse("quiet.test", decision(goodbot, judge.Disallowed))
		clock.add(time.Second)
	}
	n := 0
	for range 3 {
		for row := range crawler.Builtin().All() {
			for range 5 {
				refuse("noisy.test", decision(crawler.Agent{Class: row.Class, Crawler: row, Token: row.Name}, judge.Disallowed))
				n++
			}
			clock.add(time.Second)
		}
	}
	counts := make(map[string]int)
	list := c.Kept(statusapi.AllSites(), 0)
	for i, f := range list {
		counts[f.Host]++
		if i > 0 && f.Seq >= list[i-1].Seq {
			t.Fatal("not in order")
		}
	}
	if counts["quiet.test"] != 8 || counts["noisy.test"] != maxRefusals-8 {
		t.Errorf("after %d refusals of another host: %v", n, counts)
	}
	// The gates of hosts are apart too.
	for i := range 2000 {
		refuse("noisy.test", decision(gptbot, judge.Disallowed))
		if i%200 == 0 {
			refuse("quiet.test", decision(gptbot, judge.Disallowed))
		}
	}
	kept := 0
	for _, f := range c.Kept(statusapi.AllSites(), 0) {
		if f.Host == "quiet.test" && f.Crawler == "GPTBot" {
			kept++
		}
	}
	if kept != 10 {
		t.Errorf("%d of 10 refusals of the quiet host are kept, while another is noisy", kept)
	}
}
