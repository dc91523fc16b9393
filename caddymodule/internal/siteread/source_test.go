package siteread

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

func TestSourceNeedsAServer(t *testing.T) {
	if _, err := new(Source).Fetch(context.Background(), judge.NewOrigin("https", "example.com", 443)); !errors.Is(err, errNoServer) {
		t.Errorf("Fetch = %v, want %v", err, errNoServer)
	}
}

// capturing serves one request with a handler and returns the captured response.
func capturing(h http.HandlerFunc) (c *capture, failure error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c = &capture{header: make(http.Header), full: cancel}
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/robots.txt", nil)
	c.run(caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { h(w, r); return nil }), r)
	return c, c.failure(ctx)
}

// compressed answers with a body that is compressed with gzip.
func compressed(coding string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", coding)
		zw := gzip.NewWriter(w)
		_, _ = zw.Write(body)
		_ = zw.Close()
	}
}

func TestCapture(t *testing.T) {
	const line = "Disallow: /x\n"
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		status  int
		length  int
		fails   bool
	}{
		{"a file", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, line) }, 200, len(line), false},
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, 0, false},
		{"the first status counts", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503); w.WriteHeader(200) }, 503, 0, false},
		{"the status of an early hint does not count", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(200)
		}, 200, 0, false},
		{"flushing between parts", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, line)
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, line)
		}, 200, 2 * len(line), false},
		{"a body without end", func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := io.WriteString(w, strings.Repeat(line, 1000)); err != nil {
					return
				}
			}
		}, 200, robots.MaxSize + 1, false},
		{"a body without end, from a handler that ignores write errors", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat(line, 1000))
			}
		}, 200, robots.MaxSize + 1, false},
		{"an abort because the body is full", func(w http.ResponseWriter, r *http.Request) {
			if _, err := w.Write(make([]byte, 2*robots.MaxSize)); err != nil {
				panic(http.ErrAbortHandler)
			}
		}, 200, robots.MaxSize + 1, false},
		{"an encoding that the request did not accept", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "zstd")
			_, _ = io.WriteString(w, line)
		}, 200, len(line), true},
		{"gzip for everybody", compressed("gzip", []byte(line)), 200, len(line), false},
		{"x-gzip is gzip", compressed("x-gzip", []byte(line)), 200, len(line), false},
		{"a small body of a long file", compressed("gzip", make([]byte, 2*robots.MaxSize)), 200, robots.MaxSize + 1, false},
		{"no gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, line)
		}, 200, 3, true},
		{"identity does not count as an encoding", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "Identity")
			_, _ = io.WriteString(w, line)
		}, 200, len(line), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := capturing(tt.handler)
			if c.status != tt.status || c.body.Len() != tt.length || (err != nil) != tt.fails {
				t.Errorf("status %d, %d octets, %v; want %d, %d, failure %v", c.status, c.body.Len(), err, tt.status, tt.length, tt.fails)
			}
		})
	}
}

// A handler that aborts has sent only a part of the file.
func TestAbortedResponseIsAnError(t *testing.T) {
	_, err := capturing(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\n")
		panic(http.ErrAbortHandler)
	})
	if err == nil {
		t.Error("a part of a file counts as the whole file")
	}
}

func TestTargetsOfRedirects(t *testing.T) {
	from := &url.URL{Scheme: "https", Host: "example.com", Path: "/robots.txt"}
	for _, tt := range []struct {
		status         int
		location, want string
	}{
		{301, "/other.txt", "https://example.com/other.txt"},
		{302, "other.txt?v=2", "https://example.com/other.txt?v=2"},
		{303, "//www.example.com/robots.txt", "https://www.example.com/robots.txt"},
		{307, "http://example.com/robots.txt", "http://example.com/robots.txt"},
		{308, "https://www.example.com", "https://www.example.com/"},
		{301, "", "https://example.com/robots.txt"}, // to itself: the number of redirects is bounded
		{301, "http://%zz", ""},
		{301, "mailto:someone@example.com", ""},
		{300, "/other.txt", ""},
		{304, "/other.txt", ""},
		{200, "/other.txt", ""},
	} {
		c := &capture{header: http.Header{"Location": {tt.location}}, status: tt.status}
		got := ""
		if to, _ := c.redirect(from); to != nil {
			got = to.String()
		}
		if got != tt.want {
			t.Errorf("%d to %q leads to %q, want %q", tt.status, tt.location, got, tt.want)
		}
	}
}
