package fleet

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/child"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
	"github.com/caddy-robots/caddy-robots/robots"
)

// sharedServer returns one server for all tests that do not change its state.
var sharedServer = sync.OnceValues(newServer)

// clientGoroutines are goroutines of the client library that end some time
// after the client is closed: one reads the topology of a cluster again after
// at most a second, the other closes replaced connections after five seconds.
func clientGoroutines(more ...goleak.Option) []goleak.Option {
	return append(more,
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*call).DelayDo.func1"),
		goleak.IgnoreAnyFunction("github.com/valkey-io/valkey-go.(*clusterClient)._refresh.func2"),
	)
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // half of the time would go into collecting what miniredis leaves
	code := m.Run()
	if s, err := sharedServer(); err == nil {
		s.stop()
	}
	if code == 0 {
		if err := goleak.Find(clientGoroutines()...); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// testbed is a process of redis-server or valkey-server or, if neither is
// installed, a miniredis in this process.
type testbed struct {
	address string
	command string    // empty for miniredis
	args    []string  // more arguments
	file    string    // a Sentinel's configuration
	folder  string    // for the server's files, such as what a replica receives
	process *exec.Cmd // of command
	mini    *miniredis.Miniredis
}

func newServer() (*testbed, error) {
	if s, err := newProcess(); s != nil || err != nil {
		return s, err
	}
	port, err := freeport.Take()
	if err != nil {
		return nil, err
	}
	s := &testbed{address: fmt.Sprintf("127.0.0.1:%d", port), mini: miniredis.NewMiniRedis()}
	return s, s.mini.StartAddr(s.address)
}

// newProcess starts a server with more arguments. It returns nil if no server
// is installed. It makes several attempts with different ports, because a node of
// a cluster also needs the port that is higher by 10,000, which may be in use.
func newProcess(args ...string) (*testbed, error) {
	command := serverCommand()
	if command == "" {
		return nil, nil
	}
	for attempt := 1; ; attempt++ {
		port, err := freeport.Take()
		if err != nil {
			return nil, err
		}
		folder, err := os.MkdirTemp("", "throttle-server-")
		if err != nil {
			return nil, err
		}
		s := &testbed{address: fmt.Sprintf("127.0.0.1:%d", port), command: command, args: args, folder: folder}
		if err = s.start(); !errors.Is(err, errServerEnded) || attempt == 20 {
			return s, err
		}
		s.stop()
	}
}

// errServerEnded is returned by start if the server ended during its start.
var errServerEnded = errors.New("the server ended during its start")

// newSentinel starts a Sentinel with a configuration file.
func newSentinel(file string) (*testbed, error) {
	port, err := freeport.Take()
	if err != nil {
		return nil, err
	}
	s := &testbed{address: fmt.Sprintf("127.0.0.1:%d", port), command: serverCommand(), file: file}
	return s, s.start()
}

// serverCommand returns the path of an installed server, or "".
func serverCommand() string {
	for _, command := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(command); err == nil {
			return path
		}
	}
	return ""
}

// testServer returns a separate server for this test if own is set, and
// otherwise the shared one.
func testServer(t *testing.T, own bool) *testbed {
	t.Helper()
	open := sharedServer
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
		t.Log("neither redis-server nor valkey-server is installed; using miniredis")
	}
	return s
}

// start starts the server, without data.
func (s *testbed) start() error {
	if s.command == "" {
		s.mini.FlushAll()
		return s.mini.Restart()
	}
	_, port, _ := strings.Cut(s.address, ":")
	s.process = child.Command(s.command, append(s.config(), append(s.args, "--port", port, "--bind", "127.0.0.1")...)...)
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
	return errServerEnded
}

// config returns the first arguments of the command.
func (s *testbed) config() []string {
	if s.file != "" {
		return []string{s.file, "--sentinel"}
	}
	return []string{"--save", "", "--appendonly", "no", "--dir", s.folder}
}

// kill ends the server like a crash.
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

// signal sends a signal to the server. It runs the command kill, because
// package syscall does not have these signals on every system.
func (s *testbed) signal(name string) {
	if err := exec.Command("kill", name, strconv.Itoa(s.process.Process.Pid)).Run(); err != nil {
		panic(err)
	}
}

func (s *testbed) stop() {
	s.kill()
	_ = os.RemoveAll(s.folder)
}

// recorder is events that counts, and keeps the texts of errors.
type recorder struct {
	calls, errors, fallbacks atomic.Int64
	states                   chan string

	mu    sync.Mutex
	texts []string
}

func newRecorder() *recorder { return &recorder{states: make(chan string, 1000)} }

func (r *recorder) changed(s string, err error) {
	r.note(err)
	r.states <- s
}

func (r *recorder) alone() { r.fallbacks.Add(1) }

func (r *recorder) called(_ time.Duration, err error) {
	r.calls.Add(1)
	if err != nil {
		r.errors.Add(1)
		r.note(err)
	}
}

func (r *recorder) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, fmt.Sprintf("%v %+v %#v", err, err, err))
}

// noted returns the texts of the errors.
func (r *recorder) noted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts)
}

// await waits until the state of the limiter changes to s. The timeout is long,
// and is only there to report a missing state.
func (r *recorder) await(t *testing.T, s string) {
	t.Helper()
	for {
		select {
		case got := <-r.states:
			if got == s {
				return
			}
		case <-time.After(5 * time.Minute):
			t.Fatalf("the state of the limiter does not become %v", s)
		}
	}
}

// at returns the options of a client of servers.
func at(addresses ...string) valkey.ClientOption {
	return valkey.ClientOption{InitAddress: addresses}
}

// newFleet returns a limiter that is connected, with a unique prefix for its
// keys.
func newFleet(t *testing.T, c config) (*limiter, *recorder) {
	t.Helper()
	if c.Prefix == "" {
		c.Prefix = fmt.Sprintf("test:%x:", rand.Uint64())
	}
	r := newRecorder()
	f := newLimiter(c, throttle.NewMemory(1000), r)
	f.connect()
	t.Cleanup(func() { f.close() })
	r.await(t, stateUp)
	return f, r
}

// stateOf returns the state of f's link.
func stateOf(f *limiter) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// noon is the start of most tests.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var hourly = throttle.Compile(throttle.Grant{Delay: delay(time.Hour)})

func delay(d time.Duration) robots.CrawlDelay { return robots.CrawlDelay{Delay: d, Line: 2} }

// rate and visit have windows from times in the notation of robots.txt, hhmm.
func rate(n int, per time.Duration, from, to int) robots.RequestRate {
	return robots.RequestRate{Requests: n, Per: per, Window: window(from, to), Line: 3}
}

func visit(from, to int) robots.VisitTime { return robots.VisitTime{Window: window(from, to), Line: 4} }

func window(from, to int) robots.Window {
	return robots.Window{From: from/100*60 + from%100, To: to/100*60 + to%100}
}

const allDayFrom, allDayTo = 0, 2359

func newKey(parts ...string) throttle.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return throttle.KeyOf(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]))
}
