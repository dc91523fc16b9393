package counters

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// The number of counters is bounded for any number of names and hosts, and no
// count is lost.
func TestBoundsForManyNamesAndHosts(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site, other := c.Site(statusapi.AnySite), c.Site("example.com")
	other.Count(decision(goodbot, judge.Disallowed), clock.request())
	const n = 20_000
	for i := range n {
		a := crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i)}
		site.Count(decision(a, judge.Disallowed), clock.requestTo(fmt.Sprintf("h%d.example", i)))
		if i%500 == 0 {
			other.Count(decision(goodbot, judge.Disallowed), clock.request())
			clock.add(time.Minute)
			c.Fold()
		}
	}
	if names := c.invented.n.Load(); names > maxInvented {
		t.Errorf("%d rows of invented names", names)
	}
	if rows := c.named.n.Load() + c.invented.n.Load(); rows > maxNamed+maxInvented {
		t.Errorf("%d rows", rows)
	}
	found := crawlersByName(c, statusapi.AllSites())
	sum := uint64(0)
	for _, one := range found {
		sum += one.Total.Requests
	}
	if want := uint64(n + n/500 + 1); sum != want {
		t.Errorf("%d requests, want %d", sum, want)
	}
	if found["GoodBot"].Total.Requests != n/500+1 {
		t.Errorf("a crawler that sends requests all the time has lost its counters")
	}
	if o := found["self-declared"]; !o.Other || o.Total.Requests == 0 {
		t.Errorf("the crawlers without counters are not counted by class: %+v", o)
	}
	for i := range 2 * MaxSites {
		c.Site(fmt.Sprintf("s%d.example", i)).CountPerson(0)
	}
	sites := len(c.View(statusapi.AllSites(), statusapi.SpanHour).Sites)
	if s := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary; sites != MaxSites+1 || s.People.Total != 2*MaxSites {
		t.Errorf("%d sites, %d people", sites, s.People.Total)
	}
}

// Nothing is lost if requests are counted during Fold and Summary.
func TestCountDuringFold(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	const callers, each = 4, 5000
	var counting sync.WaitGroup
	for n := range callers {
		counting.Go(func() {
			site := c.Site("example.com")
			for i := range each {
				a := crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i%700+n)}
				site.Count(decision(a, judge.Disallowed), clock.request())
				site.CountPerson(uint32(n))
			}
		})
	}
	done := make(chan struct{})
	go func() { counting.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		c.View(statusapi.AllSites(), statusapi.SpanHour)
		clock.add(20 * time.Second)
		c.Fold()
	}
	clock.add(time.Minute)
	c.Fold()
	s := c.View(statusapi.AllSites(), statusapi.SpanMonth).Summary
	if s.Crawlers.Total.Denied != callers*each || s.People.Total != callers*each || s.Crawlers.Month.Denied != callers*each {
		t.Errorf("%+v, people %+v", s.Crawlers, s.People)
	}
}
