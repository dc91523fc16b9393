package response

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// connection is a ResponseWriter with all methods of those of Caddy. It records
// the calls.
type connection struct {
	header http.Header
	calls  []string
}

func (c *connection) call(name string) { c.calls = append(c.calls, name) }

func (c *connection) Header() http.Header                  { return c.header }
func (c *connection) WriteHeader(int)                      { c.call("WriteHeader") }
func (c *connection) Write(p []byte) (int, error)          { c.call("Write"); return len(p), nil }
func (c *connection) Flush()                               { c.call("Flush") }
func (c *connection) Push(string, *http.PushOptions) error { c.call("Push"); return nil }
func (c *connection) ReadFrom(r io.Reader) (int64, error) {
	c.call("ReadFrom")
	return io.Copy(io.Discard, r)
}

func (c *connection) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c.call("Hijack")
	return nil, nil, nil
}

// answers records the calls of Answered.
type answers []int

func (a *answers) Answered(status int, _ http.Header) { *a = append(*a, status) }

// Each way to begin a response tells the observer once, and reaches the
// ResponseWriter of the server: also through the writer that adds fields.
func TestHead(t *testing.T) {
	for name, f := range map[string]*Fields{"alone": {}, "with fields": {Reader: newEndless}} {
		for _, tt := range []struct {
			name   string
			status int // that is told; 0 for none
			calls  string
			do     func(w http.ResponseWriter) error
		}{
			{"nothing", 0, "", func(http.ResponseWriter) error { return nil }},
			{"header", 404, "WriteHeader", func(w http.ResponseWriter) error { w.WriteHeader(404); return nil }},
			{"body", 200, "Write", func(w http.ResponseWriter) error { _, err := w.Write(nil); return err }},
			{"file", 200, "ReadFrom", func(w http.ResponseWriter) error {
				_, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("x"))
				return err
			}},
			{"flush", 200, "Flush", func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() }},
			{"hints", 0, "WriteHeader", func(w http.ResponseWriter) error { w.WriteHeader(103); return nil }},
			{"hints and header", 200, "WriteHeader,WriteHeader", func(w http.ResponseWriter) error {
				w.WriteHeader(103)
				w.WriteHeader(200)
				return nil
			}},
			{"upgrade", 101, "WriteHeader,Hijack", func(w http.ResponseWriter) error {
				w.WriteHeader(101)
				_, _, err := http.NewResponseController(w).Hijack()
				return err
			}},
			{"hijack", 101, "Hijack", func(w http.ResponseWriter) error {
				_, _, err := http.NewResponseController(w).Hijack()
				return err
			}},
			{"push", 0, "Push", func(w http.ResponseWriter) error { return w.(http.Pusher).Push("/x", nil) }},
		} {
			var head Head
			var told answers
			c := &connection{header: http.Header{"Content-Type": {"text/plain"}}}
			r, _ := http.NewRequest(http.MethodGet, "/x", nil)
			err := f.Serve(head.Watch(c, &told), r, "/x", new(judge.Decision), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error { return tt.do(w) }))
			calls := strings.Join(c.calls, ",")
			if f.Reader != nil && !strings.Contains(tt.calls, "WriteHeader") && !strings.Contains("Hijack,Push", tt.calls) {
				calls = strings.TrimPrefix(calls, "WriteHeader,") // the writer sends the header itself
			}
			if want := tt.status; err != nil || calls != tt.calls || len(told) != min(want, 1) || want > 0 && told[0] != want {
				t.Errorf("%s, %s: told %v, calls %s, %v; want %d, %s", name, tt.name, told, strings.Join(c.calls, ","), err, tt.status, tt.calls)
			}
			if head.Hijacked != strings.Contains(tt.calls, "Hijack") {
				t.Errorf("%s, %s: Hijacked is %v", name, tt.name, head.Hijacked)
			}
		}
	}
}

// brokenWriter is a connection that takes so many octets.
type brokenWriter struct {
	*httptest.ResponseRecorder
	room int
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// Only a client that got the whole answer has read it.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		status       int
		length, room int
		hangsUp      bool
		want         bool
	}{
		{"the whole file", 200, 20, 20, false, true},
		{"a client that hangs up", 200, 20, 20, true, false},
		{"no length", 200, 0, 20, false, true},
		{"a connection that breaks", 200, 0, 10, false, false},
		{"less than announced", 200, 30, 20, false, false},
		{"a part", 206, 20, 20, false, false},
		{"an error", 503, 20, 20, false, false},
	} {
		ctx, hangUp := context.WithCancel(t.Context())
		w := NewReadWriter(&brokenWriter{httptest.NewRecorder(), tt.room})
		if tt.length > 0 {
			w.Header().Set("Content-Length", strconv.Itoa(tt.length))
		}
		w.WriteHeader(tt.status)
		_, _ = w.Write(make([]byte, 20))
		if tt.hangsUp {
			hangUp()
		}
		if got := w.Read(httptest.NewRequestWithContext(ctx, http.MethodGet, "/robots.txt", nil)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		hangUp()
	}
}
