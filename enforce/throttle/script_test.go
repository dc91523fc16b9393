package throttle

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/robots"
)

// takeOf010 is the script of version 0.1.0.
//
//go:embed testdata/take-0.1.0.lua
var takeOf010 string

// wireOf010 has names of keys, and arguments of the script, of version 0.1.0.
//
//go:embed testdata/wire-0.1.0.txt
var wireOf010 string

// Keys and arguments are those of version 0.1.0, so that servers of both share
// budgets. If this has to change, see wireForm.
func TestWireFormIsThatOf010(t *testing.T) {
	f := &Fleet{config: FleetConfig{Prefix: defaultFleetPrefix}}
	own, home := KeyOf(0x0123456789abcdef, 0xfedcba9876543210), KeyOf(1, 2)
	addr, addr6 := netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("2001:db8:1:2::9")
	limits := Compile(Grant{
		Delay: delay(10 * time.Second), Rates: []robots.RequestRate{rate(5, time.Hour, 100, 200), rate(1000, 24*time.Hour, allDayFrom, allDayTo)}, Burst: 3,
	})
	var got strings.Builder
	for _, k := range []Key{own, own.In(home), home.In(home), own.Disposable(), own.Client(addr), own.In(home).Client(addr6)} {
		fmt.Fprintln(&got, "key", f.name(k))
	}
	fmt.Fprintln(&got, "set", f.setName("suspects"), f.setVersion("suspects"))
	known := budget{limits: limits, known: true, since: 7, arrivals: arrivals{last: noon.UnixMicro(), used: 1.5, sig: limits.sig, tat: [maxLimits]int64{1, 2, 3}}}
	for _, q := range []scriptCall{
		{now: noon.UnixMicro(), after: 5, slack: 25000, budgets: []budget{known, {limits: hourly}}},
		{now: noon.UnixMicro(), injected: true, back: true, budgets: []budget{{limits: hourly}}},
	} {
		fmt.Fprintln(&got, "args", strings.Join(q.args(), " "))
	}
	if got.String() != wireOf010 {
		t.Errorf("the form is\n%swant\n%s", got.String(), wireOf010)
	}
}

// takeAs010 calls the script as version 0.1.0 does for a request by the caller's
// clock, as a process that knows nothing of the budget. It returns whether the
// request is accepted.
func takeAs010(t *testing.T, client valkey.Client, name string, l *Limits, now time.Time) bool {
	t.Helper()
	at := strconv.FormatInt(now.UnixMicro(), 10)
	args := []string{"caller", at, "0", "0", "take", strconv.FormatUint(uint64(l.sig), 16), "0", "0", strconv.Itoa(len(l.limits)), "0"}
	for _, limit := range l.limits {
		for _, n := range []int64{limit.interval, limit.tolerance, int64(limit.window.from), int64(limit.window.length), 1 << limit.shift} {
			args = append(args, strconv.FormatInt(n, 10))
		}
		args = append(args, at)
	}
	reply, err := valkey.NewLuaScript(takeOf010).Exec(t.Context(), client, []string{name}, args).ToArray()
	if err != nil || len(reply) != 3+len(l.limits) {
		t.Fatal(reply, err)
	}
	accepted, err := reply[0].AsInt64()
	if err != nil {
		t.Fatal(err)
	}
	return accepted == 1
}

// Processes of version 0.1.0 share the budgets, in both directions: in a random
// order, they and a Fleet together accept what a Memory accepts.
func TestVersion010SharesBudgets(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 14))
		f, _ := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute, injected: true})
		client, m := f.link.current.Load().client, NewMemory(100)
		g := randomGrant(rnd)
		g.Visits = nil
		l, k, now := Compile(g), newKey(fmt.Sprint(seed)), noon
		if l == nil {
			continue
		}
		own := []Use{{k, l}}
		for i := range 40 {
			want := m.Take(t.Context(), now, own)
			var ok bool
			if rnd.IntN(2) == 0 {
				ok = takeAs010(t, client, f.name(k), l, now)
			} else {
				ok = f.Take(t.Context(), now, append(own, Use{newKey(fmt.Sprint(seed, i)).In(k), hourly})).OK
			}
			if ok != want.OK {
				t.Fatalf("seed %d, request %d: %t, want %+v", seed, i, ok, want)
			}
			now = now.Add(randomStep(rnd, want) % time.Hour)
		}
	}
}

// On a cluster, budgets with one home are used together, and shared. If their homes
// differ, the process decides alone.
func TestUsesOnACluster(t *testing.T) {
	nodes := newCluster(t)
	if nodes == nil {
		return
	}
	pool := Compile(Grant{Rates: []robots.RequestRate{rate(2, time.Hour, allDayFrom, allDayTo)}})
	for _, prefix := range []string{"uses:", "{uses}:"} {
		c := FleetConfig{Addresses: []string{nodes[0].address}, Deadline: time.Minute, Prefix: prefix}
		a, _ := newFleet(t, c)
		b, r := newFleet(t, c)
		for i := range 30 {
			home := newKey(fmt.Sprint(i))
			take := func(f *Fleet, k Key) bool {
				return f.Take(t.Context(), time.Now(), []Use{{k, hourly}, {home, pool}}).OK
			}
			one, two := newKey("1", fmt.Sprint(i)).In(home), newKey("2", fmt.Sprint(i)).In(home)
			for j, step := range []struct {
				f  *Fleet
				k  Key
				ok bool
			}{{a, one, true}, {b, one, false}, {b, two, true}, {a, newKey("3", fmt.Sprint(i)).In(home), false}, {b, newKey("3", fmt.Sprint(i)).In(home), false}} {
				if got := take(step.f, step.k); got != step.ok {
					t.Fatalf("prefix %s, home %d, request %d: %t", prefix, i, j, got)
				}
			}
			if err := a.Forget(t.Context(), time.Now(), home); err != nil {
				t.Fatal(err)
			}
		}
		if n := r.fallbacks.Load(); n != 0 {
			t.Errorf("%d decided without the servers", n)
		}
		if r := b.Take(t.Context(), time.Now(), []Use{{newKey("x"), hourly}, {newKey("y"), hourly}}); !r.OK {
			t.Errorf("different homes: %+v", r)
		}
		if n := r.fallbacks.Load(); n != 1 || stateOf(b) != FleetUp {
			t.Errorf("%d decided without the servers, %v", n, stateOf(b))
		}
	}
}

// message returns a reply with a value: a number, or text.
func message(value any) (m valkey.ValkeyMessage) {
	buf, text := make([]byte, 7), ""
	switch v := value.(type) {
	case int64:
		buf = binary.BigEndian.AppendUint64(append(buf, ':'), uint64(v))
	default:
		text = fmt.Sprint(v)
		buf = binary.BigEndian.AppendUint64(append(buf, '$'), uint64(len(text)))
	}
	if err := m.CacheUnmarshalView(append(buf, text...)); err != nil {
		panic(err)
	}
	return m
}

// Whatever the server replies, the states are those of the limits, and no time is
// so far ahead that a search for a free instant takes long.
func FuzzReply(f *testing.F) {
	f.Add(int64(1), noon.UnixMicro(), 1.0, noon.UnixMicro(), noon.UnixMicro(), "2.5", noon.UnixMicro(), 8)
	f.Add(int64(0), int64(-1<<63), 1e300, int64(1<<63-1), int64(0), "x", int64(1<<62), 8)
	two := Compile(Grant{Delay: delay(time.Minute), Rates: []robots.RequestRate{rate(5, time.Hour, 100, 200)}})
	f.Fuzz(func(t *testing.T, ok, last int64, used float64, tat, more int64, second string, far int64, size int) {
		reply := []valkey.ValkeyMessage{
			message(ok), message(last), message(used), message(tat), message(more), message(tat), message(second), message(far),
		}[:min(max(0, size%9), 8)]
		q := scriptCall{now: noon.UnixMicro(), budgets: []budget{{limits: two}, {limits: hourly}}}
		accepted, err := q.parseReply(reply)
		if err != nil {
			if accepted || !errors.Is(err, errReply) {
				t.Fatalf("%t, %v", accepted, err)
			}
			return
		}
		if len(reply) != 8 || accepted != (ok == 1) {
			t.Fatalf("%d values, %t", len(reply), accepted)
		}
		for i := range q.budgets {
			if b := &q.budgets[i]; b.sig != b.limits.sig || !b.known {
				t.Fatalf("%+v", b)
			}
		}
		if r := decide(q.now, q.budgets); r.RetryAfter < 0 {
			t.Fatalf("%+v", r)
		}
	})
}
