package scenarios_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

// begin is when the first scenario begins: a Saturday noon.
var begin = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// passed is the time since begin.
var passed atomic.Int64

// logged is what Caddy logged.
var logged logBuffer

// asCaddy is the environment variable with which the test binary is a Caddy, so that
// commands run without another program.
const asCaddy = "CADDY_ROBOTS_TEST_CADDY"

func init() {
	if os.Getenv(asCaddy) != "" {
		return
	}
	clock.Now = func() time.Time { return begin.Add(time.Duration(passed.Load())) }
	caddy.RegisterModule(&logged)
	caddy.RegisterNetwork("scenario", func(context.Context, string, string, string, uint, net.ListenConfig) (any, error) {
		return &silence{closed: make(chan struct{})}, nil
	})
}

// inProcess is a Caddy in this process. Its servers are called without connections.
type inProcess struct{ dir string }

func (s inProcess) Load(caddyfile string) error {
	path := filepath.Join(s.dir, caddyfile)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(text, map[string]any{"filename": path})
	if err != nil {
		return err
	}
	config, err = scenario.Adapted(config, s.dir, map[string]any{"output": "scenario"},
		func(address string) string { return "scenario/" + strings.TrimPrefix(address, "tcp/") })
	if err != nil {
		return err
	}
	return caddy.Load(config, true)
}

func (inProcess) Stop() error { return caddy.Stop() }

// server returns the server that listens at a port.
func server(port string) (*caddyhttp.Server, error) {
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		return nil, err
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		for _, address := range server.Listen {
			if scenario.Port(address) == port {
				return server, nil
			}
		}
	}
	return nil, fmt.Errorf("no server listens at port %s", port)
}

// request returns a request as net/http gives it to a server, and the server.
func request(q *scenario.Request) (*http.Request, *caddyhttp.Server, error) {
	server, err := server(q.Port)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(q.Octets())))
	if err != nil {
		return nil, nil, err
	}
	number, _ := strconv.Atoi(q.Port)
	r.RemoteAddr = net.JoinHostPort(q.Client, "40000")
	if q.Scheme == "https" {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: r.Host}
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: number})), server, nil
}

func (inProcess) Do(q *scenario.Request) (*scenario.Answer, error) {
	r, server, err := request(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // as net/http does when the handler returns
	w := httptest.NewRecorder()
	if serve(server, w, r.WithContext(ctx)) {
		return new(scenario.Answer), nil
	}
	return answer(w), nil
}

// serve calls a server. It reports whether the connection was closed without an answer.
func serve(server http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			aborted = true
		} else if p != nil {
			panic(p)
		}
	}()
	server.ServeHTTP(w, r)
	return false
}

func answer(w *httptest.ResponseRecorder) *scenario.Answer {
	result := w.Result()
	return &scenario.Answer{Status: result.StatusCode, Header: result.Header, Body: w.Body.String()}
}

func (inProcess) Open(q *scenario.Request) (*scenario.Answer, func(), error) {
	r, server, err := request(q)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	w := &openWriter{ResponseRecorder: httptest.NewRecorder(), begun: make(chan struct{}), released: make(chan struct{})}
	id := strconv.FormatInt(opened.Add(1), 10)
	r.Header.Set(openField, id)
	holding.Store(id, w)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer holding.Delete(id)
		serve(server, w, r.WithContext(ctx))
		w.begin()
	}()
	<-w.begun
	return &scenario.Answer{Status: w.Code, Header: w.Header().Clone()}, func() { close(w.released); <-ended; cancel() }, nil
}

// openField is the field with which the back end held knows the requests of Open.
const openField = "X-Open"

var (
	opened  atomic.Int64
	holding sync.Map // the *openWriter of each request of Open, by its number
)

// held is the address of a back end. Its answer to a request of Open waits until that is
// released, and the request counts as begun. All others get a page
// at once, and there is no robots.txt.
var held = func() string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if open, found := holding.Load(r.Header.Get(openField)); found {
			open.(*openWriter).begin()
			<-open.(*openWriter).released
		}
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "page")
	}))
	return s.Listener.Addr().String()
}()

// openWriter blocks at the body until it is released.
type openWriter struct {
	*httptest.ResponseRecorder
	once            sync.Once
	begun, released chan struct{}
}

func (w *openWriter) begin() { w.once.Do(func() { close(w.begun) }) }

func (w *openWriter) Write(b []byte) (int, error) {
	w.begin()
	<-w.released
	return w.ResponseRecorder.Write(b)
}

// url is where commands reach the server of port 80 as the host site.test.
var url = func() string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server, err := server("80")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if strings.HasPrefix(r.Host, "127.") {
			r.Host = "site.test"
		}
		local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
		server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local)))
	}))
	return s.URL
}()

func (s inProcess) Admin(method, target, body, header string) (*scenario.Answer, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", scenario.Socket(s.dir))
		}}}
	r, err := http.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if name, value, found := strings.Cut(header, ": "); found {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	for i := 0; err != nil && body == "" && i < 3; i++ { // the endpoint before a restart has just closed
		resp, err = client.Do(r)
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return &scenario.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(all)}, err
}

func (inProcess) Pass(d time.Duration) bool {
	passed.Add(int64(d))
	return true
}

func (inProcess) Log() []byte { return logged.take(false) }

// logBuffer is an output of logs.
type logBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (*logBuffer) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.writers.scenario", New: func() caddy.Module { return &logged }}
}

func (*logBuffer) WriterKey() string { return "scenario" }
func (*logBuffer) String() string    { return "scenario" }
func (*logBuffer) Close() error      { return nil }

func (b *logBuffer) OpenWriter() (io.WriteCloser, error) { return b, nil }

func (b *logBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, text...)
	return len(text), nil
}

// take returns a copy of the text, and clears it if wanted.
func (b *logBuffer) take(clear bool) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := bytes.Clone(b.text)
	if clear {
		b.text = nil
	}
	return text
}

// silence is a listener to which nobody connects.
type silence struct {
	once   sync.Once
	closed chan struct{}
}

func (l *silence) Accept() (net.Conn, error) {
	<-l.closed
	return nil, errors.Join(net.ErrClosed)
}

func (l *silence) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*silence) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
