package caddymodule

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/robots"
)

func TestWithoutAServerTheSiteCanNotBeAsked(t *testing.T) {
	if _, err := (siteSource{}).Fetch(context.Background(), enforce.NewOrigin(true, "example.com")); !errors.Is(err, errNoServer) {
		t.Errorf("Fetch = %v, want %v", err, errNoServer)
	}
}

// What a client sends can't make a request pass for one of our own.
func TestOnlyOwnFetchesPass(t *testing.T) {
	r := request(gptbot, "/")
	r.RemoteAddr = ownAddr
	r.Header.Set("User-Agent", enforce.FetcherUserAgent)
	if isOwnFetch(r) {
		t.Error("a request passes by its address")
	}
	r = r.WithContext(context.WithValue(r.Context(), ownFetch{}, true))
	if !isOwnFetch(r) {
		t.Error("a request of our own does not pass")
	}
	// The site's own fetch may start others, which are not ours.
	r.RemoteAddr = "192.0.2.1:1234"
	if isOwnFetch(r) {
		t.Error("a request passes by its context")
	}
}

// capturing serves one request with a handler and returns what was captured.
func capturing(h http.HandlerFunc) (c *capture, canceled bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c = &capture{header: make(http.Header), full: cancel}
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/robots.txt", nil)
	c.run(h, r)
	c.err = ctx.Err()
	return c, c.err != nil
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
		{"an early hint is none", func(w http.ResponseWriter, _ *http.Request) {
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
		{"a body without end, from one who does not look at errors", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat(line, 1000))
			}
		}, 200, robots.MaxSize + 1, false},
		{"an abort because there is enough", func(w http.ResponseWriter, r *http.Request) {
			if _, err := w.Write(make([]byte, 2*robots.MaxSize)); err != nil {
				panic(http.ErrAbortHandler)
			}
		}, 200, robots.MaxSize + 1, false},
		{"an encoding that was not asked for", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "zstd")
			_, _ = io.WriteString(w, line)
		}, 200, len(line), true},
		{"identity is no encoding", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "Identity")
			_, _ = io.WriteString(w, line)
		}, 200, len(line), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := capturing(tt.handler)
			if c.status != tt.status || c.body.Len() != tt.length || (c.failure() != nil) != tt.fails {
				t.Errorf("status %d, %d octets, %v; want %d, %d, failure %v", c.status, c.body.Len(), c.failure(), tt.status, tt.length, tt.fails)
			}
		})
	}
}

// An abort halfway is a failure: half a file would be taken for the whole.
func TestAnAbortHalfwayIsNotHidden(t *testing.T) {
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want %v", p, http.ErrAbortHandler)
		}
	}()
	capturing(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\n")
		panic(http.ErrAbortHandler)
	})
}

func TestRedirectsOfTheSite(t *testing.T) {
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
		if to := c.redirect(from); to != nil {
			got = to.String()
		}
		if got != tt.want {
			t.Errorf("%d to %q leads to %q, want %q", tt.status, tt.location, got, tt.want)
		}
	}
}
