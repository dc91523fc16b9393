package counters

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

const day = 24 * time.Hour

// visit counts a refused request of a crawler, and one of a person, to a host.
func visit(c *Counters, clock *testClock, pattern, host string) {
	h := c.Site(pattern).Host(host)
	h.Count(decision(gptbot, judge.Disallowed), clock.requestTo(host))
	h.CountPerson(7)
}

// siteByName returns the counts of a site or host, nil if it has none.
func siteByName(c *Counters, scope statusapi.Scope, name string) *statusapi.Site {
	for _, s := range c.View(scope, statusapi.SpanMonth).Sites {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func TestIsHostName(t *testing.T) {
	for name, want := range map[string]bool{
		"shop.example": true, "a-b.example": true, "xn--4ca.example": true, "localhost": true, "192.0.2.1": true, "1.example": true,
		"": false, ".": false, "a..b": false, ".a": false, "a.": false, "-a.example": false, "a-.example": false, "a.-b": false, "--rm": false,
		"a_b.example": false, "A.example": false, "a b": false, "$(x)": false, "a\x00b": false, "é.example": false, "2001:db8::1": false, "*.a": false,
		strings.Repeat("a.", 126) + "ab": false,
	} {
		if IsHostName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// A host that only a pattern names has counts of its own, which the pattern has too.
func TestHostsCountApart(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("named.example").CountPerson(0)
	for i, host := range []string{"t0.example", "t1.example", "t2.example"} {
		for range i + 1 {
			visit(c, clock, statusapi.AnySite, host)
		}
	}
	visit(c, clock, statusapi.AnySite, "-rf.example")
	visit(c, clock, "*.pages.example", "t1.example") // at another site
	all := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary
	if all.Crawlers.Total.Denied != 8 || all.People.Hour != 9 || all.Series.Denied[59] != 8 || len(all.Reasons) != 1 || all.Reasons[0].Total != 8 {
		t.Errorf("the sum: %+v, people %+v, %+v", all.Crawlers, all.People, all.Reasons)
	}
	if s := siteByName(c, statusapi.AllSites(), statusapi.AnySite); s.Denied != 7 || s.People != 7 || s.Pattern != "" {
		t.Errorf("the pattern: %+v", s)
	}
	own := c.View(statusapi.Sites("t2.example"), statusapi.SpanHour).Summary
	if rows := c.View(statusapi.Sites("t2.example"), statusapi.SpanHour).Sites; len(rows) != 1 || rows[0].Pattern != statusapi.AnySite || own.Crawlers.Total.Denied != 3 || own.People.Total != 3 || own.Reasons[0].Hour != 3 {
		t.Errorf("one host: %+v", own)
	}
	if found := crawlersByName(c, statusapi.Sites("t2.example")); found["GPTBot"].Hour.Denied != 3 {
		t.Errorf("its crawlers: %+v", found)
	}
	if s := siteByName(c, statusapi.AllSites(), "-rf.example"); s != nil {
		t.Errorf("a host that is none has counters: %+v", s)
	}
	if recent := c.Kept(statusapi.Sites("t2.example"), 0); len(recent) != 3 || recent[0].Host != "t2.example" {
		t.Errorf("its refusals: %+v", recent)
	}
	if lines := c.View(statusapi.Sites("t2.example"), statusapi.SpanHour).Lines; len(lines) != 1 || lines[0].Denied != 3 {
		t.Errorf("its lines: %+v", lines)
	}
}

// tenants counts requests to hosts on two days.
func tenants(c *Counters, clock *testClock, n int) {
	for range 2 {
		for i := range n {
			visit(c, clock, statusapi.AnySite, fmt.Sprintf("t%d.example", i))
			if i%500 == 499 {
				clock.add(time.Minute)
				c.Fold()
			}
		}
		clock.add(day)
		c.Fold()
	}
}

// Invented hosts take the counters of no host that had requests on two days, even if those
// take most of the room. No count is lost.
func TestInventedHostsPushOutNoTenant(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	const known, invented, twice = 500, 5_000, 2
	c.SetRoom(1500 * rowSize)
	tenants(c, clock, known)
	for range twice {
		for i := range invented {
			visit(c, clock, statusapi.AnySite, fmt.Sprintf("made-up-%d.example", i))
			if i%700 == 0 {
				clock.add(time.Minute)
				c.Fold()
			}
		}
	}
	found := make(map[string]*statusapi.Site)
	for _, s := range c.View(statusapi.AllSites(), statusapi.SpanMonth).Sites {
		found[s.Name] = s
	}
	for i := range known {
		name := fmt.Sprintf("t%d.example", i)
		if s := found[name]; s == nil || s.Denied != 2 || s.People != 2 || !c.KnowsHost(name) {
			t.Fatalf("%s: %+v", name, s)
		}
	}
	if rows := c.ofHosts.n.Load(); rows > 1500 {
		t.Errorf("hosts have %d rows", rows)
	}
	want := uint64(2*known + twice*invented)
	if s := siteByName(c, statusapi.AllSites(), statusapi.AnySite); s.Denied != want || s.People != want {
		t.Errorf("the pattern: %+v", s)
	}
	if found := crawlersByName(c, statusapi.AllSites()); found["GPTBot"].Total.Denied != want {
		t.Errorf("%+v", found["GPTBot"])
	}
}

// The new hosts with the fewest requests make room for others, and those without a request for a
// month have no counters any more.
func TestNewHostsMakeRoom(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	c.SetRoom(800 * rowSize)
	for i := range 400 {
		visit(c, clock, statusapi.AnySite, fmt.Sprintf("t%d.example", i))
		visit(c, clock, statusapi.AnySite, "t0.example")
	}
	site := c.Site(statusapi.AnySite)
	visit(c, clock, statusapi.AnySite, "late.example")
	if site.Host("late.example") != site || c.HasHost("late.example") {
		t.Error("a host has counters though the room of new ones is full")
	}
	clock.add(time.Minute)
	c.Fold()
	visit(c, clock, statusapi.AnySite, "late.example")
	if s := siteByName(c, statusapi.AllSites(), "late.example"); s == nil || s.Denied != 1 || !c.HasHost("t0.example") || c.KnowsHost("t0.example") {
		t.Errorf("a minute later: %+v", s)
	}
	clock.add(40 * day)
	c.Fold()
	if c.HasHost("late.example") || c.HasHost("t0.example") {
		t.Error("hosts keep their counters after a month without requests")
	}
}

// The counters of hosts take no more memory than they may, whoever calls them what.
func TestHostCountersAreBounded(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	const room = 1 << 20
	c.SetRoom(room)
	n := uint64(0)
	for round := range 3 {
		for i := range 3000 {
			host := fmt.Sprintf("t%d.example", i)
			h := c.Site(statusapi.AnySite).Host(host)
			for class := crawler.Person + 1; class <= crawler.Library; class++ {
				a := crawler.Agent{Class: class, Token: fmt.Sprintf("Bot%d", i*round)}
				h.Count(decision(a, judge.Disallowed), clock.requestTo(host))
				n++
			}
			if i%500 == 0 {
				clock.add(time.Minute)
				c.Fold()
				if octets := c.HostOctets(); octets > 2*room { // for the minute in which evicted ones are still counted
					t.Fatalf("%d octets", octets)
				}
			}
		}
		clock.add(day)
		for range 3 { // evicted ones are added to the pattern a minute later
			clock.add(time.Minute)
			c.Fold()
		}
		if octets := c.HostOctets(); round == 2 && (octets > room || octets < room/4) {
			t.Errorf("%d octets after a day", octets)
		}
	}
	if total := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary.Crawlers.Total.Requests; total != n {
		t.Errorf("%d requests, want %d", total, n)
	}
}

// Hosts keep their counters over a restart, and those of two days keep their place.
func TestSaveAndLoadHosts(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	tenants(c, clock, 3)
	visit(c, clock, statusapi.AnySite, "new.example")
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		t.Fatal(err)
	}
	restored, text := New(clock.now), bytes.Clone(saved.Bytes())
	if _, err := restored.Load(&saved); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"t1.example": 2, "new.example": 1, statusapi.AnySite: 7} {
		if s := siteByName(restored, statusapi.AllSites(), name); s == nil || s.Denied != want || s.People != want {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if !restored.KnowsHost("t1.example") || restored.KnowsHost("new.example") {
		t.Error("which hosts had requests on two days is not known")
	}
	full := New(clock.now)
	full.SetRoom(2 * rowSize)
	if _, err := full.Load(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if s := siteByName(full, statusapi.AllSites(), statusapi.AnySite); s.Denied != 7 || s.People != 7 {
		t.Errorf("the pattern without room for hosts: %+v", s)
	}
	visit(restored, clock, statusapi.AnySite, "t1.example")
	if lines := restored.View(statusapi.Sites("t1.example"), statusapi.SpanHour).Lines; len(lines) != 1 || lines[0].Denied != 3 {
		t.Errorf("lines: %+v", lines)
	}
}

// Requests to hosts, with counters or without room for them, allocate nothing.
func TestHostAllocatesNothing(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site(statusapi.AnySite)
	for i := range 5000 {
		site.Host(fmt.Sprintf("t%d.example", i))
	}
	for _, host := range []string{"t1.example", fmt.Sprintf("t%d.example", 5000-1), "no_host"} {
		if n := testing.AllocsPerRun(100, func() { site.Host(host).CountPerson(3) }); n != 0 {
			t.Errorf("%s: %v allocations", host, n)
		}
	}
}

// HostOctets is near the memory that the counters of hosts really take.
func TestHostMemory(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	c.SetRoom(1 << 30)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	ccbot := crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("CCBot"), Token: "CCBot"}
	bots := []crawler.Agent{gptbot, ccbot, {Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("Googlebot"), Token: "Googlebot"}}
	for range 2 {
		for i := range 900 {
			host := fmt.Sprintf("t%d.example", i)
			h := c.Site(statusapi.AnySite).Host(host)
			h.CountPerson(0)
			for _, a := range bots {
				h.Count(decision(a, judge.Disallowed), clock.requestTo(host))
				h.Count(decision(a, judge.Allowed), clock.requestTo(host))
			}
		}
		clock.add(day)
		c.Fold()
	}
	clock.add(time.Minute)
	c.Fold()
	took, estimate := heap()-before, c.HostOctets()
	t.Logf("%d octets a host, %d estimated", took/900, estimate/900)
	if estimate < took*3/4 || estimate > took*3/2 {
		t.Errorf("%d octets, estimated as %d", took, estimate)
	}
	runtime.KeepAlive(c)
}

// The days of a host are those of its rows, however long the pauses are.
func TestDaysOfAHost(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site(statusapi.AnySite)
	for i, pause := range []time.Duration{1, 24, 20 * 24, 25 * 24, 24, 30 * 24, 24} {
		host := site.Host("t.example")
		if i%2 == 0 {
			host.CountPerson(0)
		} else {
			host.Count(decision(gptbot, judge.Disallowed), clock.requestTo("t.example"))
		}
		c.Fold()
		want := uint32(0)
		for r := range c.rows.all() {
			if r.site == host {
				want |= r.Past.days()
			}
		}
		if host.days != want || want == 0 {
			t.Errorf("request %d: days %b, want %b", i, host.days, want)
		}
		clock.add(pause * time.Hour)
		c.Fold()
	}
}
