package throttle

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"
)

// shared is the server of the tests that do nothing to it.
var shared = sync.OnceValues(newServer)

func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := shared(); err == nil {
		s.stop()
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
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
	process *exec.Cmd // of command
	mini    *miniredis.Miniredis
	front   *proxy // of mini, which cannot be paused itself
}

func newServer() (*testbed, error) {
	for _, command := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(command); err == nil {
			port, err := freePort()
			if err != nil {
				return nil, err
			}
			s := &testbed{address: fmt.Sprintf("127.0.0.1:%d", port), command: path}
			return s, s.start()
		}
	}
	s := &testbed{mini: miniredis.NewMiniRedis()}
	if err := s.mini.Start(); err != nil {
		return nil, err
	}
	var err error
	s.front, err = newProxy(s.mini.Addr())
	if err == nil {
		s.address = s.front.Addr().String()
	}
	return s, err
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

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// start starts the server, which is empty then.
func (s *testbed) start() error {
	if s.command == "" {
		s.mini.FlushAll()
		s.front.setDown(false)
		return nil
	}
	_, port, _ := strings.Cut(s.address, ":")
	s.process = exec.Command(s.command, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "eady to accept connections") {
			go func() {
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	return errors.New("the server ended at once")
}

// kill ends the server as a crash does.
func (s *testbed) kill() {
	if s.command == "" {
		s.front.setDown(true)
		return
	}
	s.process.Process.Kill()
	s.process.Wait()
}

// pause makes the server hang until resume.
func (s *testbed) pause() {
	if s.command == "" {
		s.front.hold()
		return
	}
	s.process.Process.Signal(syscall.SIGSTOP)
}

func (s *testbed) resume() {
	if s.command == "" {
		s.front.release()
		return
	}
	s.process.Process.Signal(syscall.SIGCONT)
}

func (s *testbed) stop() {
	s.kill()
	if s.command == "" {
		s.front.Close()
		s.mini.Close()
	}
}

// proxy is a TCP proxy that can be down, and that can hang.
type proxy struct {
	net.Listener
	to    string
	mu    sync.Mutex
	gate  sync.RWMutex // held for writing while it hangs
	down  bool
	conns map[net.Conn]bool
}

func newProxy(to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{Listener: l, to: to, conns: make(map[net.Conn]bool)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *proxy) hold()    { p.gate.Lock() }
func (p *proxy) release() { p.gate.Unlock() }

func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		c.Close()
	}
}

func (p *proxy) Close() error {
	p.setDown(true)
	return p.Listener.Close()
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	back, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer back.Close()
	p.mu.Lock()
	if p.down {
		p.mu.Unlock()
		return
	}
	p.conns[c], p.conns[back] = true, true
	p.mu.Unlock()
	go p.copy(back, c)
	p.copy(c, back)
	p.mu.Lock()
	delete(p.conns, c)
	delete(p.conns, back)
	p.mu.Unlock()
}

func (p *proxy) copy(to, from net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		p.gate.RLock()
		if err == nil {
			_, err = to.Write(buf[:n])
		}
		p.gate.RUnlock()
		if err != nil {
			to.Close()
			from.Close()
			return
		}
	}
}

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

// await returns when the Fleet has changed to s.
func (r *recorder) await(t *testing.T, s FleetState) {
	t.Helper()
	for {
		select {
		case got := <-r.states:
			if got == s {
				return
			}
		case <-time.After(20 * time.Second):
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
	t.Cleanup(func() {
		f.Close()
		<-f.link.done
	})
	r.await(t, FleetUp)
	return f, r
}
