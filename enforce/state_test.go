package enforce

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// stateOf returns the state of an origin.
func (p *policiesTest) stateOf(t *testing.T, o Origin) State {
	t.Helper()
	for s := range p.States() {
		if s.Origin == o {
			return s
		}
	}
	t.Fatalf("there is no %v", o)
	return State{}
}

// A source that fails is told with since when, and with what is in force.
func TestStatesTellOfFailures(t *testing.T) {
	p := newPoliciesTest(t, Config{Refresh: time.Minute})
	p.ask(home)
	read := p.clock.now()
	if s := p.stateOf(t, home); s.Last != Loaded || s.Kept || s.Failures != 0 || !s.Failing.IsZero() || s.Err != nil || !s.Good.Equal(read) {
		t.Errorf("a good file: %+v", s)
	}
	p.source.set(503, "")
	p.clock.advance(time.Minute)
	p.ask(home)
	failed := p.clock.now()
	p.clock.advance(time.Minute)
	p.ask(home)
	s := p.stateOf(t, home)
	if s.Last != Failed || !s.Kept || s.Failures != 2 || !s.Failing.Equal(failed) || s.Err == nil || !s.Good.Equal(read) || s.Policy.Outcome() != Loaded {
		t.Errorf("a source that fails: %+v", s)
	}
	p.source.set(404, "")
	p.clock.advance(time.Minute)
	p.ask(home)
	if s := p.stateOf(t, home); s.Last != Missing || s.Kept || s.Failures != 0 || !s.Failing.IsZero() {
		t.Errorf("a file that is gone: %+v", s)
	}
}

// Refresh reads what is wanted, though it is not due, and waits for it.
func TestRefreshReadsWhatIsWanted(t *testing.T) {
	p := newPoliciesTest(t, Config{Refresh: time.Hour})
	other := NewOrigin("https", "other.test", 443)
	p.ask(home)
	p.ask(other)
	p.source.set(200, "User-agent: *\nDisallow: /other/\n")
	var reads []PolicyRead
	unread := p.Refresh(context.Background(), func(o Origin) bool { return o == home }, func(e PolicyRead) { reads = append(reads, e) })
	if unread != 0 || len(reads) != 1 || reads[0].Origin != home || reads[0].Outcome != Loaded {
		t.Errorf("%d unread, reads %+v", unread, reads)
	}
	if allows(p.Of(home), "/other/x") || !allows(p.Of(other), "/other/x") {
		t.Error("the wrong file was read")
	}
}

// Refresh waits no longer than it may, and says what was not read.
func TestRefreshEndsWithItsContext(t *testing.T) {
	p := newPoliciesTest(t, Config{Refresh: time.Hour})
	p.ask(home)
	p.source.block = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- p.Refresh(ctx, func(Origin) bool { return true }, func(PolicyRead) { t.Error("a read that has not ended is told") })
	}()
	cancel()
	if unread := <-done; unread != 1 {
		t.Errorf("%d unread, want 1", unread)
	}
	close(p.source.block)
	p.running.Wait()
}

// Another mode holds at once, and budgets stay.
func TestWithMode(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	if d := e.decide("/", bingbot); d.Action != Pass {
		t.Fatalf("the first request: %v", d.Reason)
	}
	monitor, err := e.WithMode(true, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !monitor.rules.Monitor || monitor.Policies().Len() != 1 {
		t.Error("it does not monitor, or forgot the policy")
	}
	back, err := monitor.WithMode(false, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Engine = back
	if d := e.decide("/", bingbot); d.Action != Throttle {
		t.Errorf("the second request, after the mode was changed twice: %v", d.Reason)
	}
}

// A crawler's budget can be seen and forgotten.
func TestBudgetsOfACrawler(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	agent := e.Agent("bingbot")
	if agent.Crawler == nil || agent.Crawler.Name != "bingbot" {
		t.Fatalf("bingbot is %+v", agent)
	}
	list := e.Budgets(home, &agent, false, "", e.clock.now())
	if len(list) != 1 || list[0].PerAddr || list[0].Pool {
		t.Fatalf("%+v", list)
	}
	inspector := e.limiter.(throttle.Inspector)
	if r, used := inspector.Peek(e.clock.now(), list[0].Key, list[0].Terms); !r.OK || used {
		t.Errorf("before the first request: %+v, %t", r, used)
	}
	e.decide("/", bingbot)
	if r, used := inspector.Peek(e.clock.now(), list[0].Key, list[0].Terms); r.OK || !used || r.RetryAfter == 0 {
		t.Errorf("after it: %+v, %t", r, used)
	}
	if err := inspector.Forget(context.Background(), e.clock.now(), list[0].Key); err != nil {
		t.Fatal(err)
	}
	if d := e.decide("/", bingbot); d.Action != Pass {
		t.Errorf("after it was forgotten: %v", d.Reason)
	}
	wget := e.Agent("Wget")
	if list := e.Budgets(home, &wget, false, "", e.clock.now()); len(list) != 1 || !list[0].PerAddr {
		t.Errorf("wget: %+v", list)
	}
	google := e.Agent("Googlebot") // whose operator does not support Crawl-delay
	if list := e.Budgets(NewOrigin("https", "unread.test", 443), &google, false, "", e.clock.now()); len(list) > 1 {
		t.Errorf("Googlebot: %+v", list)
	}
	if a := e.Agent("NoSuchBot"); a.Class != crawler.SelfDeclared || a.Token != "NoSuchBot" {
		t.Errorf("an unknown name: %+v", a)
	}
}
