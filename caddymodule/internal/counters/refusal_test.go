package counters

import (
	"fmt"
	"math/rand/v2"
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
	got := c.Refusals(statusapi.AllSites(), statusapi.RecentQuery{}).Refusals
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
	recent := c.Refusals(statusapi.AllSites(), statusapi.RecentQuery{Limit: maxRefusals}).Refusals
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

// What makes room is the oldest refusal of a crawler that has most of them, at a host that
// has most of them: of the same host and crawler, unless others have more.
func TestTheOldestOfTheMostMakesRoom(t *testing.T) {
	r, random := &New(newTestClock().now).refusals, rand.New(rand.NewPCG(1, 2))
	for i := range 3 * maxRefusals {
		f := &statusapi.Refusal{Host: fmt.Sprint(random.IntN(1 + i%400)), Decision: verdict.Decision{Crawler: fmt.Sprint(random.IntN(3))}}
		hosts, crawlers, before := make(map[string]int), make(map[string]int), make(map[uint64]*statusapi.Refusal)
		for i := range r.kept {
			if k := r.kept[i].Load(); k != nil {
				before[k.Seq] = k
				hosts[k.Host]++
				crawlers[k.Host+" "+k.Crawler]++
			}
		}
		r.put(f)
		for i := range r.kept {
			if k := r.kept[i].Load(); k != nil {
				delete(before, k.Seq)
			}
		}
		if i < maxRefusals && len(before) == 0 {
			continue
		}
		if len(before) != 1 {
			t.Fatalf("refusal %d replaces %d", i, len(before))
		}
		for _, gone := range before {
			for host, n := range hosts {
				if n > hosts[gone.Host] || n == hosts[gone.Host] && host == f.Host && gone.Host != host {
					t.Fatalf("refusal %d of %s: %s with %d is replaced, and %s has %d", i, f.Host, gone.Host, hosts[gone.Host], host, n)
				}
			}
			for name, n := range crawlers {
				if host, _, _ := strings.Cut(name, " "); host == gone.Host && n > crawlers[host+" "+gone.Crawler] {
					t.Fatalf("refusal %d: %s of %s is replaced, and %s has %d", i, gone.Crawler, host, name, n)
				}
			}
			for i := range r.kept {
				if k := r.kept[i].Load(); k.Host == gone.Host && k.Crawler == gone.Crawler && k.Seq < gone.Seq {
					t.Fatalf("refusal %d: %d is replaced, and %d is older", i, gone.Seq, k.Seq)
				}
			}
		}
	}
	groups := len(r.hosts.groups)
	for _, host := range r.hosts.groups {
		groups += len(host.crawlers.groups)
	}
	if groups != len(r.groups) || groups > 2*maxRefusals {
		t.Errorf("%d groups are ranked, and %d are known", groups, len(r.groups))
	}
}
