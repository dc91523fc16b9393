package counters

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// testClock is a clock that tests set.
type testClock struct{ unix atomic.Int64 }

func newTestClock() *testClock {
	c := new(testClock)
	c.unix.Store(time.Date(2026, 11, 21, 14, 30, 10, 0, time.UTC).Unix())
	return c
}

func (c *testClock) now() time.Time      { return time.Unix(c.unix.Load(), 0).UTC() }
func (c *testClock) add(d time.Duration) { c.unix.Add(int64(d / time.Second)) }
func (c *testClock) request() *Request {
	return &Request{Time: c.now(), Origin: origin, Method: "GET", Target: "/private/x?secret=1", Client: "192.0.2.77", UserAgents: []string{"GPTBot/1.2"}}
}
func (c *testClock) requestTo(h string) *Request {
	r := c.request()
	r.Origin.Host = h
	return r
}

var (
	origin  = enforce.NewOrigin("https", "example.com", 443)
	file1   = robots.Parse([]byte("User-agent: *\nDisallow: /private/\nAllow: /private/x\nCrawl-delay: 10\n"))
	gptbot  = crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("GPTBot"), Token: "GPTBot"}
	goodbot = crawler.Agent{Class: crawler.SelfDeclared, Token: "GoodBot"}
)

func decision(a crawler.Agent, why enforce.Reason) *enforce.Decision {
	d := &enforce.Decision{Action: actions[why], Reason: why, Agent: a}
	switch why {
	case enforce.Disallowed:
		d.Group, d.Rule, d.Layer, d.Line = file1.Star(), &file1.Star().Rules()[0], enforce.SiteLayer, 2
	case enforce.CrawlDelay:
		d.Group, d.Layer, d.Line, d.RetryAfter = file1.Star(), enforce.SiteLayer, 4, 9500*time.Millisecond
	case enforce.Hidden:
		d.Layer, d.Line = enforce.HiddenLayer, 12
	}
	return d
}

func crawlersByName(c *Counters, scope status.Scope) map[string]status.Crawler {
	list, _ := c.Crawlers(scope, status.CrawlersQuery{Span: status.SpanHour})
	found := make(map[string]status.Crawler)
	for _, one := range list {
		found[one.Name] = one
	}
	return found
}

func TestCountsByCrawlerReasonAndRule(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	for range 3 {
		site.Count(decision(gptbot, enforce.Disallowed), clock.request())
	}
	claimed := decision(gptbot, enforce.Allowed)
	claimed.Claim.State = verify.Verified
	site.Count(claimed, clock.request())
	monitored := clock.request()
	monitored.Monitor = true
	site.Count(decision(goodbot, enforce.CrawlDelay), monitored)
	for i := range uint32(20) {
		site.CountPerson(i)
	}

	s := c.Summary(status.AllSites(), status.SpanHour)
	if s.People.Hour != 20 || s.People.Total != 20 || s.Crawlers.Hour.Requests != 5 || s.Crawlers.Total.Denied != 3 || s.Crawlers.Day.WouldThrottle != 1 {
		t.Errorf("summary: %+v, people %+v", s.Crawlers, s.People)
	}
	if got := s.Series.Denied[59]; got != 3 {
		t.Errorf("denied in the present minute: %d, want 3", got)
	}
	if want := time.Date(2026, 11, 21, 13, 31, 0, 0, time.UTC); !s.Series.Start.Equal(want) {
		t.Errorf("the series starts at %v, want %v", s.Series.Start, want)
	}
	found := crawlersByName(c, status.AllSites())
	if g := found["GPTBot"]; !g.Known || g.Purpose != "ai-training" || g.Hour.Requests != 4 || g.Hour.Passed != 1 || g.Hour.Verified != 1 {
		t.Errorf("GPTBot: %+v", g)
	}
	if g := found["GoodBot"]; g.Known || g.Class != "self-declared" || g.Hour.WouldThrottle != 1 {
		t.Errorf("GoodBot: %+v", g)
	}
	wantReasons := map[string]uint64{"disallowed deny": 3, "allowed pass": 1, "crawl_delay would_throttle": 1}
	for _, r := range s.Reasons {
		if wantReasons[r.Reason+" "+r.Action] != r.Hour || r.Total != r.Hour {
			t.Errorf("reason %+v", r)
		}
		delete(wantReasons, r.Reason+" "+r.Action)
	}
	if len(wantReasons) > 0 {
		t.Errorf("reasons that are not told: %v", wantReasons)
	}
	rules := make(map[int]RuleCount)
	for _, r := range c.Rules(status.AllSites()) {
		rules[r.Line] = r
	}
	if r := rules[2]; r.Denied != 3 || r.Hour != 3 || r.Text != "Disallow: /private/" || r.Group != "*" || r.Layer != enforce.SiteLayer || r.Site != "example.com" {
		t.Errorf("line 2: %+v", r)
	}
	if r := rules[4]; r.WouldThrottle != 1 || r.Day != 1 || r.Reason != enforce.CrawlDelay {
		t.Errorf("line 4: %+v", r)
	}
}

// A rule that moves in the file keeps its counts.
func TestRuleThatMovesKeepsItsCounts(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	d := decision(gptbot, enforce.Disallowed)
	c.Site("example.com").Count(d, clock.request())
	d.Line = 7
	c.Site("example.com").Count(d, clock.request())
	rules := c.Rules(status.AllSites())
	if len(rules) != 1 || rules[0].Line != 7 || rules[0].Denied != 2 {
		t.Errorf("rules: %+v", rules)
	}
}

func TestPastMovesOn(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	count := func(n int) {
		c.Fold()
		for range n {
			site.Count(decision(gptbot, enforce.Disallowed), clock.request())
		}
		c.Fold()
	}
	windows := func() status.Windows { return c.Summary(status.AllSites(), status.SpanHour).Crawlers }
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

// A second handler on the same request adds no request, and its refusal counts.
func TestRepeatedRequestCountsOnce(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	first, second := clock.request(), clock.request()
	first.Monitor, second.Repeated = true, true
	site := c.Site("example.com")
	site.Count(decision(gptbot, enforce.Disallowed), first)
	site.Count(decision(gptbot, enforce.Disallowed), second)
	site.Count(decision(goodbot, enforce.Allowed), clock.request())
	site.Count(decision(goodbot, enforce.Allowed), second)
	if got := c.Summary(status.AllSites(), status.SpanHour).Crawlers.Hour; got.Requests != 2 || got.WouldDeny != 1 || got.Denied != 1 || got.Passed != 1 {
		t.Errorf("%+v", got)
	}
}

func TestScopeHasNothingOfOthers(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("a.example").Count(decision(gptbot, enforce.Disallowed), clock.requestTo("a.example"))
	c.Site("b.example").Count(decision(goodbot, enforce.CrawlDelay), clock.requestTo("b.example"))
	c.Site("b.example").CountPerson(0)
	c.Site(status.AnySite).Count(decision(goodbot, enforce.Disallowed), clock.requestTo("made-up.example"))
	scope := status.Sites("a.example", "made-up.example")
	s := c.Summary(scope, status.SpanHour)
	if len(s.Sites) != 1 || s.Crawlers.Total.Requests != 1 || s.People.Total != 0 || len(s.Reasons) != 1 {
		t.Errorf("summary: %+v", s)
	}
	if found := crawlersByName(c, scope); len(found) != 1 || found["GPTBot"].Total.Requests != 1 {
		t.Errorf("crawlers: %v", found)
	}
	if rules := c.Rules(scope); len(rules) != 2 { // of a pattern's site, those of the host that is named
		t.Errorf("rules: %+v", rules)
	}
	recent := c.Refusals(scope, status.RecentQuery{})
	if len(recent.Refusals) != 2 || recent.Refusals[0].Host != "made-up.example" || recent.Refusals[1].Host != "a.example" {
		t.Errorf("refusals: %+v", recent)
	}
}

// A refusal tells neither query, nor the whole address, nor a hidden path.
func TestRefusalHidesWhatIsPrivate(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	r := clock.request()
	r.UserAgents = []string{"GPTBot/1.2 \xff"}
	c.Site("example.com").Count(decision(gptbot, enforce.Disallowed), r)
	r.Client, r.Target = "2001:db8:1:2::3", "http://user:pw@example.com/private/y?secret=2"
	c.Site("example.com").Count(decision(gptbot, enforce.Disallowed), r)
	c.Site("example.com").Count(decision(gptbot, enforce.Hidden), r)
	got := c.Refusals(status.AllSites(), status.RecentQuery{}).Refusals
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

// A flood of one crawler leaves the refusals of others in place, and says how
// many are not shown.
func TestFloodLeavesOtherRefusals(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	site.Count(decision(goodbot, enforce.Disallowed), clock.request())
	for range 100 {
		for range 1000 {
			site.Count(decision(gptbot, enforce.Disallowed), clock.request())
		}
		clock.add(time.Second)
	}
	recent := c.Refusals(status.AllSites(), status.RecentQuery{Limit: MaxRefusals}).Refusals
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
		t.Errorf("%d refusals are kept for %d", len(recent), shown)
	}
}

// A flood of names and hosts stays bounded, and no count is lost.
func TestFloodOfNamesStaysBounded(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site, other := c.Site(status.AnySite), c.Site("example.com")
	other.Count(decision(goodbot, enforce.Disallowed), clock.request())
	const n = 20_000
	for i := range n {
		a := crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i)}
		site.Count(decision(a, enforce.Disallowed), clock.requestTo(fmt.Sprintf("h%d.example", i)))
		if i%500 == 0 {
			other.Count(decision(goodbot, enforce.Disallowed), clock.request())
			clock.add(time.Minute)
			c.Fold()
		}
	}
	if names := c.names.Load(); names > MaxNames {
		t.Errorf("%d names", names)
	}
	if crawlers, rules := c.Sizes(); crawlers > MaxCrawlers || rules > maxInvented+10 {
		t.Errorf("%d crawlers, %d rules", crawlers, rules)
	}
	found := crawlersByName(c, status.AllSites())
	sum := uint64(0)
	for _, one := range found {
		sum += one.Total.Requests
	}
	if want := uint64(n + n/500 + 1); sum != want {
		t.Errorf("%d requests, want %d", sum, want)
	}
	if found["GoodBot"].Total.Requests != n/500+1 {
		t.Errorf("a crawler that comes all the time is not counted by name any longer")
	}
	if o := found["self-declared"]; !o.Other || o.Total.Requests == 0 {
		t.Errorf("there is no row for the crawlers without room: %+v", o)
	}
	for i := range 2 * MaxSites {
		c.Site(fmt.Sprintf("s%d.example", i)).CountPerson(0)
	}
	if s := c.Summary(status.AllSites(), status.SpanHour); len(s.Sites) != MaxSites+1 || s.People.Total != 2*MaxSites {
		t.Errorf("%d sites, %d people", len(s.Sites), s.People.Total)
	}
}

func TestSaveAndLoad(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	site.CountPerson(3)
	for i := range 5 {
		site.Count(decision(gptbot, enforce.Disallowed), clock.request())
		site.Count(decision(crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i)}, enforce.CrawlDelay), clock.request())
		clock.add(30 * time.Minute)
		c.Fold()
	}
	site.class(crawler.Program).decided[1][enforce.Disallowed].Add(4)
	var saved bytes.Buffer
	if err := c.Save(&saved); err != nil {
		t.Fatal(err)
	}
	text := saved.String()
	clock.add(2 * time.Hour)
	restored := New(clock.now)
	restored.Site("example.com").Count(decision(gptbot, enforce.Disallowed), clock.request())
	if err := restored.Load(&saved); err != nil {
		t.Fatal(err)
	}
	want, got := c.Summary(status.AllSites(), status.SpanDay), restored.Summary(status.AllSites(), status.SpanDay)
	if got.Crawlers.Total.Requests != want.Crawlers.Total.Requests+1 || got.Crawlers.Day.Denied != 6 || got.Crawlers.Hour.Denied != 1 ||
		got.People.Total != 1 || got.People.Day != 1 || !got.Since.Equal(want.Since) || got.Crawlers.Total.WouldDeny != 4 {
		t.Errorf("restored: %+v %+v, want %+v %+v", got.Crawlers, got.People, want.Crawlers, want.People)
	}
	rules := restored.Rules(status.AllSites())
	if len(rules) != 2 {
		t.Fatalf("rules: %+v", rules)
	}
	for _, r := range rules {
		if r.Line == 2 && (r.Denied != 6 || r.Day != 6 || r.Text != "Disallow: /private/") || r.Line == 4 && r.Throttled != 5 {
			t.Errorf("rule: %+v", r)
		}
	}
	for _, damaged := range []string{"", "{", text[:len(text)/2], `{"version":2}`, `{"version":1,"sites":[{"crawlers":[{"class":"x"}]}]}`,
		`{"version":1,"sites":[{"crawlers":[null]}]}`, `{"version":1,"rules":[null]}`, `{"version":1,"rules":[{"layer":"x"}]}`} {
		fresh := New(clock.now)
		if err := fresh.Load(strings.NewReader(damaged)); err == nil {
			t.Errorf("%.50q is loaded", damaged)
		}
		if s := fresh.Summary(status.AllSites(), status.SpanHour); len(s.Sites) != 0 {
			t.Errorf("%.50q leaves sites: %+v", damaged, s.Sites)
		}
	}
}

// FuzzLoad holds that what a file has can't crash a server, and that what was
// loaded can be saved and loaded again.
func FuzzLoad(f *testing.F) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("example.com").Count(decision(gptbot, enforce.Disallowed), clock.request())
	var saved bytes.Buffer
	if err := c.Save(&saved); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Add([]byte(`{"version":1,"sites":[{"name":"a","people":{"total":1,"minutes":[[18446744073709551615,1]]}}],"rules":[{"layer":"site","reason":"allowed"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(clock.now)
		if c.Load(bytes.NewReader(data)) != nil {
			return
		}
		c.Fold()
		var again bytes.Buffer
		if err := c.Save(&again); err != nil {
			t.Fatal(err)
		}
		if err := New(clock.now).Load(&again); err != nil {
			t.Fatalf("what was saved can't be loaded: %v", err)
		}
	})
}

// Counting, reading and evicting at once lose nothing.
func TestCountingBesideFolding(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	const callers, each = 4, 5000
	var counting sync.WaitGroup
	for n := range callers {
		counting.Go(func() {
			site := c.Site("example.com")
			for i := range each {
				a := crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i%700+n)}
				site.Count(decision(a, enforce.Disallowed), clock.request())
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
		c.Summary(status.AllSites(), status.SpanHour)
		clock.add(20 * time.Second)
		c.Fold()
	}
	clock.add(time.Minute)
	c.Fold()
	s := c.Summary(status.AllSites(), status.SpanMonth)
	if s.Crawlers.Total.Denied != callers*each || s.People.Total != callers*each || s.Crawlers.Month.Denied != callers*each {
		t.Errorf("%+v, people %+v", s.Crawlers, s.People)
	}
}
