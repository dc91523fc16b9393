package throttle

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"github.com/caddy-robots/caddy-robots/internal/freeport"
)

// shared is the server of the tests that do nothing to it.
var shared = sync.OnceValues(newServer)

// clientsLeftovers are goroutines of the client library that end by themselves,
// whether the client is closed or not: the cluster client's next look at the
// topology, which sleeps for a second at most, and the closing of connections
// that a look has replaced, five seconds later.
func clientsLeftovers(more ...goleak.Option) []goleak.Option {
	return append(more,
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*call).DelayDo.func1"),
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*clusterClient)._refresh.func2"),
	)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := shared(); err == nil {
		s.stop()
	}
	if code == 0 {
		if err := goleak.Find(clientsLeftovers()...); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// testbed is a redis-server or valkey-server, where there is one, and an
// in-process one elsewhere.
type testbed struct {
	address string
	command string    // empty: in process
	args    []string  // more of them
	file    string    // a Sentinel's configuration
	process *exec.Cmd // of command
	mini    *miniredis.Miniredis
}

func newServer() (*testbed, error) {
	if s, err := newProcess(); s != nil || err != nil {
		return s, err
	}
	s := &testbed{mini: miniredis.NewMiniRedis()}
	if err := s.mini.Start(); err != nil {
		return nil, err
	}
	s.address = s.mini.Addr()
	return s, nil
}

// newProcess returns a server with more arguments, or nil where there is no
// such command.
func newProcess(args ...string) (*testbed, error) {
	command := serverCommand()
	if command == "" {
		return nil, nil
	}
	port, err := freeport.Take()
	if err != nil {
		return nil, err
	}
	s := &testbed{address: fmt.Sprintf("127.0.0.1:%d", port), command: command, args: args}
	return s, s.start()
}

// newSentinel returns a Sentinel with the given configuration file.
func newSentinel(file string) (*testbed, error) {
	port, err := freeport.Take()
	if err != nil {
		return nil, err
	}
	s := &testbed{address: fmt.Sprintf("127.0.0.1:%d", port), command: serverCommand(), file: file}
	return s, s.start()
}

// serverCommand returns the path of a server, or nothing.
func serverCommand() string {
	for _, command := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(command); err == nil {
			return path
		}
	}
	return ""
}

// testServer returns a server of the test's own, or the shared one.
func testServer(t *testing.T, own bool) *testbed {
	t.Helper()
	open := shared
	if own {
		open = newServer
	}
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if own {
		t.Cleanup(s.stop)
	}
	if s.command == "" {
		t.Log("neither redis-server nor valkey-server is here; using miniredis, in process")
	}
	return s
}

// start starts the server, which is empty then.
func (s *testbed) start() error {
	if s.command == "" {
		s.mini.FlushAll()
		return s.mini.Restart()
	}
	_, port, _ := strings.Cut(s.address, ":")
	s.process = exec.Command(s.command, append(s.config(), append(s.args, "--port", port, "--bind", "127.0.0.1")...)...)
	dieWithTest(s.process)
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if line := lines.Text(); strings.Contains(line, "eady to accept connections") || strings.Contains(line, "Sentinel ID is") {
			go func() {
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	return errors.New("the server ended at once")
}

// config returns the arguments that come first.
func (s *testbed) config() []string {
	if s.file != "" {
		return []string{s.file, "--sentinel"}
	}
	return []string{"--save", "", "--appendonly", "no", "--dir", os.TempDir()}
}

// kill ends the server as a crash does.
func (s *testbed) kill() {
	if s.command == "" {
		s.mini.Close()
		return
	}
	s.process.Process.Kill()
	s.process.Wait()
}

// pause makes the server hang until resume.
func (s *testbed) pause() {
	if s.command == "" {
		s.mini.Lock()
		return
	}
	s.signal("-STOP")
}

func (s *testbed) resume() {
	if s.command == "" {
		s.mini.Unlock()
		return
	}
	s.signal("-CONT")
}

// signal sends a signal that the syscall package does not know on every
// system that the tests are compiled for.
func (s *testbed) signal(name string) {
	if err := exec.Command("kill", name, strconv.Itoa(s.process.Process.Pid)).Run(); err != nil {
		panic(err)
	}
}

func (s *testbed) stop() { s.kill() }

// recorder is an Observer that counts.
type recorder struct {
	calls, errors, fallbacks atomic.Int64
	refusals                 [EngineFallback + 1]atomic.Int64
	states                   chan FleetState
}

func newRecorder() *recorder { return &recorder{states: make(chan FleetState, 1000)} }

func (r *recorder) FleetState(s FleetState, _ error) { r.states <- s }
func (r *recorder) FleetRefusal(by Engine)           { r.refusals[by].Add(1) }
func (r *recorder) FleetFallback()                   { r.fallbacks.Add(1) }
func (r *recorder) FleetCall(_ time.Duration, err error) {
	r.calls.Add(1)
	if err != nil {
		r.errors.Add(1)
	}
}

// await returns when the Fleet has changed to s. The longest time that it waits
// is only there to name the state that does not come.
func (r *recorder) await(t *testing.T, s FleetState) {
	t.Helper()
	for {
		select {
		case got := <-r.states:
			if got == s {
				return
			}
		case <-time.After(5 * time.Minute):
			t.Fatalf("the fleet does not get %v", s)
		}
	}
}

// newFleet returns a Fleet that is up, with keys of its own.
func newFleet(t *testing.T, c FleetConfig) (*Fleet, *recorder) {
	t.Helper()
	if c.Prefix == "" {
		c.Prefix = fmt.Sprintf("test:%x:", rand.Uint64())
	}
	r := newRecorder()
	f, err := NewFleet(c, NewMemory(1000), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r.await(t, FleetUp)
	return f, r
}

// stateOf returns the state of f's link.
func stateOf(f *Fleet) FleetState {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	return f.link.state
}

// rounds returns how many of n rounds a test of random schedules makes on l:
// a server takes longer, and one in process, under the race detector, longest.
func rounds(l Limiter, n int) uint64 {
	switch l.(type) {
	case *Memory:
		return uint64(n)
	}
	if serverCommand() == "" {
		return uint64(n/4/raceFactor + 1)
	}
	return uint64(n / 4)
}
