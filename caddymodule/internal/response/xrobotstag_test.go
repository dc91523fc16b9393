package response

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/headers"
)

// table compiles rules of x_robots_tag.
func table(t testing.TB, lines ...string) *headers.Table {
	t.Helper()
	var rules []headers.Setting
	for _, l := range lines {
		r, err := headers.ParseSetting(strings.Fields(l))
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	compiled, err := headers.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// serve serves one request of a person through f and a handler that calls
// answer.
func serve(t testing.TB, f *Fields, method, target string, answer func(w http.ResponseWriter)) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	err := f.Serve(w, httptest.NewRequest(method, target, nil), target, &judge.Decision{},
		caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error { answer(w); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

func TestXRobotsTagOfResponses(t *testing.T) {
	f := &Fields{Table: table(t, "*.pdf noindex", "type image/* noimageindex", "status 404 noarchive", "type text/plain nosnippet")}
	for _, tt := range []struct {
		name, path string
		answer     func(w http.ResponseWriter)
		want       string
	}{
		{"by name", "/a.pdf", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/pdf"); fmt.Fprint(w, "%PDF") }, "noindex"},
		{"not by name", "/a.html", func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") }, ""},
		{"by type", "/a", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "image/png"); w.WriteHeader(200) }, "noimageindex"},
		{"by the type detected in the body", "/a", func(w http.ResponseWriter) { w.WriteHeader(200); fmt.Fprint(w, "\x89PNG\x0d\x0a\x1a\x0a") }, "noimageindex"},
		{"also without WriteHeader", "/a", func(w http.ResponseWriter) { fmt.Fprint(w, "plain words") }, "nosnippet"},
		{"by status", "/a", func(w http.ResponseWriter) { http.Error(w, "none", 404) }, "noarchive, nosnippet"},
		{"with a header of the upstream", "/a.pdf", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("X-Robots-Tag", "nofollow")
			w.WriteHeader(200)
		}, "nofollow|noindex"},
		{"by name, on a 304", "/a.pdf", func(w http.ResponseWriter) { w.WriteHeader(304) }, "noindex"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(t, f, http.MethodGet, tt.path, tt.answer)
			if got := strings.Join(w.Header()["X-Robots-Tag"], "|"); got != tt.want {
				t.Errorf("X-Robots-Tag %q, want %q", got, tt.want)
			}
		})
	}
}

func TestInformationalResponsesPass(t *testing.T) {
	f := &Fields{Table: table(t, "* noindex")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = f.Serve(w, r, "/x", &judge.Decision{}, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
			_, err := io.WriteString(w, "hello")
			return err
		}))
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 || string(body) != "hello" || resp.Header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("status %d, %q, %v", resp.StatusCode, body, resp.Header)
	}
}

// endless is a HeadReader that wants all of the head of HTML documents, and finds nothing.
type endless struct{}

func (endless) Wants(media string) bool  { return media == "" || media == "text/html" }
func (endless) Read(string, []byte) bool { return false }
func (endless) Tags() []headers.Tag      { return nil }
func newEndless() HeadReader             { return endless{} }

// An encoded body that arrives in small pieces is not decoded again for each piece.
func TestDecodingIsLinearInTheBody(t *testing.T) {
	text := incompressible(8000)
	body := gzipped("<head><title>" + text + "</title></head>")
	read := 0
	decode := decoders["gzip"]
	decoders["gzip"] = func(b []byte) []byte { read += len(b); return decode(b) }
	defer func() { decoders["gzip"] = decode }()
	f := &Fields{Reader: newEndless}
	w := serve(t, f, http.MethodGet, "/x", func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		for piece := range slices.Chunk(body, 16) {
			_, _ = w.Write(piece)
		}
	})
	if len(body) < 20_000 || read < len(body) || read > 4*len(body) {
		t.Errorf("of %d octets, %d were decoded, want at most four times as many", len(body), read)
	}
	if !bytes.Equal(w.Body.Bytes(), body) || w.Header().Get("X-Robots-Tag") != "" && len(text) > maxHead {
		t.Errorf("%d octets, %v", w.Body.Len(), w.Header())
	}
}

// The headers of an error depend on the status of the error that a handler
// returned.
func TestXRobotsTagOfErrors(t *testing.T) {
	engine, err := enforce.NewEngine(judge.Settings{}, origins.Inline("User-agent: *\nNoindex: /drafts/\n"), nil, nil, origins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	var d judge.Decision
	engine.Decide(t.Context(), &judge.Request{Method: http.MethodGet, Target: "/", UserAgents: []string{"bingbot/2.0"}, Origin: judge.NewOrigin("http", "example.com", 80)}, &d)
	f := &Fields{Noindex: true, Reader: newEndless, Table: table(t, "status 404 noarchive", "status 5xx nosnippet", "*.pdf noindex", "type text/plain notranslate")}
	for _, tt := range []struct {
		path string
		err  error
		want string
	}{
		{"/x", caddyhttp.Error(404, errors.New("no such file")), "noarchive"},
		{"/x", fmt.Errorf("wrapped: %w", caddyhttp.Error(404, nil)), "noarchive"},
		{"/x", errors.New("no status of its own"), "nosnippet"},
		{"/x", caddyhttp.Error(403, nil), ""},
		{"/x.pdf", caddyhttp.Error(404, nil), "noindex, noarchive"},
		{"/drafts/x", caddyhttp.Error(403, nil), "noindex"},
	} {
		w := httptest.NewRecorder()
		err := f.Serve(w, httptest.NewRequest(http.MethodGet, tt.path, nil), tt.path, &d, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return tt.err }))
		if err != tt.err || w.Flushed || w.Body.Len() > 0 {
			t.Errorf("%s: the error %v became %v", tt.path, tt.err, err)
		}
		if got := strings.Join(w.Header()["X-Robots-Tag"], "|"); got != tt.want {
			t.Errorf("%s with %v: %q, want %q", tt.path, tt.err, got, tt.want)
		}
	}
	// An answer that began before the error is not changed.
	w := httptest.NewRecorder()
	_ = f.Serve(w, httptest.NewRequest(http.MethodGet, "/x", nil), "/x", &d, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		fmt.Fprint(w, "<head>")
		return caddyhttp.Error(502, nil)
	}))
	if w.Code != 200 || w.Body.String() != "<head>" || w.Header().Get("X-Robots-Tag") != "" {
		t.Errorf("status %d, %q, %v", w.Code, w.Body, w.Header())
	}
}

func TestFlushSendsTheHeldBody(t *testing.T) {
	f := &Fields{Reader: newEndless}
	serve(t, f, http.MethodGet, "/x", func(w http.ResponseWriter) {
		rec := w.(*writer).ResponseWriter.(*httptest.ResponseRecorder)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<head><title>wait")
		if rec.Body.Len() != 0 {
			t.Error("nothing was held back: this tests nothing")
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Fatal(err)
		}
		if rec.Body.String() != "<head><title>wait" || !rec.Flushed {
			t.Errorf("after a flush the client has %q", rec.Body.String())
		}
	})
}

// incompressible returns text of n words that gzip can hardly compress.
func incompressible(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%x", i*i*2654435761)
	}
	return text.String()
}
