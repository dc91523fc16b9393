package limits

import (
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A request takes its turn when it is let through, until it ends. A refused one takes none.
func TestRequestsAtOnce(t *testing.T) {
	e := newSite(t, "", judge.Settings{}, atOnceLimit)
	enter := func(ua string) (d judge.Decision, q *Request) {
		q = e.enter(e.request("/archive/x", ua), &d)
		return d, q
	}
	first, one := enter(fake.Gptbot)
	second, two := enter(ahrefs)
	same, _ := enter(fake.Gptbot)
	third, _ := enter(archive)
	if first.Action != judge.Pass || second.Action != judge.Pass {
		t.Fatalf("%v, %v", first.Reason, second.Reason)
	}
	if same.Reason != Reason || third.RuleText() != "limit /archive/: at_once 2" || third.RetryAfter != atOnceRetry {
		t.Errorf("%v; %v by %q, Retry-After %v", same.Reason, third.Reason, third.RuleText(), third.RetryAfter)
	}
	one.Reset()
	if d, _ := enter(ahrefs); d.RuleText() != "limit /archive/: each_at_once 1" {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	again, three := enter(archive)
	if again.Action != judge.Pass {
		t.Errorf("%v after Reset", again.Reason)
	}
	two.Reset()
	three.Reset()
	if n := e.set.turns.total(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
}

// total returns the number of requests in flight, each for each of its keys.
func (f *Turns) total() (n int) {
	for i := range f {
		for _, count := range f[i].counts {
			n += count
		}
	}
	return n
}

// Places survive a reload: the new engine counts the requests of the old one.
// Monitor mode counts its own.
func TestRequestsAtOnceAfterAReload(t *testing.T) {
	turns, limiter, clock := new(Turns), throttle.NewMemory(16), fake.NewClock()
	load := func(s judge.Settings, hosts ...string) *site {
		return newSiteAt(t, "", s, hosts, limiter, turns, clock, Limit{AtOnce: 1})
	}
	decide := func(e *site) (d judge.Decision, q *Request) {
		q = e.enter(e.request("/", fake.Gptbot), &d)
		return d, q
	}
	before := load(judge.Settings{}, "b.test", "a.test")
	_, first := decide(before)
	after := load(judge.Settings{}, "a.test", "b.test")
	if d, _ := decide(after); d.Reason != Reason {
		t.Errorf("after a reload: %v", d.Reason)
	}
	for _, other := range []*site{load(judge.Settings{}, "c.test"), load(judge.Settings{Monitor: true}, "a.test", "b.test")} {
		d, q := decide(other)
		if d.Action != judge.Pass {
			t.Errorf("another site, or monitor mode: %v", d.Reason)
		}
		q.Reset()
	}
	first.Reset()
	d, q := decide(after)
	if d.Action != judge.Pass {
		t.Errorf("after the old request has ended: %v", d.Reason)
	}
	q.Reset()
	if n := turns.total(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
}

// While others come, no crawler holds more than half of the turns, rounded up. Names
// that are neither verified nor known share one half. A crawler that is alone gets all.
func TestNobodyHoldsAllTurns(t *testing.T) {
	e := newSite(t, "User-agent: Named\nDisallow: /private/\n", judge.Settings{}, Limit{AtOnce: 5})
	enter := func(ua string) (passed bool, leave func()) {
		var d judge.Decision
		q := e.enter(e.request("/x", ua), &d)
		return d.Action == judge.Pass, q.Reset
	}
	bot := func(n int) string {
		return fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather.example/)", n)
	}
	fill := func(ua func(int) string) (n int) {
		for i := range 6 {
			if passed, leave := enter(ua(i)); passed {
				defer leave()
				n++
			}
		}
		return n
	}
	same := func(ua string) func(int) string { return func(int) string { return ua } }
	if n := fill(same(fake.Gptbot)); n != 5 {
		t.Errorf("alone, a crawler gets %d of 5", n)
	}
	_, leave := enter(ahrefs)
	leave()
	e.clock.Advance(-10 * time.Minute)
	if n := fill(same(fake.Gptbot)); n != 5 {
		t.Errorf("alone, after the clock was set back, a crawler gets %d of 5", n)
	}
	e.clock.Advance(10 * time.Minute)
	_, leave = enter(ahrefs)
	leave()
	for name, tt := range map[string]struct {
		ua   func(int) string
		most int
	}{"a known crawler": {same(fake.Gptbot), 3}, "one that robots.txt names": {same("Named/1.0"), 3}, "invented names": {bot, 3}} {
		if n := fill(tt.ua); n != tt.most {
			t.Errorf("%s gets %d of 5 while another comes, want %d", name, n, tt.most)
		}
	}
	for i := range 6 {
		if passed, leave := enter(bot(i)); passed {
			defer leave()
		}
	}
	if n := fill(same(ahrefs)); n != 2 {
		t.Errorf("beside invented names that hold half, a crawler gets %d of 5, want 2", n)
	}
	e.clock.Advance(otherCame + time.Second)
	if n := fill(same(fake.Gptbot)); n != 2 {
		t.Errorf("%d of the 2 free ones", n)
	}
}
