package response

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

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
	f, r := &Fields{Meta: true}, httptest.NewRequest(http.MethodGet, "/x", nil)
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

// discard is a ResponseWriter that keeps only the header.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
