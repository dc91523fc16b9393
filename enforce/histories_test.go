package enforce

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// reloadTest loads one configuration after another for the same place.
type reloadTest struct {
	t      *testing.T
	clock  *clock
	memory *Memory
	copies *Copies
	engine *Engine
}

func newReloadTest(t *testing.T) *reloadTest {
	return &reloadTest{t: t, clock: newClock(), memory: NewMemory(64, 64), copies: NewCopies()}
}

// provision makes an engine that is not in use yet.
func (l *reloadTest) provision(source Source, handler string, rules Settings) *Engine {
	l.t.Helper()
	limiter := throttle.NewMemory(100)
	e, err := NewEngine(rules, source, limiter, l.memory, Config{
		Now: l.clock.now, Copies: l.copies, Refresh: 1000 * time.Hour, Published: true,
		Handler: func() HandlerKey { return HandlerKey{[]string{home.Host}, handler} },
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
func (l *reloadTest) load(source Source, handler string, rules Settings) *Engine {
	l.t.Helper()
	l.clock.advance(time.Minute)
	e := l.provision(source, handler, rules)
	e.origins.Connect()
	if source.PerOrigin() {
		e.origins.Peek(&Request{Origin: home, Time: l.clock.now()})
		e.origins.Settle()
	}
	if l.engine != nil {
		l.engine.Close()
	}
	l.engine = e
	l.clock.advance(time.Minute)
	return e
}

func (l *reloadTest) wants(want Reason, ua, target, when string) {
	l.t.Helper()
	var d Decision
	l.engine.Decide(context.Background(), &Request{Target: target, UserAgents: []string{ua}, Origin: home, Time: l.clock.now()}, &d)
	if d.Reason != want {
		l.t.Errorf("%s: %.40s for %s: %v, want %v", when, ua, target, d.Reason, want)
	}
}

func siteSource(file string) *fakeSource {
	s := new(fakeSource)
	s.set(200, file)
	return s
}

// A grace goes on after reloads, whether the change came with this
// configuration or an earlier one.
func TestGraceOverReloads(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		first, second, third Source
	}{
		{"inline", Inline(open), Inline(closed), Inline(closed)},
		{"site", siteSource(open), siteSource(closed), siteSource(closed)},
		{"from site to inline", siteSource(open), Inline(closed), Inline(closed)},
		{"from inline to site and back", Inline(open), siteSource(closed), Inline(closed)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newReloadTest(t)
			l.load(tt.first, "", Settings{})
			l.wants(Allowed, googlebot, "/archive/x", "before the change")
			l.load(tt.second, "", Settings{})
			l.wants(Graced, googlebot, "/archive/x", "after the change")
			l.wants(Disallowed, bingbot, "/archive/x", "a crawler that comes after the change")
			l.wants(Disallowed, googlebot, "/private/x", "a path that both versions disallow")
			l.load(tt.third, "", Settings{Strict: true})
			l.wants(Graced, googlebot, "/archive/x", "after a reload without a change")
			l.wants(Disallowed, bingbot, "/archive/x", "a crawler that came after the change")
			l.load(tt.third, "", Settings{Grace: GraceOff})
			l.wants(Disallowed, googlebot, "/archive/x", "after grace was switched off")
			l.load(tt.third, "", Settings{})
			l.wants(Disallowed, googlebot, "/archive/x", "after grace was switched off and on")
			l.load(Inline(shut), "", Settings{})
			l.wants(Graced, googlebot, "/x", "after another change")
			l.wants(Disallowed, googlebot, "/archive/x", "a path that the version before disallowed")
			l.clock.advance(GracePeriod)
			l.wants(Disallowed, googlebot, "/x", "24 hours later")
		})
	}
}

// Another handler for the same host has another file. That is not a change.
func TestHandlersAtTheSameHost(t *testing.T) {
	l := newReloadTest(t)
	l.load(Inline(open), "/shop/*", Settings{})
	l.wants(Allowed, googlebot, "/archive/x", "by the handler of /shop/*")
	l.load(Inline(closed), "", Settings{})
	l.wants(Disallowed, googlebot, "/archive/x", "by the other handler")
}

// A configuration that never comes into force stores no history.
func TestHistoryOfAConfigurationThatNeverComesIntoForce(t *testing.T) {
	l := newReloadTest(t)
	l.load(Inline(closed), "", Settings{})
	l.wants(Disallowed, googlebot, "/archive/x", "before")
	l.provision(Inline(open), "", Settings{}).Close()
	l.load(Inline(closed), "", Settings{})
	l.wants(Disallowed, googlebot, "/archive/x", "after a configuration that failed")
}

// An engine that was replaced does not overwrite the history of its successor.
func TestReplacedEngineStoresNoHistory(t *testing.T) {
	l := newReloadTest(t)
	l.copies = nil
	source := siteSource(open)
	before := l.provision(source, "", Settings{})
	before.origins.Connect()
	r := &Request{Origin: home, Time: l.clock.now()}
	before.origins.Peek(r)
	before.origins.Settle()
	l.load(siteSource(closed), "", Settings{})
	l.wants(Disallowed, googlebot, "/archive/x", "a crawler that comes after the change")
	source.set(200, "User-agent: *\nDisallow: /other/\n")
	l.clock.advance(time.Minute)
	before.origins.Refetch(&Request{Origin: home, Time: l.clock.now()})
	before.origins.Settle()
	l.load(siteSource(closed), "", Settings{})
	l.wants(Disallowed, googlebot, "/archive/x", "after the next reload")
}

// The request of the first crawler connects the history, even without a call of
// Connect.
func TestFirstRequestConnectsTheHistory(t *testing.T) {
	l := newReloadTest(t)
	l.load(Inline(open), "", Settings{})
	l.wants(Allowed, googlebot, "/archive/x", "before the change")
	l.clock.advance(time.Minute)
	l.engine = l.provision(Inline(closed), "", Settings{})
	l.wants(Graced, googlebot, "/archive/x", "the first request after the change")
}

// The grace goes on with another registry.
func TestGraceWithAnotherRegistry(t *testing.T) {
	g := newGraceTest(t, Settings{}, Config{})
	g.reads(googlebot, "192.0.2.1")
	g.change(closed)
	q, err := g.With(func(*Settings) {}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Engine = q
	g.wants(Graced, googlebot, "/archive/x", "with another registry")
	g.reads(googlebot, "192.0.2.1")
	g.wants(Disallowed, googlebot, "/archive/x", "after it read the file")
}
