package enforce

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

const (
	closedToAll = "User-agent: *\nDisallow: /\nCrawl-delay: 60\n"
	kubeProbe   = "kube-probe/1.31"
)

// proxied is a Caller for requests that a proxy forwards.
type proxied bool

func (p proxied) Detach() context.Context { return context.Background() }
func (p proxied) HidesClient() bool       { return bool(p) }

func (e *engineTest) decideFrom(client, target, agent string, caller judge.Caller) judge.Decision {
	var d judge.Decision
	e.Decide(context.Background(), &judge.Request{
		Target: target, UserAgents: []string{agent}, Origin: fake.Home, Client: client, Time: e.clock.Now(), Caller: caller,
	}, &d)
	return d
}

func TestProbesOnTheInternetMayRequestFewPaths(t *testing.T) {
	e := newEngineTest(t, closedToAll, judge.Settings{})
	const client, behind = "203.0.113.7", "10.0.0.8" // behind is a proxy that the server does not trust
	for _, tt := range []struct {
		client string
		caller judge.Caller
	}{
		{client, nil}, {"2001:db8::1", proxied(false)}, {behind, proxied(true)},
		{"64:ff9b::cb00:7109", nil}, // 203.0.113.9 behind NAT64
	} {
		path := func(i int) string { return fmt.Sprintf("/page/%d?t=1", i) }
		for i := range MaxProbeTargets {
			for _, ua := range []string{kubeProbe, fmt.Sprintf("a%d-probe/1.0", i), "Blackbox Exporter/0.24.0"} { // a client can change its name
				if d := e.decideFrom(tt.client, path(i), ua, tt.caller); d.Reason != judge.Unbound {
					t.Fatalf("%s: path %d: %s", tt.client, i, d.Reason)
				}
			}
		}
		d := e.decideFrom(tt.client, path(MaxProbeTargets), kubeProbe, tt.caller)
		if d.Reason != judge.Disallowed || d.Agent.Class != crawler.SelfDeclared || d.Name() != "kube-probe" {
			t.Errorf("%s: one path too many: %s of class %s", tt.client, d.Reason, d.Agent.Class)
		}
		for _, ua := range []string{"b-probe/1.0", "Blackbox Exporter/0.24.0"} {
			if d := e.decideFrom(tt.client, path(MaxProbeTargets), ua, tt.caller); d.Reason != judge.Disallowed || d.Agent.SentClass() != crawler.Probe {
				t.Errorf("%s: one path too many by %s: %s of class %s", tt.client, ua, d.Reason, d.Agent.SentClass())
			}
		}
		if d := e.decideFrom(tt.client, path(3), kubeProbe, tt.caller); d.Reason != judge.Unbound {
			t.Errorf("%s: one of the first paths again: %s", tt.client, d.Reason)
		}
	}
	if d := e.decideFrom("203.0.113.8", "/other", kubeProbe, nil); d.Reason != judge.Unbound {
		t.Errorf("another address: %s", d.Reason)
	}
	if d := e.decideFrom(client, "/?page=17", kubeProbe, nil); d.Reason != judge.Disallowed {
		t.Errorf("another query: %s", d.Reason)
	}
	e.clock.Advance(time.Hour)
	if d := e.decideFrom(client, "/other", kubeProbe, nil); d.Reason != judge.Unbound {
		t.Errorf("an hour later: %s", d.Reason)
	}
}

// What differs counts as different, unless one probe asks for one path at its own pace.
func TestWhatCountsAsOneTarget(t *testing.T) {
	const client = "203.0.113.7"
	sha := func(i int) string { return fmt.Sprintf("%040x", i*0x9e3779b97f4a) }
	uuid := func(i int) string { return fmt.Sprintf("0b7e4c5e-7a0e-4b55-9e21-%012x", i) }
	at := func(format string, value func(int) string) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, value(i)) }
	}
	clockAt := func(i int) string { return fmt.Sprint(1793544000 + i*60) }
	number := func(i int) string { return fmt.Sprint(i) }
	one := func(int) string { return client }
	agent := func(int) string { return kubeProbe }
	for _, tt := range []struct {
		name                  string
		target, client, agent func(int) string
		every                 time.Duration
		requests, pass        int
	}{
		{"commits", at("/blame/f?id=%s", sha), one, agent, time.Millisecond, 2000, MaxProbeTargets},
		{"commits, upper case", at("/blame/f?id=%s", func(i int) string { return strings.ToUpper(sha(i)) }), one, agent, 0, 100, MaxProbeTargets},
		{"commits, one a second", at("/blame/f?id=%s", sha), one, agent, time.Second, 3000, MaxProbeTargets},
		{"commits, faster than any monitor", at("/blame/f?id=%s", sha), one, agent, 14 * time.Second, 250, MaxProbeTargets},
		{"times", at("/blame/f?t=%s", clockAt), one, agent, time.Second, 100, MaxProbeTargets},
		{"UUIDs", at("/x?%s", uuid), one, agent, time.Second, 100, MaxProbeTargets},
		{"numbers", at("/x?page=%s", number), one, agent, time.Second, 100, MaxProbeTargets},
		{"a second parameter", at("/x?a=1&b=%s", sha), one, agent, time.Second, 100, MaxProbeTargets},
		{"the name of a parameter", at("/x?%s=1", sha), one, agent, time.Second, 100, MaxProbeTargets},
		{"a semicolon", at("/x;id=%s", sha), one, agent, time.Minute, 60, MaxProbeTargets},
		{"paths", at("/commit/%s", sha), one, agent, time.Minute, 60, MaxProbeTargets},
		{"paths with a time", at("/health/%s", clockAt), one, agent, time.Minute, 60, MaxProbeTargets},
		{"spellings of a path", at("/%s/../f?id=1", number), one, agent, time.Minute, 60, MaxProbeTargets},
		{"an absolute target", at("http://home.test/f?id=%s", sha), one, agent, time.Second, 60, MaxProbeTargets},
		{"paths and queries", func(i int) string { return fmt.Sprintf("/%d?id=%s", i/20, sha(i)) }, one, agent, time.Second, 400, MaxProbeTargets},
		{"several names", at("/x?id=%s", sha), one, func(i int) string { return fmt.Sprintf("a%d-probe/1.0", i%5) }, time.Second, 300, MaxProbeTargets},
		{"a name for each request", at("/x?id=%s", sha), one, func(i int) string { return fmt.Sprintf("a%d-probe/1.0", i) }, time.Minute, 59, MaxProbeTargets},
		{"a monitor's name", at("/x?id=%s", sha), one, func(int) string { return "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)" }, time.Second, 100, MaxProbeTargets},
		{"addresses of a /64", at("/x?id=%s", sha), func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }, agent, time.Second, 100, MaxProbeTargets},
		{"addresses", at("/x?id=%s", sha), func(i int) string { return fmt.Sprintf("203.0.113.%d", i%2) }, agent, time.Second, 100, 2 * MaxProbeTargets},

		{"one URL at any pace", func(int) string { return "/health?token=9f86d081884c7d65" }, one, agent, 0, 500, 500},
		{"sixteen URLs at any pace", func(i int) string { return fmt.Sprintf("/health?service=%d", i%16) }, one, agent, 0, 500, 500},
		{"a time each minute", at("/health?t=%s", clockAt), one, agent, time.Minute, 600, 600},
		{"a random number each 20 s", at("/health?cachebuster=%s", sha), one, agent, 20 * time.Second, 600, 600},
		{"a UUID each five minutes", at("/health?%s", uuid), one, agent, 5 * time.Minute, 100, 100},
		{"sixteen paths, each every minute", func(i int) string { return fmt.Sprintf("/%d?t=%d", i%16, i) }, one, agent, time.Minute / 16, 2000, 2000},
		{"two probes on one path", at("/health?t=%s", sha), one, func(i int) string { return fmt.Sprintf("a%d-probe/1.0", i%2) }, 10 * time.Second, 500, 500},
		{"an inner address", at("/x?id=%s", sha), func(int) string { return "10.0.0.7" }, agent, 0, 500, 500},
	} {
		e := newEngineTest(t, closedToAll, judge.Settings{})
		passed := 0
		for i := range tt.requests {
			if d := e.decideFrom(tt.client(i), tt.target(i), tt.agent(i), nil); d.Action == judge.Pass {
				passed++
			}
			e.clock.Advance(tt.every)
		}
		if passed != tt.pass {
			t.Errorf("%s: %d of %d pass, want %d", tt.name, passed, tt.requests, tt.pass)
		}
	}
}

// In a grace period, a probe that requests too many paths is held to the earlier
// version too.
func TestProbesBeyondTheirPathsHaveNoGrace(t *testing.T) {
	g := newGraceTest(t, judge.Settings{Grace: judge.GraceAll}, origins.Config{})
	probes := []string{"acme-probe/1.0", kubeProbe}
	for _, ua := range probes {
		g.decideFrom(ua, "203.0.113.7", "/")
	}
	g.change(closed)
	for i := range MaxProbeTargets {
		g.decideFrom(kubeProbe, "203.0.113.7", fmt.Sprint("/", i))
	}
	for _, ua := range probes {
		g.wantsAt(judge.Disallowed, ua, "203.0.113.7", "/private/x", "closed before and after the change")
		g.wantsAt(judge.Graced, ua, "203.0.113.7", "/archive/x", "closed by the change")
	}
}
