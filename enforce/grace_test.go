package enforce

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// Versions of a file. Each disallows paths that the one before allowed.
const (
	open   = "User-agent: *\nDisallow: /private/\n"
	closed = "User-agent: *\nDisallow: /private/\nDisallow: /archive/\n"
	shut   = "User-agent: *\nDisallow: /\nAllow: /private/\n"
)

// graceTest is an engine with a file that changes.
type graceTest struct {
	*engineTest
	t       *testing.T
	ceiling *origins.Ceiling
}

func newGraceTest(t *testing.T, rules judge.Settings, cfg origins.Config) *graceTest {
	t.Helper()
	g := &graceTest{&engineTest{nil, fake.NewClock(), new(fake.Source)}, t, cfg.Ceiling}
	g.source.Set(200, open)
	limiter := throttle.NewMemory(1000)
	cfg.Now, cfg.Refresh = g.clock.Now, 1000*time.Hour
	var err error
	if g.Engine, err = NewEngine(rules, g.source, limiter, nil, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(); g.origins.Settle() })
	g.change(open)
	return g
}

// change changes the file and lets the engine read it.
func (g *graceTest) change(file string) {
	g.source.Set(200, file)
	g.clock.Advance(time.Minute)
	g.origins.Refetch(&judge.Request{Origin: fake.Home, Time: g.clock.Now()})
	g.origins.Settle()
	g.clock.Advance(time.Second)
}

// reads lets a crawler read /robots.txt.
func (g *graceTest) reads(ua, addr string) {
	g.clock.Advance(2 * time.Second)
	r := &judge.Request{Method: "GET", Target: "/robots.txt", UserAgents: []string{ua}, Origin: fake.Home, Client: addr, Time: g.clock.Now()}
	var d judge.Decision
	g.Decide(context.Background(), r, &d)
	g.RobotsRead(r, d.Rules, xxhash.Sum64(g.source.Resp.Body))
	g.origins.Settle()
	g.clock.Advance(time.Second)
}

func (g *graceTest) decideFrom(ua, addr, target string) judge.Decision {
	var d judge.Decision
	g.Decide(context.Background(), &judge.Request{Target: target, UserAgents: []string{ua}, Origin: fake.Home, Client: addr, Time: g.clock.Now()}, &d)
	return d
}

func (g *graceTest) wants(want judge.Reason, ua, target, when string) {
	g.t.Helper()
	g.wantsAt(want, ua, "192.0.2.1", target, when)
}

func (g *graceTest) wantsAt(want judge.Reason, ua, addr, target, when string) {
	g.t.Helper()
	if d := g.decideFrom(ua, addr, target); d.Reason != want || (d.Version != nil) != (want == judge.Graced) {
		g.t.Errorf("%s: %.50s from %s for %s: %v, want %v", when, ua, addr, target, d.Reason, want)
	}
}

// A grace ends when the crawler has read the file, and at the latest after 24
// hours.
func TestEndOfGrace(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	for _, ua := range []string{fake.Googlebot, fake.Bingbot} {
		g.reads(ua, "192.0.2.1")
	}
	read := g.clock.Now().Add(-time.Second)
	g.change(closed)
	changed := g.clock.Now()
	g.wants(judge.Graced, fake.Googlebot, "/archive/x", "before it reads the file")
	g.reads(fake.Googlebot, "203.0.113.9") // from another address, which may be anybody's
	g.wants(judge.Graced, fake.Googlebot, "/archive/x", "after another address read the file")
	g.wantsAt(judge.Disallowed, fake.Googlebot, "203.0.113.9", "/archive/x", "the address that read the file")
	g.reads(fake.Googlebot, "192.0.2.1")
	g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "after it read the file")
	for range 11 {
		g.clock.Advance(2 * time.Hour)
		g.wants(judge.Graced, fake.Bingbot, "/archive/x", "within 24 hours")
	}
	g.clock.Advance(read.Add(judge.GracePeriod).Sub(g.clock.Now()) - time.Nanosecond)
	g.wants(judge.Graced, fake.Bingbot, "/archive/x", "a moment before 24 hours")
	g.clock.Advance(time.Nanosecond)
	g.wants(judge.Disallowed, fake.Bingbot, "/archive/x", "24 hours after the crawler read the file")
	g.wantsAt(judge.Graced, fake.Bingbot, "192.0.2.77", "/archive/x", "an address that did not read it, 24 hours after the last read")
	g.clock.Advance(changed.Add(judge.GracePeriod - time.Second).Sub(g.clock.Now()))
	g.wantsAt(judge.Disallowed, fake.Bingbot, "192.0.2.77", "/archive/x", "24 hours after the change")
}

// Each version has its own day: one that was replaced earlier holds nobody any more, while a
// later one does.
func TestEachVersionHasItsOwnDay(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	come := func(hours int) {
		for range hours {
			g.clock.Advance(time.Hour)
			g.decideFrom(fake.Bingbot, "192.0.2.1", "/")
		}
	}
	come(1)
	g.change(closed)
	come(20)
	g.wants(judge.Graced, fake.Bingbot, "/archive/x", "20 hours after the first change")
	g.change(shut)
	come(5)
	g.wants(judge.Disallowed, fake.Bingbot, "/archive/x", "25 hours after the first change")
	g.wants(judge.Graced, fake.Bingbot, "/x", "5 hours after the second change")
}

// A file that changes back and forth keeps no version alive, and the version
// that a crawler read last applies to it, however often the file went and came.
func TestGraceOfAFileThatChangesBackAndForth(t *testing.T) {
	for _, between := range []func(*graceTest){
		func(*graceTest) {},
		func(g *graceTest) { g.source.Set(404, ""); g.reread() },
		func(g *graceTest) { g.source.Set(200, "<!DOCTYPE html><title>x</title>"); g.reread() },
	} {
		g := newGraceTest(t, judge.Settings{}, origins.Config{})
		g.reads(fake.Googlebot, "192.0.2.1")
		for i := range 6 {
			between(g)
			g.change([]string{closed, open}[i%2])
			want := []judge.Reason{judge.Graced, judge.Allowed}[i%2]
			g.wants(want, fake.Googlebot, "/archive/x", fmt.Sprint("after change ", i))
		}
		g.change(closed)
		for range 30 { // it comes, and reads no more
			g.change(open)
			g.clock.Advance(time.Hour)
			g.change(closed)
			g.decideFrom(fake.Googlebot, "192.0.2.1", "/archive/x")
		}
		g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "30 hours after the crawler read the generous version")
		g.reads(fake.Googlebot, "192.0.2.1")
		g.change(open)
		g.change(closed)
		g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "after it read the version in force")
	}
}

// A crawler that reads /robots.txt and so makes the engine find the change has
// read the new version.
func TestGraceOfTheReadThatFindsTheChange(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	g.reads(fake.Googlebot, "192.0.2.1")
	g.decideFrom(fake.Bingbot, "192.0.2.1", "/")
	g.source.Set(200, closed)
	g.reads(fake.Googlebot, "192.0.2.1")
	g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "the read found the change")
	g.wants(judge.Graced, fake.Bingbot, "/archive/x", "the crawler has not read the new version")

	// A read within a second after another one may be of either version. It
	// counts as a read of the version before.
	g.reads(fake.Bingbot, "192.0.2.1")
	g.reread()
	r := &judge.Request{Method: "GET", Target: "/robots.txt", UserAgents: []string{fake.Bingbot}, Origin: fake.Home, Time: g.clock.Now().Add(time.Second / 2)}
	var d judge.Decision
	g.Decide(context.Background(), r, &d)
	g.RobotsRead(r, d.Rules, 0)
	g.source.Set(200, shut)
	g.clock.Advance(10 * time.Second)
	g.decideFrom(fake.Chrome, "192.0.2.1", "/") // starts the read that is due
	g.origins.Settle()
	g.wants(judge.Graced, fake.Bingbot, "/x", "the crawler read the version before")
}

// Paths that a change allows are allowed at once. Only paths that the change
// disallows have a grace.
func TestChangesThatAllowPaths(t *testing.T) {
	g := newGraceTest(t, judge.Settings{Grace: judge.GraceAll}, origins.Config{})
	g.reads(fake.Gptbot, "192.0.2.1")
	g.change(shut)
	g.wants(judge.Allowed, fake.Gptbot, "/private/x", "a path that the change allows")
	g.wants(judge.Graced, fake.Gptbot, "/x", "a path that the change disallows")
	g.change(open)
	g.wants(judge.Allowed, fake.Gptbot, "/x", "after the first version came back")
	g.wants(judge.Disallowed, fake.Gptbot, "/private/x", "a crawler that did not read the version that allowed the path")

	// After a time without a file, and after failed reads.
	g.source.Set(404, "")
	g.clock.Advance(2 * time.Second)
	g.reads(fake.Gptbot, "192.0.2.1")
	g.change(open)
	g.wants(judge.Graced, fake.Gptbot, "/private/x", "after a time without a file")
	g.reads(fake.Gptbot, "192.0.2.1")
	g.source.Set(503, "")
	g.reread()
	g.wants(judge.Disallowed, fake.Gptbot, "/private/x", "while the source fails")
	g.change(closed)
	g.wants(judge.Graced, fake.Gptbot, "/archive/x", "after the source failed")
	g.wants(judge.Disallowed, fake.Gptbot, "/private/x", "after the source failed")
}

// reread lets the engine read the file again, without a change.
func (g *graceTest) reread() {
	g.clock.Advance(time.Minute)
	g.origins.Refetch(&judge.Request{Origin: fake.Home, Time: g.clock.Now()})
	g.origins.Settle()
}

// A changed comment or Crawl-delay makes no new version. The number of versions
// of a file that changes often is limited.
func TestNumberOfVersionsIsLimited(t *testing.T) {
	ceiling := origins.NewCeiling(0)
	g := newGraceTest(t, judge.Settings{}, origins.Config{Ceiling: ceiling})
	g.reads(fake.Googlebot, "192.0.2.1")
	one, _ := ceiling.Usage()
	g.change(closed)
	for i := range 50 {
		g.change(fmt.Sprintf("# %d\n%sCrawl-delay: %d\n", i, closed, i))
	}
	g.wants(judge.Graced, fake.Googlebot, "/archive/x", "after changes of comments")
	if n := len(g.earlier()); n != 1 || len(g.origins.RulesOf(fake.Home).Text()) == len(closed) {
		t.Errorf("%d earlier versions, want 1; the current one has %d octets", n, len(g.origins.RulesOf(fake.Home).Text()))
	}
	for i := range 50 {
		g.change([]string{open, closed}[i%2])
	}
	if n := len(g.earlier()); n != 1 {
		t.Errorf("%d earlier versions of a file that changes back and forth, want 1", n)
	}
	for i := range 50 {
		g.change(fmt.Sprintf("%sDisallow: /%d\n", shut, i))
	}
	if n := len(g.earlier()); n != judge.MaxVersions {
		t.Errorf("%d earlier versions, want %d", n, judge.MaxVersions)
	}
	g.wants(judge.Disallowed, fake.Googlebot, "/x", "the version that the crawler read was dropped")
	g.clock.Advance(judge.GracePeriod)
	g.reread()
	if used, _ := ceiling.Usage(); len(g.earlier()) != 0 || used > one+500 {
		t.Errorf("after 24 hours: %d earlier versions, %d octets, at first %d", len(g.earlier()), used, one)
	}
}

// earlier returns the versions that crawlers may still follow.
func (g *graceTest) earlier() (list []judge.Version) {
	for s := range g.origins.States(nil) {
		list = append(list, s.Earlier...)
	}
	return list
}

// Earlier versions count for the Ceiling, and are dropped first if it is
// exceeded.
func TestVersionsCountForTheCeiling(t *testing.T) {
	grow := func(most int64) (g *graceTest, used [4]int64) {
		ceiling := origins.NewCeiling(most)
		g = newGraceTest(t, judge.Settings{}, origins.Config{Ceiling: ceiling})
		g.reads(fake.Googlebot, "192.0.2.1")
		for i := range used {
			used[i], _ = ceiling.Usage()
			g.change(fmt.Sprintf("%sDisallow: /%d\n", closed, i))
		}
		return g, used
	}
	_, used := grow(1 << 40)
	one := used[1] - used[0]
	if all := used[3] - used[0]; one < 100 || all < 2*one || all > 4*one {
		t.Errorf("3 versions more take %d octets, the first of them %d", all, one)
	}
	g, _ := grow(used[1] + one/2)
	g.change(shut)
	ceiling := g.ceiling
	if used, most := ceiling.Usage(); used > most || g.origins.Len() != 1 || len(g.earlier()) != 1 {
		t.Errorf("%d octets of %d, %d origins, %d earlier versions", used, most, g.origins.Len(), len(g.earlier()))
	}
	g.wants(judge.Disallowed, fake.Googlebot, "/x", "the version that the crawler read was dropped")
	g.decideFrom(fake.Googlebot, "192.0.2.1", "/")
	g.Close()
	if used, _ := ceiling.Usage(); used != 0 {
		t.Errorf("%d octets are used after Close", used)
	}
}

// Software that anyone can run has a grace per address, and a crawler one for
// all its addresses.
func TestGraceByAddress(t *testing.T) {
	g := newGraceTest(t, judge.Settings{Grace: judge.GraceAll, HTTPClients: true, Programs: true}, origins.Config{})
	const program = "SiteSweeper/2.0"
	for _, ua := range []string{fake.Wget, fake.Curl, program, fake.Gptbot} {
		g.decideFrom(ua, "192.0.2.1", "/")
		g.decideFrom(ua, "2001:db8::1", "/")
	}
	g.change(closed)
	for _, ua := range []string{fake.Wget, fake.Curl, program} {
		g.wantsAt(judge.Graced, ua, "192.0.2.1", "/archive/x", "an address that came before the change")
		g.wantsAt(judge.Graced, ua, "2001:db8::2", "/archive/x", "the same network")
		g.wantsAt(judge.Disallowed, ua, "192.0.2.2", "/archive/x", "another address")
		g.reads(ua, "192.0.2.1")
		g.wantsAt(judge.Disallowed, ua, "192.0.2.1", "/archive/x", "an address that read the file")
		g.wantsAt(judge.Graced, ua, "2001:db8::1", "/archive/x", "an address that did not read the file")
	}
	g.wantsAt(judge.Graced, fake.Gptbot, "203.0.113.1", "/archive/x", "another address of a crawler")
	g.reads(fake.Gptbot, "203.0.113.2")
	g.wantsAt(judge.Disallowed, fake.Gptbot, "203.0.113.2", "/archive/x", "the address that read the file")
	g.wantsAt(judge.Graced, fake.Gptbot, "192.0.2.1", "/archive/x", "another address, which did not read it")
}

func TestWhatHasNoGrace(t *testing.T) {
	// The rate limits of the version in force apply at once, also to paths with
	// a grace.
	g := newGraceTest(t, judge.Settings{Grace: judge.GraceAll}, origins.Config{})
	g.reads(fake.Gptbot, "192.0.2.1")
	g.change(closed + "Crawl-delay: 60\n")
	g.wants(judge.Graced, fake.Gptbot, "/archive/x", "the first request")
	g.wants(judge.CrawlDelay, fake.Gptbot, "/archive/y", "the second request without delay")

	// If a User-Agent names two crawlers, the grace of one is not a grace of
	// the other.
	both := "Mozilla/5.0 (compatible; Googlebot/2.1; CCBot/2.0)"
	s := newGraceTest(t, judge.Settings{}, origins.Config{})
	s.decideFrom(both, "192.0.2.1", "/")
	s.change(closed)
	s.wants(judge.Disallowed, both, "/archive/x", "a search engine and another crawler")
	s.wants(judge.Graced, fake.Googlebot, "/archive/x", "the search engine alone")
}

// CheckFirst decides for a crawler that has read the version before.
func TestCheckFirstWithAnEarlierVersion(t *testing.T) {
	rules := judge.Settings{}
	before, _ := rules.Rules(judge.Response{Status: 200, Body: []byte(open)})
	after, _ := rules.Rules(judge.Response{Status: 200, Body: []byte(shut)})
	for ua, want := range map[string]judge.Reason{fake.Googlebot: judge.Graced, fake.Gptbot: judge.Disallowed, fake.Chrome: judge.Person} {
		var d judge.Decision
		after.CheckFirst(&judge.Request{Target: "/x", UserAgents: []string{ua}, Time: time.Now()}, before, &d)
		if d.Reason != want {
			t.Errorf("%s: %v, want %v", ua, d.Reason, want)
		}
	}
}
