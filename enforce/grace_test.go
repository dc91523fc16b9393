package enforce

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Versions of a file: each disallows what the one before allowed.
const (
	open   = "User-agent: *\nDisallow: /private/\n"
	closed = "User-agent: *\nDisallow: /private/\nDisallow: /archive/\n"
	shut   = "User-agent: *\nDisallow: /\nAllow: /private/\n"
)

// graceTest is an engine whose file changes.
type graceTest struct {
	*engineTest
	source *fakeSource
	t      *testing.T
}

func newGraceTest(t *testing.T, rules Rules, cfg Config) *graceTest {
	t.Helper()
	g := &graceTest{&engineTest{nil, newClock()}, new(fakeSource), t}
	g.source.set(200, open)
	limiter := throttle.NewMemory(1000)
	cfg.Now, cfg.Refresh = g.clock.now, 1000*time.Hour
	var err error
	if g.Engine, err = NewEngine(rules, g.source, limiter, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(); g.policies.running.Wait(); limiter.Close() })
	g.change(open)
	return g
}

// change changes the file and has it read.
func (g *graceTest) change(file string) {
	g.source.set(200, file)
	g.clock.advance(2 * time.Second)
	g.policies.Reread(&Request{Origin: home, Time: g.clock.now()})
	g.policies.running.Wait()
	g.clock.advance(time.Second)
}

// reads has a crawler read /robots.txt.
func (g *graceTest) reads(ua, addr string) {
	g.clock.advance(2 * time.Second)
	r := &Request{Method: "GET", Target: "/robots.txt", UserAgents: []string{ua}, Origin: home, Client: addr, Time: g.clock.now()}
	var d Decision
	g.Decide(context.Background(), r, &d)
	g.RobotsRead(r, d.Policy)
	g.policies.running.Wait()
	g.clock.advance(time.Second)
}

func (g *graceTest) ask(ua, addr, target string) Decision {
	var d Decision
	g.Decide(context.Background(), &Request{Target: target, UserAgents: []string{ua}, Origin: home, Client: addr, Time: g.clock.now()}, &d)
	return d
}

func (g *graceTest) wants(want Reason, ua, target, when string) {
	g.t.Helper()
	g.wantsAt(want, ua, "192.0.2.1", target, when)
}

func (g *graceTest) wantsAt(want Reason, ua, addr, target, when string) {
	g.t.Helper()
	if d := g.ask(ua, addr, target); d.Reason != want || (d.Version != nil) != (want == Graced) {
		g.t.Errorf("%s: %.50s from %s for %s: %v, want %v", when, ua, addr, target, d.Reason, want)
	}
}

// A search engine goes on by the version that it knows; all others are held to
// the new one at once.
func TestGraceOfSearchEngines(t *testing.T) {
	g := newGraceTest(t, Rules{}, Config{})
	for _, ua := range []string{googlebot, bingbot, gptbot, newbot, wget, chrome} {
		g.ask(ua, "192.0.2.1", "/")
	}
	g.change(closed)
	for ua, want := range map[string]Reason{googlebot: Graced, bingbot: Graced, gptbot: Disallowed, newbot: Disallowed, wget: Disallowed, chrome: Person} {
		g.wants(want, ua, "/archive/x", "after the change")
	}
	g.wants(Disallowed, googlebot, "/private/x", "what both versions disallow")
	g.wants(Allowed, googlebot, "/x", "what both versions allow")
	g.wants(Disallowed, "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)", "/archive/x", "a crawler that was not there before")
	d := g.ask(googlebot, "192.0.2.1", "/archive/x")
	if d.Action != Pass || d.RuleText() != "Disallow: /archive/" || d.Line != 3 || d.Layer != SiteLayer || d.GroupToken() != "*" {
		t.Errorf("%v by %q, line %d, layer %v", d.Action, d.RuleText(), d.Line, d.Layer)
	}
	if v := d.Version; v.Tag() != g.policyOf(open).Tag() || v.Tag() == d.Policy.Tag() || v.Ends().Sub(v.Until()) != 24*time.Hour {
		t.Errorf("version %q, from %q, until %v, ends %v", v.Tag(), g.policyOf(open).Tag(), v.Until(), v.Ends())
	}
}

func (g *graceTest) policyOf(file string) *Policy {
	p, err := Rules{}.Policy(Response{Status: 200, Body: []byte(file)})
	if err != nil {
		g.t.Fatal(err)
	}
	return p
}

// Grace ends when the crawler has read the file, and after 24 hours.
func TestEndOfGrace(t *testing.T) {
	g := newGraceTest(t, Rules{}, Config{})
	for _, ua := range []string{googlebot, bingbot} {
		g.reads(ua, "192.0.2.1")
	}
	g.change(closed)
	changed := g.clock.now()
	g.wants(Graced, googlebot, "/archive/x", "before it reads the file")
	g.reads(googlebot, "203.0.113.9") // from another of its addresses
	g.wants(Disallowed, googlebot, "/archive/x", "after it read the file")
	for range 11 {
		g.clock.advance(2 * time.Hour)
		g.wants(Graced, bingbot, "/archive/x", "within 24 hours")
	}
	g.clock.advance(changed.Add(GracePeriod-time.Second).Sub(g.clock.now()) - time.Nanosecond)
	g.wants(Graced, bingbot, "/archive/x", "a moment before 24 hours")
	g.clock.advance(time.Nanosecond)
	g.wants(Disallowed, bingbot, "/archive/x", "24 hours after the change")
}

// A read that finds the change itself is one of the new version.
func TestReadThatFindsTheChange(t *testing.T) {
	g := newGraceTest(t, Rules{}, Config{})
	g.reads(googlebot, "192.0.2.1")
	g.ask(bingbot, "192.0.2.1", "/")
	g.source.set(200, closed)
	g.reads(googlebot, "192.0.2.1")
	g.wants(Disallowed, googlebot, "/archive/x", "it read the new version first of all")
	g.wants(Graced, bingbot, "/archive/x", "it did not read it")

	// A read within a second of another one may be of either version: it counts
	// as one of the version before.
	g.reads(bingbot, "192.0.2.1")
	g.change0()
	r := &Request{Method: "GET", Target: "/robots.txt", UserAgents: []string{bingbot}, Origin: home, Time: g.clock.now().Add(time.Second / 2)}
	var d Decision
	g.Decide(context.Background(), r, &d)
	g.RobotsRead(r, d.Policy)
	g.source.set(200, shut)
	g.clock.advance(10 * time.Second)
	g.ask(chrome, "192.0.2.1", "/") // begins the read that is due
	g.policies.running.Wait()
	g.wants(Graced, bingbot, "/x", "it read the version before")
}

// What a change allows holds at once, and what it disallows only where the
// version before allowed it.
func TestChangesThatAllow(t *testing.T) {
	g := newGraceTest(t, Rules{Grace: GraceAll}, Config{})
	g.reads(gptbot, "192.0.2.1")
	g.change(shut)
	g.wants(Allowed, gptbot, "/private/x", "what the change allows")
	g.wants(Graced, gptbot, "/x", "what it disallows")
	g.change(open)
	g.wants(Allowed, gptbot, "/x", "the first version again")
	g.wants(Disallowed, gptbot, "/private/x", "a crawler that did not read the version between")

	// From no file at all, and by a file that can't be read.
	g.source.set(404, "")
	g.clock.advance(2 * time.Second)
	g.reads(gptbot, "192.0.2.1")
	g.change(open)
	g.wants(Graced, gptbot, "/private/x", "after a time without a file")
	g.reads(gptbot, "192.0.2.1")
	g.source.set(503, "")
	g.change0()
	g.wants(Disallowed, gptbot, "/private/x", "while the source fails")
	g.change(closed)
	g.wants(Graced, gptbot, "/archive/x", "after the source failed")
	g.wants(Disallowed, gptbot, "/private/x", "after the source failed")
}

// change0 has the file read as it is.
func (g *graceTest) change0() {
	g.clock.advance(2 * time.Second)
	g.policies.Reread(&Request{Origin: home, Time: g.clock.now()})
	g.policies.running.Wait()
}

// A crawler is held to the version that it read last, and one that was not seen
// to read any to what all disallow that it may have read.
func TestSeveralChanges(t *testing.T) {
	file := func(paths ...string) string {
		return "User-agent: *\nDisallow: " + strings.Join(paths, "\nDisallow: ") + "\n"
	}
	g := newGraceTest(t, Rules{Grace: GraceAll}, Config{})
	g.change(file("/1"))
	g.reads(gptbot, "192.0.2.1")
	g.ask(newbot, "192.0.2.1", "/")
	g.change(file("/2"))
	g.reads(googlebot, "192.0.2.1")
	g.change(file("/1", "/2", "/3"))
	g.ask(bingbot, "192.0.2.1", "/")
	for _, tt := range []struct {
		ua       string
		statuses [4]Reason // of /1, /2, /3
	}{
		{gptbot, [4]Reason{Disallowed, Graced, Graced}},    // read the first
		{googlebot, [4]Reason{Graced, Disallowed, Graced}}, // read the second
		{newbot, [4]Reason{Graced, Graced, Graced}},        // may have read either
		{bingbot, [4]Reason{Disallowed, Disallowed, Disallowed}},
	} {
		for i := range 3 {
			g.wants(tt.statuses[i], tt.ua, fmt.Sprintf("/%d", i+1), "after three versions")
		}
	}
	g.clock.advance(GracePeriod - 4*time.Second)
	g.wants(Disallowed, googlebot, "/2", "when the first version has ended")
	g.wants(Graced, googlebot, "/1", "while the second has not")
}

// A comment, a date or a Crawl-delay that changes is no change of the rules.
// Files that change all the time hold no more versions than a few.
func TestVersionsAreBounded(t *testing.T) {
	g := newGraceTest(t, Rules{}, Config{})
	g.reads(googlebot, "192.0.2.1")
	g.change(closed)
	for i := range 50 {
		g.change(fmt.Sprintf("# %d\n%sCrawl-delay: %d\n", i, closed, i))
	}
	g.wants(Graced, googlebot, "/archive/x", "after changes of comments")
	if h := g.history(); len(h.earlier) != 1 || h.current.Size() == len(closed) {
		t.Errorf("%d earlier versions, the current one has %d octets", len(h.earlier), h.current.Size())
	}
	for i := range 50 {
		g.change([]string{open, closed}[i%2])
	}
	if h := g.history(); len(h.earlier) != 1 {
		t.Errorf("%d earlier versions of a file that alternates", len(h.earlier))
	}
	for i := range 50 {
		g.change(fmt.Sprintf("%sDisallow: /%d\n", shut, i))
	}
	if h := g.history(); len(h.earlier) != maxVersions {
		t.Errorf("%d earlier versions, want %d", len(h.earlier), maxVersions)
	}
	g.wants(Disallowed, googlebot, "/x", "the version that it read was dropped")
	g.clock.advance(GracePeriod)
	g.change0()
	if h := g.history(); len(h.earlier) != 0 || len(g.policies.shared) != 1 || g.policies.withEarlier.Load() != 0 {
		t.Errorf("after 24 hours: %d earlier versions, %d policies, %d graces", len(h.earlier), len(g.policies.shared), g.policies.withEarlier.Load())
	}
}

func (g *graceTest) history() *history { return g.policies.table.find(home).history.Load() }

// Earlier versions count in max_memory, and go first where it is exceeded.
func TestVersionsCountInMemory(t *testing.T) {
	ceiling := NewCeiling(1 << 40)
	g := newGraceTest(t, Rules{}, Config{Ceiling: ceiling})
	g.reads(googlebot, "192.0.2.1")
	one := ceiling.Used()
	for i := range 3 {
		g.change(fmt.Sprintf("%sDisallow: /%d\n", closed, i))
	}
	if used := ceiling.Used(); used < 4*one || used > 5*one {
		t.Errorf("4 versions take %d octets, one %d", used, one)
	}
	ceiling.max = 2*one + one/2
	g.change(shut)
	if used := ceiling.Used(); used > ceiling.max || g.policies.Len() != 1 || len(g.history().earlier) != 1 {
		t.Errorf("%d octets of %d, %d origins, %d earlier versions", used, ceiling.max, g.policies.Len(), len(g.history().earlier))
	}
	g.wants(Disallowed, googlebot, "/x", "the version that it read was dropped")
	g.ask(googlebot, "192.0.2.1", "/")
	g.Close()
	if ceiling.Used() != 0 {
		t.Errorf("%d octets are used after the end", ceiling.Used())
	}
}

// Software that anyone runs is counted by address, and a crawler as a whole.
func TestGraceByAddress(t *testing.T) {
	g := newGraceTest(t, Rules{Grace: GraceAll, HTTPClients: true, Programs: ProgramsOn}, Config{})
	const program = "SiteSweeper/2.0"
	for _, ua := range []string{wget, curl, program, gptbot} {
		g.ask(ua, "192.0.2.1", "/")
		g.ask(ua, "2001:db8::1", "/")
	}
	g.change(closed)
	for _, ua := range []string{wget, curl, program} {
		g.wantsAt(Graced, ua, "192.0.2.1", "/archive/x", "an address that was there")
		g.wantsAt(Graced, ua, "2001:db8::2", "/archive/x", "the same network")
		g.wantsAt(Disallowed, ua, "192.0.2.2", "/archive/x", "another address")
		g.reads(ua, "192.0.2.1")
		g.wantsAt(Disallowed, ua, "192.0.2.1", "/archive/x", "an address that read the file")
		g.wantsAt(Graced, ua, "2001:db8::1", "/archive/x", "one that did not")
	}
	g.wantsAt(Graced, gptbot, "203.0.113.1", "/archive/x", "another address of a crawler")
	g.reads(gptbot, "203.0.113.2")
	g.wantsAt(Disallowed, gptbot, "192.0.2.1", "/archive/x", "another address of a crawler that read the file")
}

// Hidden paths, a choice of the operator, hold at once; so does off.
func TestNoGrace(t *testing.T) {
	off := newGraceTest(t, Rules{Grace: GraceOff}, Config{})
	off.reads(googlebot, "192.0.2.1")
	off.change(closed)
	off.wants(Disallowed, googlebot, "/archive/x", "with grace off")

	g := newGraceTest(t, Rules{Grace: GraceAll, Managed: &managed.Policy{Hidden: []managed.Hidden{{Path: "/archive/*", Line: 1}}}}, Config{})
	g.reads(googlebot, "192.0.2.1")
	g.change(closed)
	g.wants(Hidden, googlebot, "/archive/x", "a hidden path")

	// The pace of the version in force holds at once, for paths that pass by
	// grace too.
	g = newGraceTest(t, Rules{Grace: GraceAll}, Config{})
	g.reads(gptbot, "192.0.2.1")
	g.change(closed + "Crawl-delay: 60\n")
	g.wants(Graced, gptbot, "/archive/x", "the first request")
	g.wants(CrawlDelay, gptbot, "/archive/y", "a second one at once")

	// One crawler's grace is not another's, in one User-Agent too.
	both := "Mozilla/5.0 (compatible; Googlebot/2.1; CCBot/2.0)"
	s := newGraceTest(t, Rules{}, Config{})
	s.ask(both, "192.0.2.1", "/")
	s.change(closed)
	s.wants(Disallowed, both, "/archive/x", "a search engine and another crawler")
	s.wants(Graced, googlebot, "/archive/x", "the search engine alone")
}

// Who was not there in the 24 hours before the change has no copy.
func TestGraceNeedsARecentVisit(t *testing.T) {
	g := newGraceTest(t, Rules{}, Config{})
	g.reads(googlebot, "192.0.2.1")
	g.ask(bingbot, "192.0.2.1", "/")
	for range 3 {
		g.clock.advance(20 * time.Hour)
		g.ask(bingbot, "192.0.2.1", "/")
	}
	g.change(closed)
	g.wants(Disallowed, googlebot, "/archive/x", "it was last there 60 hours ago")
	g.wants(Graced, bingbot, "/archive/x", "it was there all the time")
}

// EndGrace ends what runs, of one origin or of all.
func TestEndGrace(t *testing.T) {
	g := newGraceTest(t, Rules{}, Config{})
	g.reads(googlebot, "192.0.2.1")
	g.change(closed)
	if n := g.EndGrace(NewOrigin("https", "other.test", 443)); n != 0 {
		t.Errorf("ended %d graces of an origin that is not held", n)
	}
	g.wants(Graced, googlebot, "/archive/x", "before the end")
	if n := g.EndGrace(home); n != 1 {
		t.Errorf("ended %d graces, want 1", n)
	}
	g.wants(Disallowed, googlebot, "/archive/x", "after the end")
	g.change(shut)
	g.wants(Graced, googlebot, "/x", "after another change")
	if n := g.EndGrace(Origin{}); n != 1 || g.EndGrace(Origin{}) != 0 {
		t.Errorf("ended %d graces of all, want 1", n)
	}
	g.wants(Disallowed, googlebot, "/x", "after the end of all")
}

// CheckBefore decides as for a crawler that knows the version before.
func TestCheckBefore(t *testing.T) {
	rules := Rules{}
	before, _ := rules.Policy(Response{Status: 200, Body: []byte(open)})
	after, _ := rules.Policy(Response{Status: 200, Body: []byte(shut)})
	for ua, want := range map[string]Reason{googlebot: Graced, gptbot: Disallowed, chrome: Person} {
		var d Decision
		after.CheckBefore(&Request{Target: "/x", UserAgents: []string{ua}, Time: time.Now()}, before, &d)
		if d.Reason != want {
			t.Errorf("%s: %v, want %v", ua, d.Reason, want)
		}
	}
}
