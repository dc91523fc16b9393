package throttle

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"
)

// awayForWriting are replies of servers that take no writes, as Redis 6 and 7
// word them.
var awayForWriting = []string{
	"READONLY You can't write against a read only replica.",
	"ERR Error running script (call to f_0123): @user_script:86: -READONLY You can't write against a read only replica.",
	"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	"LOADING Redis is loading the dataset in memory",
	"CLUSTERDOWN The cluster is down",
	"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
	"OOM command not allowed when used memory > 'maxmemory'.",
	"NOAUTH Authentication required.",
}

// One reply that the server takes no writes is enough: the process decides
// alone, and asks the server again as soon as it takes writes.
func TestFleetServerAwayForWriting(t *testing.T) {
	for _, reply := range awayForWriting {
		name, _, _ := strings.Cut(reply, " ")
		t.Run(name, func(t *testing.T) {
			mini := miniredis.RunT(t)
			f, r := newFleet(t, FleetConfig{Addresses: []string{mini.Addr()}, Deadline: time.Minute})
			terms := Compile(Grant{Delay: delay(time.Hour)}, Options{})
			mini.SetError(reply)
			if r := f.Take(t.Context(), noon, NewKey("a"), terms, 0); !r.OK {
				t.Errorf("alone: %+v", r)
			}
			r.await(t, FleetDown)
			if n := r.fallbacks.Load(); n != 1 {
				t.Errorf("%d fallbacks", n)
			}
			mini.SetError("")
			r.await(t, FleetUp)
			if r := f.Take(t.Context(), noon, NewKey("b"), terms, 0); !r.OK {
				t.Error(r)
			}
			if n := r.fallbacks.Load(); n != 1 {
				t.Errorf("%d fallbacks after the server is back", n)
			}
		})
	}
}

// proxy forwards each new connection to its present target, as a name in DNS
// or a floating address does.
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

// When a server without Sentinels becomes a replica, the address leads to its
// successor, but only for new connections.
func TestFleetFollowsFailoverOfStandaloneServer(t *testing.T) {
	first, second := miniredis.RunT(t), miniredis.RunT(t)
	p := newProxy(t, first.Addr())
	f, r := newFleet(t, FleetConfig{Addresses: []string{p.Addr().String()}, Deadline: time.Minute})
	p.mu.Lock()
	p.target = second.Addr()
	p.mu.Unlock()
	first.SetError("READONLY You can't write against a read only replica.")
	terms := Compile(Grant{Delay: delay(time.Hour)}, Options{})
	f.Take(t.Context(), noon, NewKey("a"), terms, 0)
	r.await(t, FleetDown)
	r.await(t, FleetUp)
	f.Take(t.Context(), noon, NewKey("b"), terms, 0)
	if !second.Exists(f.name(NewKey("b"))) {
		t.Error("the second server was not asked")
	}
}

// The same with servers that replicate.
func TestFleetServerBecomesReplica(t *testing.T) {
	first, second := processOrLog(t), processOrLog(t)
	if first == nil || second == nil {
		return
	}
	p := newProxy(t, first.address)
	f, r := newFleet(t, FleetConfig{Addresses: []string{p.Addr().String()}, Deadline: time.Minute})
	p.mu.Lock()
	p.target = second.address
	p.mu.Unlock()
	host, port, _ := net.SplitHostPort(second.address)
	client := f.link.usable.Load().client
	if err := client.Do(t.Context(), client.B().Arbitrary("REPLICAOF", host, port).Build()).Error(); err != nil {
		t.Fatal(err)
	}
	terms := Compile(Grant{Delay: delay(time.Hour)}, Options{})
	f.Take(t.Context(), noon, NewKey("a"), terms, 0)
	r.await(t, FleetDown)
	r.await(t, FleetUp)
	before := r.fallbacks.Load()
	f.Take(t.Context(), noon, NewKey("b"), terms, 0)
	if n := r.fallbacks.Load(); n != before {
		t.Error("the second server was not asked")
	}
}

// A probe goes to the node of a cluster that serves the request's key.
func TestProbeKey(t *testing.T) {
	f, _ := newLedgerFleet(newLedger(), 100)
	if got, want := f.link.probeKey(), "robots:probe"; got != want {
		t.Errorf("probe key %q, want %q", got, want)
	}
	key := f.name(NewKey("a"))
	f.link.failed.Store(&key)
	_, tag, _ := strings.Cut(f.link.probeKey(), "{")
	if tag, _, _ = strings.Cut(tag, "}"); tag != key || !strings.HasPrefix(f.link.probeKey(), "robots:") {
		t.Errorf("probe key %q, want the hash tag %q", f.link.probeKey(), key)
	}
}

// silent accepts connections and never answers. ended is sent to for each
// connection that its client has closed.
type silent struct {
	net.Listener
	accepted chan struct{}
	ended    chan struct{}
	wait     func()
}

func newSilent(t *testing.T) *silent {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	s := &silent{listener, make(chan struct{}, 100), make(chan struct{}, 100), func() { listener.Close(); group.Wait() }}
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.accepted <- struct{}{}
			group.Go(func() {
				defer conn.Close()
				io.Copy(io.Discard, conn)
				s.ended <- struct{}{}
			})
		}
	})
	return s
}

// Close ends the goroutine and closes all connections, at whatever it was, and
// does not wait for a server that does not answer.
func TestFleetCloseWhileConnecting(t *testing.T) {
	for name, change := range map[string]func(c *FleetConfig, other *silent){
		"one server": func(*FleetConfig, *silent) {},
		"more nodes": func(c *FleetConfig, other *silent) { c.Addresses = append(c.Addresses, other.Addr().String()) },
		"a sentinel": func(c *FleetConfig, _ *silent) { c.MasterSet = "main" },
		"TLS":        func(c *FleetConfig, _ *silent) { u, _ := ParseFleetURL("rediss://h"); c.TLS = u.TLS },
	} {
		t.Run(name, func(t *testing.T) {
			current := goleak.IgnoreCurrent()
			s, other := newSilent(t), newSilent(t)
			c := FleetConfig{Addresses: []string{s.Addr().String()}}
			change(&c, other)
			r := newRecorder()
			f, err := NewFleet(c, NewMemory(100), r)
			if err != nil {
				t.Fatal(err)
			}
			for range c.Addresses {
				select {
				case <-s.accepted:
				case <-other.accepted:
				}
			}
			f.Close()
			if len(r.states) > 0 {
				if s := <-r.states; s != FleetDown {
					t.Errorf("the state became %v", s)
				}
			}
			s.wait() // until all its connections are closed
			other.wait()
			if err := goleak.Find(clientsLeftovers(current)...); err != nil {
				t.Error(err)
			}
		})
	}
}

// Close may come at any time, also from several goroutines and beside requests.
func TestFleetCloseAtAnyTime(t *testing.T) {
	defer goleak.VerifyNone(t, clientsLeftovers(goleak.IgnoreCurrent())...)
	mini := miniredis.RunT(t)
	defer mini.Close()
	for i := range 50 {
		r := newRecorder()
		f, err := NewFleet(FleetConfig{Addresses: []string{mini.Addr(), mini.Addr()}[:1+i%2]}, NewMemory(100), r)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			r.await(t, FleetUp)
		}
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() { f.Close() })
			group.Go(func() {
				for i := range 10 {
					f.Take(t.Context(), noon, NewKey(fmt.Sprint(i)), hourly, 0)
				}
			})
		}
		group.Wait()
		if f.server() != nil {
			t.Fatal("a closed Fleet asks its server")
		}
	}
}

// A new Fleet with the Memory of an old one, as after a change of the password,
// goes on with the budgets, whether the server is there or not.
func TestFleetReplaced(t *testing.T) {
	mini := miniredis.RunT(t)
	mini.RequireUserAuth("robots", "old")
	c := FleetConfig{Addresses: []string{mini.Addr()}, Username: "robots", Password: "old", Deadline: time.Minute, Prefix: "replaced:"}
	m, r := NewMemory(100), newRecorder()
	before, err := NewFleet(c, m, r)
	if err != nil {
		t.Fatal(err)
	}
	r.await(t, FleetUp)
	key := NewKey("a")
	if r := before.Take(t.Context(), noon, key, hourly, 0); !r.OK {
		t.Fatal(r)
	}
	mini.RequireUserAuth("robots", "new")
	c.Password = "new"
	r = newRecorder()
	after, err := NewFleet(c, m, r)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	before.Close()
	if r := after.Take(t.Context(), noon, key, hourly, 0); r.OK {
		t.Errorf("by the new Fleet, perhaps before it has connected: %+v", r)
	}
	r.await(t, FleetUp)
	m.Resize(noon, 1000)
	if r := after.Take(t.Context(), noon, key, hourly, 0); r.OK {
		t.Errorf("by the new Fleet: %+v", r)
	}
}

// echo answers every command with an error that repeats it, in the words of
// Redis 5 or with a code.
func newEcho(t *testing.T, words string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					command, err := readCommand(in)
					if err != nil {
						return
					}
					fmt.Fprintf(conn, "-%s %s\r\n", words, strings.ReplaceAll(strings.Join(command, " "), "\n", " "))
				}
			})
		}
	})
	return listener.Addr().String()
}

// readCommand reads an array of bulk strings.
func readCommand(in *bufio.Reader) ([]string, error) {
	number := func() (n int, err error) {
		line, err := in.ReadString('\n')
		if err == nil {
			_, err = fmt.Sscanf(line[1:], "%d", &n)
		}
		return n, err
	}
	n, err := number()
	var command []string
	for range n {
		size, err := number()
		if err != nil {
			return nil, err
		}
		arg := make([]byte, size+2)
		if _, err := io.ReadFull(in, arg); err != nil {
			return nil, err
		}
		command = append(command, string(arg[:size]))
	}
	return command, err
}

// textRecorder is an Observer that keeps the texts of errors.
type textRecorder struct {
	noObserver
	mu    sync.Mutex
	texts []string
	down  chan struct{}
}

func (r *textRecorder) FleetState(s FleetState, err error) {
	r.add(err)
	if s == FleetDown {
		close(r.down)
	}
}
func (r *textRecorder) FleetCall(_ time.Duration, err error) { r.add(err) }

func (r *textRecorder) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, fmt.Sprintf("%v %+v %#v", err, err, err))
}

// Servers repeat credentials in their replies; no error tells them.
func TestFleetErrorsTellNoCredentials(t *testing.T) {
	secrets := []string{"alice", "hunter2", "bob", "swordfish"}
	for _, words := range []string{
		"ERR unknown command 'HELLO', with args beginning with:",
		"WRONGPASS invalid username-password pair for", "NOPERM User alice has no permissions to run",
		"ERR", "hunter2", "CLUSTER", "MOVED 1 hunter2:1", "ASK 1 swordfish:1", "LOADING",
	} {
		for _, masterSet := range []string{"", "main"} {
			if masterSet != "" && strings.Contains(words, "unknown command") {
				continue // the client panics when such a server refuses SUBSCRIBE
			}
			c := FleetConfig{Addresses: []string{newEcho(t, words)}, MasterSet: masterSet, Username: "alice", Password: "hunter2", SentinelUsername: "bob", SentinelPassword: "swordfish"}
			r := &textRecorder{down: make(chan struct{})}
			f, err := NewFleet(c, NewMemory(100), r)
			if err != nil {
				t.Fatal(err)
			}
			<-r.down
			f.Close()
			for _, text := range r.texts {
				if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, s) }) {
					t.Errorf("%s, master set %q: the error is %s", words, masterSet, text)
				}
			}
		}
	}
}

// What is no reply is explained by its own text, without the client's.
func TestExplain(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrClosedPipe}
	for _, test := range []struct{ err, want error }{
		{nil, nil},
		{fmt.Errorf("hunter2: %w", dial), dial},
		{fmt.Errorf("hunter2: %w", context.DeadlineExceeded), errDeadline},
		{fmt.Errorf("%w: hunter2", errReply), errReply},
		{fmt.Errorf("hunter2"), errEnded},
		{io.EOF, errEnded},
	} {
		if got := explain(test.err); got != test.want {
			t.Errorf("explain(%v) = %v, want %v", test.err, got, test.want)
		}
	}
}
