package enforce

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// reloadTest loads one configuration after another for the same place.
type reloadTest struct {
	t      *testing.T
	clock  *fake.Clock
	memory *Memory
	copies *origins.Copies
	engine *Engine

	published bool // the handler answers requests for /robots.txt
}

func newReloadTest(t *testing.T) *reloadTest {
	return &reloadTest{t: t, clock: fake.NewClock(), memory: NewMemory(64, 64), copies: new(origins.Copies), published: true}
}

// provision makes an engine that is not in use yet.
func (l *reloadTest) provision(source origins.Source, handler string, rules judge.Settings) *Engine {
	l.t.Helper()
	limiter := throttle.NewMemory(100)
	e, err := NewEngine(rules, source, limiter, l.memory, origins.Config{
		Now: l.clock.Now, Copies: l.copies, Refresh: 1000 * time.Hour, Published: l.published,
		Handler: func() origins.HandlerKey {
			return origins.HandlerKey{Hosts: []string{fake.Home.Host}, Handler: handler}
		},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { e.Close(); e.origins.Settle() })
	if !source.PerOrigin() {
		e.origins.Load(context.Background())
	}
	return e
}

// load makes an engine and uses it in place of the previous one.
func (l *reloadTest) load(source origins.Source, handler string, rules judge.Settings) *Engine {
	l.t.Helper()
	l.clock.Advance(time.Minute)
	e := l.provision(source, handler, rules)
	e.origins.Connect()
	if source.PerOrigin() {
		e.origins.Peek(&judge.Request{Origin: fake.Home, Time: l.clock.Now()})
		e.origins.Settle()
	}
	if l.engine != nil {
		l.engine.Close()
	}
	l.engine = e
	l.clock.Advance(time.Minute)
	return e
}

func (l *reloadTest) wants(want judge.Reason, ua, target, when string) {
	l.t.Helper()
	var d judge.Decision
	l.engine.Decide(context.Background(), &judge.Request{Target: target, UserAgents: []string{ua}, Origin: fake.Home, Time: l.clock.Now()}, &d)
	if d.Reason != want {
		l.t.Errorf("%s: %.40s for %s: %v, want %v", when, ua, target, d.Reason, want)
	}
}

func siteSource(file string) *fake.Source {
	s := new(fake.Source)
	s.Set(200, file)
	return s
}

// A grace goes on after reloads, whether the change came with this
// configuration or an earlier one.
func TestGraceOverReloads(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		first, second, third origins.Source
	}{
		{"inline", origins.Inline(open), origins.Inline(closed), origins.Inline(closed)},
		{"site", siteSource(open), siteSource(closed), siteSource(closed)},
		{"from site to inline", siteSource(open), origins.Inline(closed), origins.Inline(closed)},
		{"from inline to site and back", origins.Inline(open), siteSource(closed), origins.Inline(closed)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newReloadTest(t)
			l.load(tt.first, "", judge.Settings{})
			l.wants(judge.Allowed, fake.Googlebot, "/archive/x", "before the change")
			l.load(tt.second, "", judge.Settings{})
			l.wants(judge.Graced, fake.Googlebot, "/archive/x", "after the change")
			l.wants(judge.Disallowed, fake.Bingbot, "/archive/x", "a crawler that comes after the change")
			l.wants(judge.Disallowed, fake.Googlebot, "/private/x", "a path that both versions disallow")
			l.load(tt.third, "", judge.Settings{Strict: true})
			l.wants(judge.Graced, fake.Googlebot, "/archive/x", "after a reload without a change")
			l.wants(judge.Disallowed, fake.Bingbot, "/archive/x", "a crawler that came after the change")
			l.load(tt.third, "", judge.Settings{Grace: judge.GraceOff})
			l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "after grace was switched off")
			l.load(tt.third, "", judge.Settings{})
			l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "after grace was switched off and on")
			l.load(origins.Inline(shut), "", judge.Settings{})
			l.wants(judge.Graced, fake.Googlebot, "/x", "after another change")
			l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "a path that the version before disallowed")
			l.clock.Advance(judge.GracePeriod)
			l.wants(judge.Disallowed, fake.Googlebot, "/x", "24 hours later")
		})
	}
}

// Another handler for the same host has another file. That is not a change.
func TestHandlersAtTheSameHost(t *testing.T) {
	l := newReloadTest(t)
	l.load(origins.Inline(open), "/shop/*", judge.Settings{})
	l.wants(judge.Allowed, fake.Googlebot, "/archive/x", "by the handler of /shop/*")
	l.load(origins.Inline(closed), "", judge.Settings{})
	l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "by the other handler")
}

// A configuration that never comes into force stores no history.
func TestHistoryOfAConfigurationThatNeverComesIntoForce(t *testing.T) {
	l := newReloadTest(t)
	l.load(origins.Inline(closed), "", judge.Settings{})
	l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "before")
	l.provision(origins.Inline(open), "", judge.Settings{}).Close()
	l.load(origins.Inline(closed), "", judge.Settings{})
	l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "after a configuration that failed")
}

// An engine that was replaced does not overwrite the history of its successor.
func TestReplacedEngineStoresNoHistory(t *testing.T) {
	l := newReloadTest(t)
	l.copies = nil
	source := siteSource(open)
	before := l.provision(source, "", judge.Settings{})
	before.origins.Connect()
	r := &judge.Request{Origin: fake.Home, Time: l.clock.Now()}
	before.origins.Peek(r)
	before.origins.Settle()
	l.load(siteSource(closed), "", judge.Settings{})
	l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "a crawler that comes after the change")
	source.Set(200, "User-agent: *\nDisallow: /other/\n")
	l.clock.Advance(time.Minute)
	before.origins.Refetch(&judge.Request{Origin: fake.Home, Time: l.clock.Now()})
	before.origins.Settle()
	l.load(siteSource(closed), "", judge.Settings{})
	l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "after the next reload")
}

// The request of the first crawler connects the history, even without a call of
// Connect.
func TestFirstRequestConnectsTheHistory(t *testing.T) {
	l := newReloadTest(t)
	l.load(origins.Inline(open), "", judge.Settings{})
	l.wants(judge.Allowed, fake.Googlebot, "/archive/x", "before the change")
	l.clock.Advance(time.Minute)
	l.engine = l.provision(origins.Inline(closed), "", judge.Settings{})
	l.wants(judge.Graced, fake.Googlebot, "/archive/x", "the first request after the change")
}
