package caddymodule

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

func BenchmarkTags(b *testing.B) {
	for _, n := range []int{0, 1, 20, 500} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("*.ext%d noindex", i))
		}
		h := provisioned(b, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: inline}, XRobotsTag: tagged(b, lines...)}})
		for _, path := range []string{"/articles/some-article.html", "/articles/some-article.ext0"} {
			b.Run(fmt.Sprintf("rules=%d/%s", n, path[len(path)-4:]), func(b *testing.B) {
				benchmarkPage(b, h, path, page)
			})
		}
	}
}

// BenchmarkMetaRobots serves an HTML document of 100 KB.
func BenchmarkMetaRobots(b *testing.B) {
	page := []byte(`<!doctype html><html><head><title>x</title><meta name="robots" content="noindex"><meta name=googlebot content='nosnippet'></head><body>` + strings.Repeat("words and more words ", 5000))
	serveIt := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		w.Header()["Content-Type"] = []string{"text/html"}
		_, err := w.Write(page)
		return err
	})
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("meta_robots=%v", on), func(b *testing.B) {
			h := &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: inline}}}
			if on {
				h.Steps = caddy.ModuleMap{"meta_robots": []byte("{}")}
			}
			provisioned(b, h)
			b.SetBytes(int64(len(page)))
			benchmarkPage(b, h, "/x", serveIt)
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
