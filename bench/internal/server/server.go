// Package server builds Caddy with the plugin and runs it for a test.
package server

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

// patience bounds all waiting. It is long, because the machine may be busy.
const patience = 2 * time.Minute

// Server is a running Caddy.
type Server struct {
	// Dir is the home folder, with Caddy's files; $DIR in a configuration.
	Dir string
	// Port and TLSPort are free ports for sites; $PORT and $TLSPORT in a
	// configuration. The admin API listens on Admin.
	Port, TLSPort, Admin int

	t    testing.TB
	pid  int
	log  buffer
	stop func()
}

// Start runs Caddy with a Caddyfile until the test ends, and waits until it is up.
// It replaces $DIR, $PORT and $TLSPORT. Caddy uses self-signed certificates and
// installs nothing on the machine.
func Start(t testing.TB, caddyfile string) *Server {
	t.Helper()
	s := &Server{Dir: t.TempDir(), Port: port(t), TLSPort: port(t), Admin: port(t), t: t}
	cmd := child.Command(Binary(t), "run", "--adapter", "caddyfile", "--config", s.write(caddyfile))
	cmd.Dir, cmd.Env = root(t), s.env()
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	s.stop = func() { _ = cmd.Process.Kill(); <-exited }
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.log.tail(4000))
		}
	})
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(s.AdminURL("/config/"))
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the server did not start: %v", err)
		}
	}
}

// Reload loads another Caddyfile into the running server.
func (s *Server) Reload(caddyfile string) error {
	s.t.Helper()
	cmd := exec.Command(Binary(s.t), "reload", "--adapter", "caddyfile", "--config", s.write(caddyfile), "--force")
	cmd.Dir, cmd.Env = root(s.t), s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Stop ends the server before the test does.
func (s *Server) Stop() { s.stop() }

// Pause keeps the server from running, until it is called with false: it still has its
// connections, and answers none.
func (s *Server) Pause(on bool) {
	signal := syscall.SIGCONT
	if on {
		signal = syscall.SIGSTOP
	}
	if err := syscall.Kill(s.pid, signal); err != nil {
		s.t.Fatal(err)
	}
}

// URL returns an http URL of the site on Port, with the host localhost.
func (s *Server) URL(path string) string { return fmt.Sprintf("http://localhost:%d%s", s.Port, path) }

// TLSURL returns an https URL of the site on TLSPort, with the host localhost.
func (s *Server) TLSURL(path string) string {
	return fmt.Sprintf("https://localhost:%d%s", s.TLSPort, path)
}

// AdminURL returns a URL of the admin API.
func (s *Server) AdminURL(path string) string {
	return fmt.Sprintf("http://localhost:%d%s", s.Admin, path)
}

// Memory returns the resident memory of the server, in octets.
func (s *Server) Memory() int64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kibibytes int64
	if _, err := fmt.Sscan(rest, &kibibytes); err != nil {
		s.t.Fatal(err)
	}
	return kibibytes << 10
}

// Processor returns the processor time that the server has taken.
func (s *Server) Processor() time.Duration {
	s.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var ticks [2]int64 // user and system, 100 a second
	if _, err := fmt.Sscan(strings.Join(fields[11:13], " "), &ticks[0], &ticks[1]); err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond
}

// Descriptors returns how many files and connections the server has open.
func (s *Server) Descriptors() int {
	s.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(open)
}

// Log returns what the server has logged so far.
func (s *Server) Log() string { return s.log.tail(1 << 30) }

func (s *Server) write(caddyfile string) string {
	s.t.Helper()
	global := fmt.Sprintf("admin localhost:%d\n\tskip_install_trust\n\tgrace_period 5s", s.Admin)
	if !strings.Contains(caddyfile, "auto_https off") { // then Caddy ignores skip_install_trust
		global += "\n\tlocal_certs"
	}
	if rest, ok := strings.CutPrefix(caddyfile, "{\n"); ok {
		caddyfile = "{\n\t" + global + "\n" + rest
	} else {
		caddyfile = "{\n\t" + global + "\n}\n" + caddyfile
	}
	caddyfile = strings.NewReplacer("$PORT", fmt.Sprint(s.Port), "$TLSPORT", fmt.Sprint(s.TLSPort), "$DIR", s.Dir).Replace(caddyfile)
	path := filepath.Join(s.Dir, "Caddyfile")
	if err := os.WriteFile(path, []byte(caddyfile), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *Server) env() []string {
	return append(os.Environ(), "HOME="+s.Dir, "XDG_DATA_HOME="+s.Dir, "XDG_CONFIG_HOME="+s.Dir)
}

var binary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "caddy-robots-bench")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "caddy")
	cmd := exec.Command("go", "build", "-o", path, "./caddymodule/cmd/caddy")
	if cmd.Dir, err = moduleRoot(); err != nil {
		return "", err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// Binary builds Caddy with the plugin, once, and returns the path of the program.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// moduleRoot returns the folder of the plugin's module, the parent of bench.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(filepath.Dir(strings.TrimSpace(string(out)))), err
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func port(t testing.TB) int {
	t.Helper()
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// buffer is a buffer that is safe for concurrent use.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) tail(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.buf.Bytes()
	return string(all[max(0, len(all)-n):])
}
