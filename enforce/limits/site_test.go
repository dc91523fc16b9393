package limits

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

const (
	ahrefs  = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	archive = "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)"
)

// site is a site with limits.
type site struct {
	*enforce.Engine
	set   *Set
	uses  []enforce.Use // of the last request
	clock *fake.Clock
}

// newSite returns a site with a robots.txt.
func newSite(t testing.TB, file string, settings judge.Settings, list ...Limit) *site {
	return newSiteAt(t, file, settings, nil, throttle.NewMemory(1000), new(Turns), fake.NewClock(), list...)
}

func newSiteAt(t testing.TB, file string, settings judge.Settings, hosts []string, limiter throttle.Limiter, turns *Turns, clock *fake.Clock, list ...Limit) *site {
	t.Helper()
	settings.StepBudgets = true
	e, err := enforce.NewEngine(settings, origins.Inline(file), limiter, nil, origins.Config{
		Refresh: 24 * time.Hour, Now: clock.Now, Handler: func() origins.HandlerKey { return origins.HandlerKey{Hosts: hosts} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.Origins().Load(context.Background())
	set, err := New(list, func() []string { return hosts }, turns)
	if err != nil {
		t.Fatal(err)
	}
	return &site{Engine: e, set: set, clock: clock}
}

// enter decides on a request. The caller ends it.
func (s *site) enter(r *judge.Request, d *judge.Decision) *Request {
	q := new(Request)
	s.enterAs(q, r, d)
	return q
}

// enterAs decides on a request, as a step does.
func (s *site) enterAs(q *Request, r *judge.Request, d *judge.Decision) {
	var c judge.Client
	s.Identify(&c, r, s.Resolve(context.Background(), r))
	c.Judge(d)
	s.uses = s.set.Enter(q, r, d, s.uses[:0])
	s.Pace(context.Background(), r, d, s.uses)
	if d.Action != judge.Pass {
		q.Reset()
	}
}

// request returns a request of some User-Agents.
func (s *site) request(target string, agents ...string) *judge.Request {
	return &judge.Request{Target: target, UserAgents: agents, Origin: fake.Home, Client: "192.0.2.1", Time: s.clock.Now()}
}

// decide decides on a request that ends at once.
func (s *site) decide(target string, agents ...string) (d judge.Decision) {
	s.enter(s.request(target, agents...), &d).Reset()
	return d
}
