package enforce

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// ask begins a read where one is due and waits for it.
func (p *policiesTest) ask(o Origin) *Policy {
	p.Peek(p.request(o))
	p.running.Wait()
	return p.Peek(p.request(o))
}

// A source that failed at first is tried again after 1, 2, 4 … seconds, up to
// the refresh.
func TestAFirstReadThatFailedIsTriedAgainSoon(t *testing.T) {
	p := newPoliciesTest(t, Config{Refresh: 10 * time.Second})
	p.source.set(503, "")
	p.ask(home)
	reads := p.source.count(home)
	for _, pause := range []time.Duration{1, 2, 4, 8, 10, 10} {
		p.clock.advance(pause*time.Second - time.Millisecond)
		if p.ask(home); p.source.count(home) != reads {
			t.Fatalf("read %d came before a pause of %ds", reads+1, pause)
		}
		p.clock.advance(time.Millisecond)
		if p.ask(home); p.source.count(home) != reads+1 {
			t.Fatalf("read %d did not come after a pause of %ds", reads+1, pause)
		}
		reads++
	}
	p.source.set(200, "User-agent: *\nDisallow: /private/\n")
	p.clock.advance(10 * time.Second)
	if policy := p.ask(home); allows(policy, "/private/x") {
		t.Error("the file is not in force once it can be read")
	}
}

// A clock that is set back by hours keeps no policy from being read again.
func TestAClockThatIsSetBackStopsNoReads(t *testing.T) {
	p := newPoliciesTest(t, Config{Refresh: time.Minute})
	p.ask(home)
	p.source.set(200, "User-agent: *\nDisallow: /other/\n")
	p.clock.advance(-3 * time.Hour)
	if policy := p.ask(home); allows(policy, "/other/x") {
		t.Error("the file was not read again")
	}
	reads := p.source.count(home)
	if p.ask(home); p.source.count(home) != reads {
		t.Error("the file is read at each request")
	}
}

// After a reload the last good copy is in force before the source answers.
func TestAGoodCopyIsInForceBeforeTheFirstReadEnds(t *testing.T) {
	copies := NewCopies()
	newPoliciesTest(t, Config{Copies: copies}).ask(home)
	q := newPoliciesTest(t, Config{Copies: copies})
	q.source.block = make(chan struct{})
	defer close(q.source.block)
	policy := q.get(home) // returns as soon as the copy is compiled
	if policy == nil || policy.Outcome() != Loaded || allows(policy, "/private/x") {
		t.Error("the copy is not in force while the source is silent")
	}
}

// How long a good copy stays depends on what the source answers instead.
func TestGoodCopiesAge(t *testing.T) {
	for _, tt := range []struct {
		status int
		keep   time.Duration
	}{{403, keepRefused}, {500, keepFailed}} {
		p := newPoliciesTest(t, Config{Refresh: time.Hour})
		p.ask(home)
		p.source.set(tt.status, "")
		p.clock.advance(tt.keep)
		if policy := p.ask(home); policy.Outcome() != Loaded {
			t.Errorf("%d: the copy is gone after %v", tt.status, tt.keep)
		}
		p.clock.advance(2 * time.Hour)
		if policy := p.ask(home); policy.Outcome() == Loaded {
			t.Errorf("%d: the copy is in force after more than %v", tt.status, tt.keep)
		}
	}
	copies := NewCopies()
	p := newPoliciesTest(t, Config{Copies: copies})
	p.ask(home)
	q := newPoliciesTest(t, Config{Copies: copies})
	q.source.mu.Lock()
	q.source.err = errors.New("gone")
	q.source.mu.Unlock()
	q.clock.advance(keepFailed + time.Hour)
	if policy := q.ask(home); policy.Outcome() != Failed {
		t.Errorf("a copy of more than %v ago came back: %v", keepFailed, policy.Outcome())
	}
}

// A flood of invented hosts evicts no site that is named, and its memory is
// bounded.
func TestInventedHostsEvictNoRealSite(t *testing.T) {
	p := newPoliciesTest(t, Config{MaxOrigins: 50})
	for i := range 20 {
		p.ask(Origin{Scheme: "http", Host: fmt.Sprintf("real%d.test", i)})
	}
	for i := range 1000 {
		r := p.request(Origin{Scheme: "http", Host: fmt.Sprintf("made-up%d.test", i)})
		r.Invented = true
		p.Peek(r)
		p.clock.advance(time.Millisecond)
	}
	p.running.Wait()
	for i := range 20 {
		o := Origin{Scheme: "http", Host: fmt.Sprintf("real%d.test", i)}
		if e := p.table.find(o); e == nil || e.policy.Load() == nil {
			t.Errorf("%v was evicted", o)
		}
	}
	if n := p.Len(); n > 50 {
		t.Errorf("%d origins are held, want at most 50", n)
	}
}

// Several engines share one bound on memory. Each keeps one policy at least.
func TestMemoryIsBoundedOverAllEngines(t *testing.T) {
	ceiling := NewCeiling(4 << 20)
	all := []*policiesTest{newPoliciesTest(t, Config{Ceiling: ceiling}), newPoliciesTest(t, Config{Ceiling: ceiling})}
	for i := range 200 {
		for j, p := range all {
			p.source.set(200, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n%s", i*2+j, strings.Repeat("# filler\n", 1000)))
			if policy := p.ask(Origin{Host: fmt.Sprintf("h%d.test", i)}); policy == nil || policy.Outcome() != Loaded {
				t.Fatalf("engine %d, host %d: the newest policy is not in force", j, i)
			}
		}
		if used := ceiling.Used(); used > 4<<20+2*300<<10 {
			t.Fatalf("%d octets are used after %d hosts", used, i)
		}
	}
	for _, p := range all {
		if p.Len() == 0 {
			t.Error("an engine has no policy left")
		}
		p.Close()
	}
	if used := ceiling.Used(); used != 0 {
		t.Errorf("%d octets are used after all are closed", used)
	}
}

// What a policy takes by estimate is what it takes, within a factor of two
// below and four above.
func TestMemoryOfPolicies(t *testing.T) {
	for name, text := range map[string]string{
		"small":     "User-agent: *\nDisallow: /private/\n",
		"prefixes":  "User-agent: *\n" + manyRules("/section%d/page", 5000),
		"wildcards": "User-agent: *\n" + manyRules("/*part%d*end$", 5000),
		"groups":    manyRules("/x\n\nUser-agent: bot%d\nDisallow: /y", 2000),
	} {
		const n = 8
		var kept []*Policy
		before := heap()
		for i := range n {
			policy, err := Rules{}.Policy(Response{Status: 200, Body: fmt.Appendf(nil, "%s# %d\n", text, i)})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, policy)
		}
		took := (heap() - before) / n
		estimate := kept[0].memory()
		t.Logf("%s: %d octets of text take %d, estimated %d", name, len(text), took, estimate)
		if took > 2*estimate || estimate > 4*took+64<<10 {
			t.Errorf("%s: %d octets of text take %d, estimated %d", name, len(text), took, estimate)
		}
		runtime.KeepAlive(kept)
	}
}

func manyRules(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Disallow: "+format+"\n", i)
	}
	return b.String()[:min(b.Len(), robots.MaxSize)]
}

// heap returns the octets that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestRecent(t *testing.T) {
	r, now := NewRecent(1<<10), newClock().now()
	if r.Seen(1, now, time.Hour) {
		t.Error("an empty Recent has seen something")
	}
	r.Mark(1<<40|1, now)
	for _, tt := range []struct {
		key  uint64
		at   time.Duration
		want bool
	}{
		{1<<40 | 1, 0, true}, {1<<40 | 1, 59 * time.Minute, true}, {1<<40 | 1, 2 * time.Hour, false},
		{1<<41 | 1, 0, false}, {1<<40 | 1, -time.Hour, false},
	} {
		if got := r.Seen(tt.key, now.Add(tt.at), time.Hour); got != tt.want {
			t.Errorf("key %x after %v: %v", tt.key, tt.at, got)
		}
	}
	// The oldest of a set goes when it is full, and a mark renews.
	for i := range uint64(recentWays + 1) {
		r.Mark(i<<40|2, now.Add(time.Duration(i)*10*time.Minute))
	}
	later := now.Add(time.Hour)
	if r.Seen(2, later, 24*time.Hour) || !r.Seen(recentWays<<40|2, later.Add(time.Hour), 24*time.Hour) {
		t.Error("the newest went, and not the oldest")
	}
}

// Waiting is bounded in number: more clients than that get their answer at once.
func TestFewWait(t *testing.T) {
	p := newPoliciesTest(t, Config{})
	p.source.block = make(chan struct{})
	defer close(p.source.block)
	p.Peek(p.request(home))
	p.waiting.Store(maxWaiting)
	if got := p.Wait(context.Background(), p.request(home)); got != nil {
		t.Errorf("%v", got)
	}
}
