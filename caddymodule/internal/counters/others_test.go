package counters

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// share returns the counts of a server for others.
func share(t *testing.T, c *Counters, sites ...string) []byte {
	t.Helper()
	server, text, err := c.Share(statusapi.Sites(sites...))
	if err != nil || server == "" {
		t.Fatal(server, err)
	}
	return text
}

// A view has the sum of all servers of a fleet, each once, at the sites of the fleet alone.
func TestViewOfSeveralServers(t *testing.T) {
	clock, fast := newTestClock(), newTestClock()
	three, since := New(clock.now), clock.now()
	clock.add(time.Hour)
	three.Fold()
	fast.add(time.Hour + 3*time.Minute) // the clock of two is ahead
	one, two := New(clock.now), New(fast.now)
	for n, c := range []*Counters{one, two, three} {
		own := []*testClock{clock, fast, clock}[n]
		for range n + 1 {
			c.Site("example.com").Count(decision(gptbot, judge.Disallowed), own.requestTo("example.com"))
			c.Site("example.com").CountPerson(0)
			visit(c, own, "*.example.org", "t1.example.org")
			c.Site("other.example").CountPerson(0)
		}
	}
	of := []string{"example.com", "*.example.org"}
	others := one.NewOthers(statusapi.Sites(of...))
	for _, text := range [][]byte{
		share(t, two, of...), share(t, one, of...), share(t, three, "example.com", "*.example.org", "other.example"), share(t, two, of...),
		[]byte("damaged"), nil,
	} {
		others.Add(text)
	}
	one.SetOthers([]*Others{others})
	for range 2 { // the second view is no sum of the first
		v := one.View(statusapi.AllSites(), statusapi.SpanHour)
		if v.Servers != 3 || v.Summary.Crawlers.Total.Requests != 12 || v.People.Total != 13 || v.People.Hour != 9 { // and 4 of minutes to come
			t.Errorf("%d servers, %d requests of crawlers, %+v people", v.Servers, v.Summary.Crawlers.Total.Requests, v.People)
		}
		if n := len(v.Sites); n != 4 || !v.Since.Equal(since) {
			t.Errorf("%d sites since %s", n, v.Since)
		}
		for _, line := range v.Lines {
			if line.Denied != 6 {
				t.Errorf("a line of %s refused %d", line.Origin.Host, line.Denied)
			}
		}
	}
	for name, want := range map[string]uint64{"example.com": 6, "t1.example.org": 6, "*.example.org": 6, "other.example": 0} {
		if s := siteByName(one, statusapi.AllSites(), name); s == nil || s.Requests != want {
			t.Errorf("%s: %+v, want %d", name, s, want)
		}
	}
	for name, want := range map[string]int{"example.com": 3, "t1.example.org": 3, "other.example": 0} {
		if v := one.View(statusapi.Sites(name), statusapi.SpanHour); v.Servers != want {
			t.Errorf("%s: %d servers, want %d", name, v.Servers, want)
		}
	}
	one.SetOthers(nil)
	if v := one.View(statusapi.AllSites(), statusapi.SpanHour); v.Servers != 0 || v.Summary.Crawlers.Total.Requests != 2 {
		t.Errorf("alone: %d servers, %d requests", v.Servers, v.Summary.Crawlers.Total.Requests)
	}
}

// What a server shares is bounded: it has the sites, and the hosts that came last. A server that
// gets a text without an end reads a part of it.
func TestSharedIsBounded(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	for i := range maxShared {
		if i == maxShared/2 {
			c.Fold()
			clock.add(time.Hour)
		}
		visit(c, clock, "*.example.org", fmt.Sprintf("t%d.example.org", i))
	}
	others := New(clock.now).NewOthers(statusapi.Sites("*.example.org"))
	others.Add(share(t, c, "*.example.org"))
	if rows := len(others.sum.snapshot(func(*row) bool { return true }).Rows); rows > maxShared || rows < maxShared/2 {
		t.Errorf("%d rows", rows)
	}
	if others.sum.HasHost("t0.example.org") || !others.sum.HasHost(fmt.Sprintf("t%d.example.org", maxShared/4*3)) {
		t.Error("the hosts that came first are left")
	}
	var endless bytes.Buffer
	w := gzip.NewWriter(&endless)
	for range 64 {
		_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	_ = w.Close()
	others.Add(endless.Bytes())
	if others.servers != 1 {
		t.Errorf("%d servers", others.servers)
	}
}
