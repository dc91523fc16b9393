package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
	"github.com/caddy-robots/caddy-robots/robots"
)

// A request that the known state refuses needs no round trip; neither does a
// request without limits.
func TestFleetRoundTrips(t *testing.T) {
	f, r := newFleet(t, config{ClientOption: at(testServer(t, false).address), Deadline: time.Minute, injected: true})
	key, calls := newKey(t.Name()), r.calls.Load()
	terms := throttle.Compile(throttle.Grant{Delay: delay(10 * time.Second)})
	visits := throttle.Compile(throttle.Grant{Visits: []robots.VisitTime{visit(0, 1100)}})
	for i, step := range []struct {
		terms *throttle.Limits
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
		result := f.Take(t.Context(), noon.Add(step.after), []throttle.Use{{Key: key, Limits: step.terms}})
		if n := r.calls.Load() - before; result.OK != step.ok || n != step.calls {
			t.Errorf("request %d: %+v after %d calls, want ok %t after %d", i, result, n, step.ok, step.calls)
		}
	}
	if n := r.calls.Load() - calls; n != 2 {
		t.Errorf("%d calls in all, want 2", n)
	}
}

// After a refusal by the server, the process refuses further requests itself
// until the time has come.
func TestFleetStoresRemoteRefusal(t *testing.T) {
	c := config{ClientOption: at(testServer(t, false).address), Deadline: time.Minute, injected: true, Prefix: "remote:" + fmt.Sprint(time.Now().UnixNano())}
	a, _ := newFleet(t, c)
	b, r := newFleet(t, c)
	key, terms := newKey("a"), throttle.Compile(throttle.Grant{Delay: delay(10 * time.Second)})
	if result := a.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: terms}}); !result.OK {
		t.Fatal(result)
	}
	before := r.calls.Load()
	for i := range 40 {
		result := b.Take(t.Context(), noon.Add(time.Duration(i)*100*time.Millisecond), []throttle.Use{{Key: key, Limits: terms}})
		if want := 4500*time.Millisecond - time.Duration(i)*100*time.Millisecond; result.OK || result.RetryAfter != want {
			t.Fatalf("request %d: %+v, want retry after %v", i, result, want)
		}
	}
	if n := r.calls.Load() - before; n != 1 {
		t.Errorf("%d calls for 40 requests, want 1", n)
	}
}

// connect does not wait for the server. Until the server answers, each process
// decides alone.
func TestFleetWithoutServer(t *testing.T) {
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	f := newLimiter(config{ClientOption: at(fmt.Sprintf("127.0.0.1:%d", port)), Instances: 4}, throttle.NewMemory(100), r)
	f.connect()
	t.Cleanup(func() { f.close() })
	key, terms := newKey("a"), throttle.Compile(throttle.Grant{Delay: delay(10 * time.Second)})
	for _, step := range []struct {
		after, retry time.Duration
	}{{0, 0}, {10 * time.Second, 8 * time.Second}, {18 * time.Second, 0}, {52 * time.Second, 2 * time.Second}, {54 * time.Second, 0}, {90 * time.Second, 0}} {
		result := f.Take(t.Context(), noon.Add(step.after), []throttle.Use{{Key: key, Limits: terms}})
		if result.OK != (step.retry == 0) || result.RetryAfter != step.retry {
			t.Errorf("after %v: %+v, want retry after %v", step.after, result, step.retry)
		}
	}
	if n := r.fallbacks.Load(); n != 6 {
		t.Errorf("%d fallbacks, want 6", n)
	}
	r.await(t, stateDown)
}

// A request that ends during the call does not count as a failure of the
// server.
func TestFleetRequestEndsDuringCall(t *testing.T) {
	f, r := newFleet(t, config{ClientOption: at(testServer(t, false).address)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 10 {
		f.Take(ctx, time.Now(), []throttle.Use{{Key: newKey(t.Name(), fmt.Sprint(i)), Limits: hourly}})
	}
	if stateOf(f) != stateUp || r.errors.Load() != 0 {
		t.Errorf("state %v, %d errors", stateOf(f), r.errors.Load())
	}
}

// A value of another program under a key of the limiter causes a fallback.
func TestFleetForeignKey(t *testing.T) {
	f, r := newFleet(t, config{ClientOption: at(testServer(t, false).address), Deadline: time.Minute})
	client := f.current.Load().client
	for i, value := range []string{"x", "x y z 1", "1 2", "\x00\xff", strings.Repeat("9 ", 100)} {
		key := newKey(t.Name(), fmt.Sprint(i))
		set := client.B().Set().Key(f.name(key)).Value(value).Build()
		if err := client.Do(t.Context(), set).Error(); err != nil {
			t.Fatal(err)
		}
		if r := f.Take(t.Context(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}}); !r.OK {
			t.Errorf("%q: %+v", value, r)
		}
	}
	if stateOf(f) != stateUp {
		t.Errorf("%v after %d errors", stateOf(f), r.errors.Load())
	}
}

// Keys in the server have the prefix, and expire.
func TestFleetKeysExpire(t *testing.T) {
	mini := miniredis.RunT(t)
	f, _ := newFleet(t, config{ClientOption: at(mini.Addr()), Deadline: time.Minute})
	key, terms := newKey(t.Name()), throttle.Compile(throttle.Grant{Delay: delay(100 * time.Second)})
	f.Take(t.Context(), time.Now(), []throttle.Use{{Key: key, Limits: terms}})
	name := f.name(key)
	if ttl, want := mini.TTL(name), 150*time.Second; ttl != want {
		t.Errorf("the key expires in %v, want %v: the emission interval and a minute", ttl, want)
	}
}

// A single server shares budgets that one request uses together, whatever their
// homes are: a request can name several crawlers.
func TestFleetUsesDifferentHomesTogether(t *testing.T) {
	if serverCommand() == "" {
		t.Log("neither redis-server nor valkey-server is installed, and miniredis says that it is a cluster")
		return
	}
	c := config{ClientOption: at(testServer(t, false).address), Deadline: time.Minute, injected: true}
	c.Prefix = "homes:" + fmt.Sprint(time.Now().UnixNano())
	a, _ := newFleet(t, c)
	b, r := newFleet(t, c)
	one, two := newKey("1"), newKey("2")
	for i, step := range []struct {
		fleet *limiter
		uses  []throttle.Use
		ok    bool
	}{
		{a, []throttle.Use{{Key: one, Limits: hourly}, {Key: two, Limits: hourly}}, true}, {b, []throttle.Use{{Key: two, Limits: hourly}}, false}, {b, []throttle.Use{{Key: newKey("3"), Limits: hourly}, {Key: one, Limits: hourly}}, false},
		{b, []throttle.Use{{Key: newKey("3"), Limits: hourly}}, true},
	} {
		if got := step.fleet.Take(t.Context(), noon, step.uses).OK; got != step.ok {
			t.Errorf("request %d: %t", i, got)
		}
	}
	if n := r.fallbacks.Load(); n > 0 {
		t.Errorf("%d decided without the server", n)
	}
}

// A budget with a home has a name that says so. Names of budgets without one are
// as they always were.
func TestNamesOfKeysInTheServer(t *testing.T) {
	f, _ := newLedgerFleet(newLedger(), 100)
	defer f.close()
	k, home, other := throttle.Key{1, 2}, throttle.Key{3, 4}, throttle.Key{5, 6}
	for _, test := range []struct {
		key  throttle.Key
		want string
	}{
		{k, "robots:00000000000000010000000000000002"},
		{home.In(home), "robots:00000000000000030000000000000004"},
		{k.In(home), "robots:{robots:00000000000000030000000000000004}00000000000000010000000000000002"},
		{k.In(other.In(home)), "robots:{robots:00000000000000030000000000000004}00000000000000010000000000000002"},
		{k.In(home).In(k), "robots:00000000000000010000000000000002"},
	} {
		if got := f.name(test.key); got != test.want {
			t.Errorf("%v: %s, want %s", test.key, got, test.want)
		}
	}
}
