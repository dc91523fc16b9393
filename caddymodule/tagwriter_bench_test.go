package caddymodule

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func BenchmarkTags(b *testing.B) {
	for _, n := range []int{0, 1, 20, 500} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("*.ext%d noindex", i))
		}
		h := provisioned(b, &Handler{Settings: Settings{Source: &Source{Kind: sourceInline, Text: inline}, XRobotsTag: tagged(b, lines...)}})
		for _, path := range []string{"/articles/some-article.html", "/articles/some-article.ext0"} {
			b.Run(fmt.Sprintf("rules=%d/%s", n, path[len(path)-4:]), func(b *testing.B) {
				benchmarkPage(b, h, path, page)
			})
		}
	}
}

// BenchmarkMetaRobots serves an HTML document of 100 KB.
func BenchmarkMetaRobots(b *testing.B) {
	page := []byte(strings.Replace(document, "text", strings.Repeat("words and more words ", 5000), 1))
	serveIt := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		w.Header()["Content-Type"] = []string{"text/html"}
		_, err := w.Write(page)
		return err
	})
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("meta_robots=%v", on), func(b *testing.B) {
			h := provisioned(b, &Handler{Settings: Settings{Source: &Source{Kind: sourceInline, Text: inline}, MetaRobots: &on}})
			b.SetBytes(int64(len(page)))
			benchmarkPage(b, h, "/x", serveIt)
		})
	}
}

// BenchmarkMetaRobotsEncoded serves a compressed document of 37 KB in pieces.
func BenchmarkMetaRobotsEncoded(b *testing.B) {
	body := gzipped("<head><title>" + incompressible(8000) + "</title>")
	for _, size := range []int{1 << 20, 1 << 10, 16} {
		b.Run(fmt.Sprintf("pieces=%d", size), func(b *testing.B) {
			h := provisioned(b, &Handler{Settings: Settings{Source: &Source{Kind: sourceInline, Text: inline}, MetaRobots: new(true)}})
			b.SetBytes(int64(len(body)))
			benchmarkPage(b, h, "/x", caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
				w.Header()["Content-Type"], w.Header()["Content-Encoding"] = []string{"text/html"}, []string{"gzip"}
				for piece := range slices.Chunk(body, size) {
					if _, err := w.Write(piece); err != nil {
						return err
					}
				}
				return nil
			}))
		})
	}
}

func benchmarkPage(b *testing.B, h *Handler, path string, page caddyhttp.Handler) {
	r := request(chrome, path)
	w := discard{make(http.Header)}
	serve(b, h, request(chrome, path))
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		if err := h.ServeHTTP(w, r, page); err != nil {
			b.Fatal(err)
		}
	}
}
