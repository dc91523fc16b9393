package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

// User-Agents that these clients really send.
const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	bingbot   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// patience bounds all waiting in a test. It is long, because the machine may be
// busy.
const patience = 2 * time.Minute

// atOnce is how many tests run at once, at least, unless -parallel says otherwise. They
// mostly wait for servers and clients, so they can be more than there are processors.
const atOnce = 8

// asServer is the environment variable with which the test program is Caddy: one that also has
// the event handler and the clock of these tests.
const asServer = "CADDY_ROBOTS_TEST_SERVER"

// binary is the server under test: the test program, by the name caddy.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		caddycmd.Main()
		return
	}
	_ = flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0))))
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" || flag.Lookup("test.benchtime").Value.String() == "1x" {
		// Hundreds of servers and commands start a third faster if they collect nothing at first.
		_ = os.Setenv("GOGC", "off")
		_ = os.Setenv("GOMEMLIMIT", "200MiB")
	}
	dir, err := os.MkdirTemp("", "caddy-robots-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "caddy")
	self, err := os.Executable()
	if err := errors.Join(err, os.Symlink(self, binary), os.Setenv(asServer, "1")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// root returns the root of the repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// server is a running Caddy.
type server struct {
	t     testing.TB
	dir   string // the home folder, with the configuration; $DIR in configurations
	host  string // the host of the sites; $HOST in configurations
	port  int    // the port of the sites; $PORT in configurations
	admin int    // the port of the admin endpoint
	log   logFile
	cmd   *exec.Cmd
}

// start runs Caddy with a configuration, in the root of the repository. It
// replaces $HOST, $PORT and $DIR.
func start(t testing.TB, caddyfile string) *server {
	t.Helper()
	return startAt(t, "localhost", freePort(t), caddyfile)
}

// startAt is start with a given host and port.
func startAt(t testing.TB, host string, port int, caddyfile string) *server {
	t.Helper()
	return (&server{t: t, dir: t.TempDir(), host: host, port: port, admin: freePort(t)}).run(caddyfile)
}

// run starts the process and waits until it is up.
func (s *server) run(caddyfile string) *server {
	t := s.t
	t.Helper()
	s.cmd = child.Command(binary, "run", "--adapter", "caddyfile", "--config", s.write(caddyfile))
	s.cmd.Dir, s.cmd.Env = root(t), s.env()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.log = logFile(file.Name())
	s.cmd.Stdout, s.cmd.Stderr = file, file
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-exited
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.log.tail(4000))
		}
	})
	s.eventually("the server is up", func() bool {
		select {
		case <-exited:
			t.Fatal("the server has ended")
		default:
		}
		resp, err := http.Get(fmt.Sprintf("http://localhost:%d/config/apps/http/servers", s.admin))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return s
}

// write writes a configuration to the home folder, with the server's admin port
// added, and returns its path.
func (s *server) write(caddyfile string) string {
	s.t.Helper()
	global := fmt.Sprintf("admin localhost:%d\n\tskip_install_trust\n\tlocal_certs\n\tgrace_period 5s", s.admin)
	if rest, ok := strings.CutPrefix(caddyfile, "{\n"); ok {
		caddyfile = "{\n\t" + global + "\n" + rest
	} else {
		caddyfile = "{\n\t" + global + "\n}\n" + caddyfile
	}
	caddyfile = strings.NewReplacer("$HOST", s.host, "$PORT", fmt.Sprint(s.port), "$DIR", s.dir).Replace(caddyfile)
	path := filepath.Join(s.dir, "Caddyfile")
	writeFile(s.t, path, caddyfile)
	return path
}

func (s *server) env() []string {
	return append(os.Environ(), "HOME="+s.dir, "XDG_DATA_HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir)
}

// reload loads another configuration into the running server.
func (s *server) reload(caddyfile string) error {
	s.t.Helper()
	cmd := exec.Command(binary, "reload", "--adapter", "caddyfile", "--config", s.write(caddyfile), "--force")
	cmd.Dir, cmd.Env = root(s.t), s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// eventually waits until ok returns true, and asks less often the longer it waits. what
// describes the condition.
func (s *server) eventually(what string, ok func() bool) {
	s.t.Helper()
	pause := 10 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if ok() {
			return
		}
		pause = min(pause*5/4, 200*time.Millisecond)
	}
	s.t.Fatalf("waited %v in vain until: %s", patience, what)
}

// response is the response that a client gets.
type response struct {
	status int
	header http.Header
	body   string
}

// client does not follow redirects.
var client = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
}

// get sends a GET for a path with a User-Agent.
func (s *server) get(ua, path string) response {
	s.t.Helper()
	return s.do(http.MethodGet, fmt.Sprintf("http://%s:%d%s", s.host, s.port, path), ua, "", nil)
}

// at sends a GET for a path with a Host field and a User-Agent.
func (s *server) at(host, ua, path string) response {
	s.t.Helper()
	return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, host, nil)
}

// do sends a request. It sends it again if the connection was closed or reset before
// the answer: a reload of Caddy may do that to connections that are being made.
func (s *server) do(method, url, ua, host string, header http.Header) response {
	s.t.Helper()
	resp, err := send(client, method, url, ua, host, header)
	for i := 0; i < 3 && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)); i++ {
		resp, err = send(client, method, url, ua, host, header)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

func send(c *http.Client, method, url, ua, host string, header http.Header) (response, error) {
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return response{}, err
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	req.Header.Set("User-Agent", ua)
	req.Host = host
	resp, err := c.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, string(body)}, err
}

// wants checks the status of a response.
func (s *server) wants(status int, resp response, what string) {
	s.t.Helper()
	if resp.status != status {
		s.t.Errorf("%s: status %d, want %d", what, resp.status, status)
	}
}

// raw sends octets over a new connection and reads one response.
func (s *server) raw(request string) response {
	s.t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.WriteString(conn, request) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatalf("%.60q: %v", request, err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, string(body)}
}

// rawGet sends a GET with exactly this target and these User-Agent fields.
func (s *server) rawGet(target string, agents ...string) response {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n", target, s.port)
	for _, ua := range agents {
		fmt.Fprintf(&b, "User-Agent: %s\r\n", ua)
	}
	return s.raw(b.String() + "\r\n")
}

// http2Client returns a client for HTTP/2 that sends all requests to the server's
// TLS port and accepts any certificate.
func http2Client(tlsPort int) *http.Client {
	dialer := new(net.Dialer)
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, fmt.Sprintf("localhost:%d", tlsPort))
		},
	}}
}

// metric returns the value of a metric, 0 if it does not exist. The name includes
// the labels.
func (s *server) metric(name string) float64 {
	s.t.Helper()
	resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/metrics", s.admin), "test", "", nil)
	for lines := bufio.NewScanner(strings.NewReader(resp.body)); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			var v float64
			if _, err := fmt.Sscan(rest, &v); err != nil {
				s.t.Fatal(err)
			}
			return v
		}
	}
	return 0
}

// lines returns the log lines with a message.
func (s *server) lines(message string) (found []map[string]any) {
	for line := range bytes.Lines(s.log.bytes()) {
		var fields map[string]any
		if json.Unmarshal(line, &fields) == nil && fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

// logFile is the path of a process's log. The lines that the process wrote before
// an answer are in the file when the answer arrives.
type logFile string

func (f logFile) bytes() []byte {
	all, _ := os.ReadFile(string(f))
	return all
}

func (f logFile) tail(n int) string {
	all := f.bytes()
	return string(all[max(0, len(all)-n):])
}

func freePort(t testing.TB) int {
	t.Helper()
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
