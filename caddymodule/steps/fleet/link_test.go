package fleet

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// refusedWrites are replies of servers that refuse writes, with the texts of
// Redis 6 and 7.
var refusedWrites = []string{
	"READONLY You can't write against a read only replica.",
	"ERR Error running script (call to f_0123): @user_script:86: -READONLY You can't write against a read only replica.",
	"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	"LOADING Redis is loading the dataset in memory",
	"CLUSTERDOWN The cluster is down",
	"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
	"OOM command not allowed when used memory > 'maxmemory'.",
	"NOAUTH Authentication required.",
}

// After one reply that the server refuses writes, the process decides alone
// until the server accepts writes again.
func TestFleetServerRefusesWrites(t *testing.T) {
	for _, reply := range refusedWrites {
		name, _, _ := strings.Cut(reply, " ")
		t.Run(name, func(t *testing.T) {
			mini := miniredis.RunT(t)
			f, r := newFleet(t, config{ClientOption: at(mini.Addr()), Deadline: time.Minute})
			mini.SetError(reply)
			if r := f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("a"), Limits: hourly}}); !r.OK {
				t.Errorf("without the server: %+v", r)
			}
			r.await(t, stateDown)
			if n := r.fallbacks.Load(); n != 1 {
				t.Errorf("%d fallbacks", n)
			}
			mini.SetError("")
			r.await(t, stateUp)
			if r := f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("b"), Limits: hourly}}); !r.OK {
				t.Error(r)
			}
			if n := r.fallbacks.Load(); n != 1 {
				t.Errorf("%d fallbacks after the server is back", n)
			}
		})
	}
}

// proxy forwards each new connection to its current target, like a DNS name or
// a floating address.
type proxy struct {
	net.Listener
	mu     sync.Mutex
	target string
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: listener, target: target}
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			target := p.target
			p.mu.Unlock()
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				continue
			}
			for from, to := range map[net.Conn]net.Conn{in: out, out: in} {
				group.Go(func() {
					io.Copy(to, from)
					to.Close()
				})
			}
		}
	})
	return p
}

// When a server without Sentinels becomes a replica, its address leads to the
// new master, but only for new connections.
func TestFleetFollowsFailoverOfStandaloneServer(t *testing.T) {
	first, second := miniredis.RunT(t), miniredis.RunT(t)
	testFailover(t, first.Addr(), second.Addr(), func() { first.SetError("READONLY You can't write against a read only replica.") })
}

// testFailover connects a limiter to the first server. Then demote makes this
// server a replica, and the address leads to the second one. The client has up
// to two connections, makes them when it needs them, and takes one of them at
// random for each call.
func testFailover(t *testing.T, first, second string, demote func()) {
	t.Helper()
	p := newProxy(t, first)
	f, r := newFleet(t, config{ClientOption: at(p.Addr().String()), Deadline: time.Minute})
	demote()
	f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("refused"), Limits: hourly}})
	r.await(t, stateDown)
	p.mu.Lock()
	p.target = second
	p.mu.Unlock()
	r.await(t, stateUp)
	before := r.fallbacks.Load()
	for i := range 20 {
		f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("served", strconv.Itoa(i)), Limits: hourly}})
	}
	if n := r.fallbacks.Load() - before; n != 0 {
		t.Errorf("the second server was not called for %d of 20 requests", n)
	}
}

// A new limiter with the Memory of an old one, as after a change of the password,
// continues the budgets, before and after it has connected.
func TestFleetReplaced(t *testing.T) {
	mini := miniredis.RunT(t)
	mini.RequireUserAuth("robots", "old")
	c := config{ClientOption: at(mini.Addr()), Deadline: time.Minute, Prefix: "replaced:"}
	c.Username, c.Password = "robots", "old"
	m, r := throttle.NewMemory(100), newRecorder()
	before := newLimiter(c, m, r)
	before.connect()
	r.await(t, stateUp)
	key := newKey("a")
	if r := before.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: hourly}}); !r.OK {
		t.Fatal(r)
	}
	mini.RequireUserAuth("robots", "new")
	c.Password = "new"
	r = newRecorder()
	after := newLimiter(c, m, r)
	after.connect()
	defer after.close()
	before.close()
	if r := after.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: hourly}}); r.OK {
		t.Errorf("by the new limiter before it has connected: %+v", r)
	}
	r.await(t, stateUp)
	m.Resize(noon, 1000)
	if r := after.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: hourly}}); r.OK {
		t.Errorf("by the new limiter: %+v", r)
	}
}

func TestFailuresThatOpenTheCircuit(t *testing.T) {
	f, r := newFleet(t, config{ClientOption: at(testServer(t, false).address)})
	n := f.current.Load()
	for range missesToOpen - 1 {
		f.fail(n, context.DeadlineExceeded)
	}
	n.misses.Store(0)
	for range missesToOpen - 1 {
		f.fail(n, errReply)
	}
	if stateOf(f) != stateUp {
		t.Fatalf("%v after failures that are not in a row", stateOf(f))
	}
	f.fail(n, context.DeadlineExceeded)
	r.await(t, stateDown)
	r.await(t, stateUp)
	f.fail(n, errors.New("connection reset"))
	r.await(t, stateDown)
	r.await(t, stateUp)
}
