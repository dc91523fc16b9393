package throttle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/caddy-robots/caddy-robots/internal/freeport"
	"github.com/caddy-robots/caddy-robots/robots"
)

// A request that is refused by what its process knows costs no round trip,
// nor does one of a crawler without a limit.
func TestFleetAsksOnlyWhereItMust(t *testing.T) {
	f, r := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute, injected: true})
	key, calls := NewKey(t.Name()), r.calls.Load()
	terms := Compile(Grant{Delay: delay(10 * time.Second)}, Options{})
	visits := Compile(Grant{Visits: []robots.VisitTime{visit(0, 1100)}}, Options{})
	for i, step := range []struct {
		terms *Terms
		after time.Duration
		ok    bool
		calls int64
	}{
		{nil, 0, true, 0},
		{visits, 0, false, 0},
		{visits, 13 * time.Hour, true, 0},
		{terms, 0, true, 1},
		{terms, time.Second, false, 0},
		{terms, 4 * time.Second, false, 0},
		{terms, 5 * time.Second, true, 1},
	} {
		before := r.calls.Load()
		result := f.Take(t.Context(), noon.Add(step.after), key, step.terms, 0)
		if n := r.calls.Load() - before; result.OK != step.ok || n != step.calls {
			t.Errorf("request %d: %+v after %d calls, want ok %t after %d", i, result, n, step.ok, step.calls)
		}
	}
	if n := r.calls.Load() - calls; n != 2 {
		t.Errorf("%d calls in all", n)
	}
	if n := r.refusals[EngineLocal].Load(); n != 3 {
		t.Errorf("%d local refusals, want 3", n)
	}
}

// A refusal by the server is remembered until its time.
func TestFleetRemembersRemoteRefusal(t *testing.T) {
	c := FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute, injected: true, Prefix: "remote:" + fmt.Sprint(time.Now().UnixNano())}
	a, _ := newFleet(t, c)
	b, r := newFleet(t, c)
	key, terms := NewKey("a"), Compile(Grant{Delay: delay(10 * time.Second)}, Options{})
	if result := a.Take(t.Context(), noon, key, terms, 0); !result.OK {
		t.Fatal(result)
	}
	before := r.calls.Load()
	for i := range 40 {
		result := b.Take(t.Context(), noon.Add(time.Duration(i)*100*time.Millisecond), key, terms, 0)
		if want := 4500*time.Millisecond - time.Duration(i)*100*time.Millisecond; result.OK || result.RetryAfter != want {
			t.Fatalf("request %d: %+v, want retry after %v", i, result, want)
		}
	}
	if n := r.calls.Load() - before; n != 1 {
		t.Errorf("%d calls for 40 requests, want 1", n)
	}
	if remote, local := r.refusals[EngineRemote].Load(), r.refusals[EngineLocal].Load(); remote != 1 || local != 39 {
		t.Errorf("%d refused by the server and %d without it", remote, local)
	}
}

// Without the clock of the test, the server's clock counts.
func TestFleetUsesTheServersClock(t *testing.T) {
	f, _ := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute})
	key, terms := NewKey(t.Name()), Compile(Grant{Delay: delay(time.Hour)}, Options{})
	wrong := time.Now().Add(-72 * time.Hour) // the machine's clock is three days late
	if r := f.Take(t.Context(), wrong, key, terms, 0); !r.OK {
		t.Fatal(r)
	}
	if r := f.Take(t.Context(), wrong, key, terms, 0); r.OK || r.RetryAfter > 27*time.Minute {
		t.Errorf("%+v, want at most 27m", r)
	}
}

// Nobody waits for the server when a configuration is loaded, and until it
// answers each process decides alone.
func TestFleetWithoutServer(t *testing.T) {
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	f, err := NewFleet(FleetConfig{Addresses: []string{fmt.Sprintf("127.0.0.1:%d", port)}, Instances: 4}, NewMemory(100), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	key, terms := NewKey("a"), Compile(Grant{Delay: delay(10 * time.Second)}, Options{})
	for _, step := range []struct {
		after, retry time.Duration
	}{{0, 0}, {10 * time.Second, 8 * time.Second}, {18 * time.Second, 0}, {40 * time.Second, 14 * time.Second}} {
		result := f.Take(t.Context(), noon.Add(step.after), key, terms, 0)
		if result.OK != (step.retry == 0) || result.RetryAfter != step.retry {
			t.Errorf("after %v: %+v, want retry after %v", step.after, result, step.retry)
		}
	}
	if r.fallbacks.Load() != 4 || r.refusals[EngineFallback].Load() != 2 {
		t.Errorf("%d fallbacks, %d refusals by them", r.fallbacks.Load(), r.refusals[EngineFallback].Load())
	}
	r.await(t, FleetDown)
}

// While the server is away, the processes together grant what the file does.
func TestSharedTerms(t *testing.T) {
	const instances = 5
	for _, g := range []Grant{
		{Delay: delay(10 * time.Second)},
		{Rates: []robots.RequestRate{rate(20, time.Minute, allDayFrom, allDayTo)}},
	} {
		whole := Compile(g, Options{})
		part := whole.shared(instances)
		if part != whole.shared(instances) || whole.shared(1) != whole {
			t.Error("compiled again")
		}
		accepted := 0
		for i := range instances {
			m, key := NewMemory(100), NewKey(fmt.Sprint(i))
			for now := noon; now.Before(noon.Add(time.Hour)); now = now.Add(100 * time.Millisecond) {
				if m.Take(t.Context(), now, key, part, 0).OK {
					accepted++
				}
			}
		}
		l := whole.limits[0]
		hour := time.Hour.Microseconds()
		if granted := int(hour/l.interval) + int((l.tolerance+l.interval)/l.interval) + 2*instances; accepted > granted || accepted < int(hour/l.interval) {
			t.Errorf("%+v: %d processes accepted %d in an hour, want %d at most", g, instances, accepted, granted)
		}
	}
}

// outage is what is done to a server under load.
type outage struct {
	name    string
	down    func(s *testbed)
	up      func(t *testing.T, s *testbed)
	isEmpty bool // the server comes back without what it had
}

var outages = []outage{
	{"killed and started again", (*testbed).kill, func(t *testing.T, s *testbed) {
		if err := s.start(); err != nil {
			t.Error(err)
		}
	}, true},
	{"paused and resumed", (*testbed).pause, func(_ *testing.T, s *testbed) { s.resume() }, false},
}

// A server that goes away or hangs lets no more requests through than the bound
// says, and is used again by itself. The schedule runs by a clock of its own.
func TestFleetOutage(t *testing.T) {
	const instances, crawlers = 3, 5
	const every, step = 400 * time.Millisecond, 20 * time.Millisecond
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			s := testServer(t, true)
			c := FleetConfig{Addresses: []string{s.address}, Instances: instances, Deadline: time.Minute, Prefix: "outage:", injected: true}
			var fleets []*Fleet
			var seen []*recorder
			for range instances {
				f, r := newFleet(t, c)
				fleets, seen = append(fleets, f), append(seen, r)
			}
			terms := Compile(Grant{Delay: delay(every)}, Options{})
			accepted, now := make([]int, crawlers), noon
			run := func(d time.Duration) {
				for end := now.Add(d); now.Before(end); now = now.Add(step) {
					for k := range crawlers {
						for _, f := range fleets {
							if f.Take(t.Context(), now, NewKey(fmt.Sprint(k)), terms, 0).OK {
								accepted[k]++
							}
						}
					}
				}
			}
			run(2 * time.Second)
			o.down(s)
			for i, f := range fleets { // a request of each until it has seen that the server is away
				f.config.Deadline = time.Millisecond
				for stateOf(f) != FleetDown {
					f.Take(t.Context(), now, NewKey("other"), hourly, 0)
					now = now.Add(time.Hour)
				}
				f.config.Deadline = time.Minute
				seen[i].await(t, FleetDown)
			}
			away := now
			run(2 * time.Second)
			o.up(t, s)
			for _, r := range seen {
				r.await(t, FleetUp)
			}
			run(2 * time.Second)

			// Three times two seconds at the sustained rate, and at each of
			// the two changes a request for each process.
			most := int((6*time.Second).Microseconds()/terms.limits[0].interval) + 3 + 2*instances
			least := int(4 * time.Second / every)
			for k, n := range accepted {
				if n > most || n < least {
					t.Errorf("crawler %d: %d requests accepted in 6 s, want %d to %d (away since %v)", k, n, least, most, away.Sub(noon))
				}
			}
			for i, r := range seen {
				if r.fallbacks.Load() == 0 || stateOf(fleets[i]) != FleetUp {
					t.Errorf("process %d: %d fallbacks, %v", i, r.fallbacks.Load(), stateOf(fleets[i]))
				}
			}
		})
	}
}

// A restarted server, which has forgotten everything, learns from the
// processes what they have accepted.
func TestFleetTellsTheServerWhatItKnows(t *testing.T) {
	s := testServer(t, true)
	c := FleetConfig{Addresses: []string{s.address}, Deadline: time.Minute, Prefix: "tell:", injected: true}
	a, seenByA := newFleet(t, c)
	b, seenByB := newFleet(t, c)
	key, terms := NewKey("a"), Compile(Grant{Rates: []robots.RequestRate{rate(3, time.Minute, allDayFrom, allDayTo)}}, Options{})
	for range 2 {
		if r := a.Take(t.Context(), noon, key, terms, 0); !r.OK {
			t.Fatal(r)
		}
	}
	s.kill()
	a.Take(t.Context(), noon.Add(time.Hour), NewKey("other"), terms, 0)
	seenByA.await(t, FleetDown)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	seenByA.await(t, FleetUp)
	if r := a.Take(t.Context(), noon, key, terms, 0); !r.OK {
		t.Fatalf("the third of three: %+v", r)
	}
	b.link.fail("k", errors.New("connection reset"))
	seenByB.await(t, FleetDown)
	seenByB.await(t, FleetUp)
	if r := b.Take(t.Context(), noon, key, terms, 0); r.OK {
		t.Errorf("the fourth of three, by another process: %+v", r)
	}
}

// A client that goes away while the server is asked is not the server's fault.
func TestFleetClientGoesAway(t *testing.T) {
	f, r := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	terms := Compile(Grant{Delay: delay(time.Hour)}, Options{})
	for i := range 10 {
		f.Take(ctx, time.Now(), NewKey(t.Name(), fmt.Sprint(i)), terms, 0)
	}
	if stateOf(f) != FleetUp || r.errors.Load() != 0 {
		t.Errorf("state %v, %d errors", stateOf(f), r.errors.Load())
	}
}

// A closed Fleet still answers, and ends its goroutine.
func TestFleetClose(t *testing.T) {
	f, _ := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}})
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	key, terms := NewKey(t.Name()), Compile(Grant{Delay: delay(time.Hour)}, Options{})
	for i, ok := range []bool{true, false} {
		if r := f.Take(t.Context(), time.Now(), key, terms, 0); r.OK != ok {
			t.Errorf("request %d: %+v", i, r)
		}
	}
}

// What another program has put under a key of ours costs a fallback, not an
// answer.
func TestFleetForeignKey(t *testing.T) {
	f, r := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute})
	terms := Compile(Grant{Delay: delay(time.Hour)}, Options{})
	client := f.link.usable.Load().client
	for i, value := range []string{"x", "x y z 1", "1 2", "\x00\xff", strings.Repeat("9 ", 100)} {
		key := NewKey(t.Name(), fmt.Sprint(i))
		set := client.B().Set().Key(f.name(key)).Value(value).Build()
		if err := client.Do(t.Context(), set).Error(); err != nil {
			t.Fatal(err)
		}
		if r := f.Take(t.Context(), time.Now(), key, terms, 0); !r.OK {
			t.Errorf("%q: %+v", value, r)
		}
	}
	if stateOf(f) != FleetUp {
		t.Errorf("%v after %d errors", stateOf(f), r.errors.Load())
	}
}

// Keys in the server expire by themselves, and carry the prefix.
func TestFleetKeysExpire(t *testing.T) {
	mini := miniredis.RunT(t)
	f, _ := newFleet(t, FleetConfig{Addresses: []string{mini.Addr()}, Deadline: time.Minute})
	key, terms := NewKey(t.Name()), Compile(Grant{Delay: delay(100 * time.Second)}, Options{})
	f.Take(t.Context(), time.Now(), key, terms, 0)
	name := f.name(key)
	if !strings.HasPrefix(name, f.config.Prefix) || len(name) != len(f.config.Prefix)+32 {
		t.Errorf("the key is named %q", name)
	}
	if ttl, want := mini.TTL(name), 150*time.Second; ttl != want {
		t.Errorf("expires in %v, want %v: the emission interval and a minute", ttl, want)
	}
}

func TestNewFleetRefuses(t *testing.T) {
	for _, c := range []FleetConfig{{}, {Addresses: []string{"a:1"}, Instances: -1}, {Addresses: []string{"a:1"}, Instances: 1 << 40}, {Addresses: []string{"a:1"}, Deadline: -1}} {
		if f, err := NewFleet(c, NewMemory(1), nil); err == nil {
			f.Close()
			t.Errorf("%+v: no error", c)
		}
	}
}

func TestErrorsKeepTheCircuitClosed(t *testing.T) {
	f, r := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}})
	for range missesToOpen - 1 {
		f.link.fail("k", context.DeadlineExceeded)
	}
	f.link.answered()
	for range missesToOpen - 1 {
		f.link.fail("k", errReply)
	}
	if stateOf(f) != FleetUp {
		t.Fatalf("%v after misses that are not in a row", stateOf(f))
	}
	f.link.fail("k", context.DeadlineExceeded)
	r.await(t, FleetDown)
	r.await(t, FleetUp)
	f.link.fail("k", errors.New("connection reset"))
	r.await(t, FleetDown)
	r.await(t, FleetUp)
}
