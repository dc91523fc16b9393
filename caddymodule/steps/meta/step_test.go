package meta

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/klauspost/compress/zstd"
)

// serve serves one request of a person with meta_robots and a handler that calls answer.
func serve(t testing.TB, method string, answer func(w http.ResponseWriter)) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	f := &response.Fields{Reader: new(MetaRobots).NewReader}
	err := f.Serve(w, httptest.NewRequest(method, "/x", nil), "/x", &judge.Decision{},
		caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error { answer(w); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const page = "<!doctype html><html><head><title>x</title><meta name=\"robots\" content=\"noindex\"><meta name=googlebot content='nosnippet'></head><body>text</body></html>"

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

func zstded(s string) []byte {
	w, _ := zstd.NewWriter(nil)
	defer w.Close()
	return w.EncodeAll([]byte(s), nil)
}

func TestMetaRobotsAreSentAsHeader(t *testing.T) {
	const both = "noindex|googlebot: nosnippet"
	for _, tt := range []struct {
		name   string
		header http.Header
		body   []byte
		want   string
		method string
	}{
		{name: "html", header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: []byte(page), want: both},
		{name: "html that is detected in the body", header: http.Header{}, body: []byte(page), want: both},
		{name: "gzip", header: http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"gzip"}}, body: gzipped(page), want: both},
		{name: "x-gzip", header: http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"X-Gzip"}}, body: gzipped(page), want: both},
		{name: "zstd", header: http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"zstd"}}, body: zstded(page), want: both},
		{name: "gzip without a media type", header: http.Header{"Content-Encoding": {"gzip"}}, body: gzipped(page), want: both},
		{name: "gzip of plain text", header: http.Header{"Content-Encoding": {"gzip"}}, body: gzipped("plain words " + page), want: ""},
		{name: "XHTML", header: http.Header{"Content-Type": {"application/xhtml+xml"}}, body: []byte("<html><head><script src=\"x\"/><meta name=\"robots\" content=\"noindex\"/></head></html>"), want: "noindex"},
		{name: "an unsupported encoding", header: http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"br"}}, body: []byte(page), want: ""},
		{name: "broken gzip", header: http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"gzip"}}, body: []byte(page), want: ""},
		{name: "not html", header: http.Header{"Content-Type": {"text/plain"}}, body: []byte(page), want: ""},
		{name: "in the body", header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<body>" + page), want: ""},
		{name: "after the limit", header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<head><!--" + strings.Repeat("x", 64<<10) + "-->" + page), want: ""},
		{name: "before the limit, in a longer body", header: http.Header{"Content-Type": {"text/html"}}, body: []byte(page + strings.Repeat("more ", 50_000)), want: both},
		{name: "POST", method: http.MethodPost, header: http.Header{"Content-Type": {"text/html"}}, body: []byte(page), want: ""},
		{name: "empty", header: http.Header{"Content-Type": {"text/html"}}, want: ""},
	} {
		for _, piece := range []int{1 << 20, 1000, 7} {
			t.Run(fmt.Sprintf("%s in pieces of %d", tt.name, piece), func(t *testing.T) {
				w := serve(t, cmp.Or(tt.method, http.MethodGet), func(w http.ResponseWriter) {
					for k, v := range tt.header {
						w.Header()[k] = v
					}
					w.WriteHeader(200)
					for body := tt.body; len(body) > 0; body = body[min(len(body), piece):] {
						if n, err := w.Write(body[:min(len(body), piece)]); err != nil || n != min(len(body), piece) {
							t.Fatalf("Write = %d, %v", n, err)
						}
					}
				})
				if got := strings.Join(w.Header()["X-Robots-Tag"], "|"); got != tt.want {
					t.Errorf("X-Robots-Tag %q, want %q", got, tt.want)
				}
				if got := w.Header().Get("Content-Type"); got != tt.header.Get("Content-Type") && tt.header.Get("Content-Encoding") != "" {
					t.Errorf("an encoded body got the Content-Type %q", got)
				}
				if !bytes.Equal(w.Body.Bytes(), tt.body) {
					t.Errorf("the body was changed: %d octets, want %d", w.Body.Len(), len(tt.body))
				}
			})
		}
	}
}

func TestMetaRobotsThroughReadFrom(t *testing.T) {
	body := page + strings.Repeat("more ", 50_000)
	w := serve(t, http.MethodGet, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		if n, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(body)}); err != nil || n != int64(len(body)) {
			t.Errorf("Copy = %d, %v", n, err)
		}
	})
	if w.Header()["X-Robots-Tag"] == nil || w.Body.String() != body {
		t.Errorf("%v, %d octets", w.Header(), w.Body.Len())
	}
}

// BenchmarkMeta serves a document with a head of 16 KB.
func BenchmarkMeta(b *testing.B) {
	var head strings.Builder
	head.WriteString("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<title>A page</title>\n")
	for i := range 40 {
		fmt.Fprintf(&head, "<link rel=\"preload\" href=\"/assets/chunk-%d.js\" as=\"script\" crossorigin>\n<meta property=\"og:image\" content=\"https://example.com/image-%d.png\">\n", i, i)
	}
	head.WriteString("<script>" + strings.Repeat("window.x = window.x || {};\n", 400) + "</script>\n<meta name=\"robots\" content=\"noindex, nofollow\">\n</head><body>")
	benchmarkBody(b, []byte(head.String()), "", 1<<20, 4096, 16)
}

// BenchmarkMetaEncoded serves a compressed document of 37 KB.
func BenchmarkMetaEncoded(b *testing.B) {
	benchmarkBody(b, gzipped("<head><title>"+incompressible(8000)+"</title>"), "gzip", 1<<20, 1024, 16)
}

// benchmarkBody serves a body in pieces of several sizes.
func benchmarkBody(b *testing.B, body []byte, encoding string, sizes ...int) {
	f, r := &response.Fields{Reader: new(MetaRobots).NewReader}, httptest.NewRequest(http.MethodGet, "/x", nil)
	for _, size := range sizes {
		b.Run(fmt.Sprintf("pieces=%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			w := discard{http.Header{}}
			for b.Loop() {
				clear(w.header)
				err := f.Serve(w, r, "/x", &judge.Decision{}, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
					w.Header()["Content-Type"] = []string{"text/html"}
					if encoding != "" {
						w.Header()["Content-Encoding"] = []string{encoding}
					}
					for piece := range slices.Chunk(body, size) {
						if _, err := w.Write(piece); err != nil {
							return err
						}
					}
					return nil
				}))
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// incompressible returns text of n words that gzip can hardly compress.
func incompressible(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%x", i*i*2654435761)
	}
	return text.String()
}

// discard is a ResponseWriter that keeps only the header.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
