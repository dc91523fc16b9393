package e2e_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// encode stands after robots, and still compresses the file that robots publishes.
func TestPublishedFileIsEncoded(t *testing.T) {
	t.Parallel()
	file := disallow("/") + strings.Repeat("# a long comment\n", 100)
	const publish = "robots {\n\t\tsource file $DIR/robots.txt\n\t\tpublish\n\t}\n\t"
	for name, tt := range map[string]struct{ site, want string }{
		"in a site":            {publish + "encode gzip\n\trespond page", "gzip"},
		"with a matcher":       {publish + "@texts path *.txt\n\tencode @texts gzip\n\trespond page", "gzip"},
		"not for the file":     {publish + "@pages path *.html\n\tencode @pages gzip\n\trespond page", ""},
		"before robots":        {"route {\n\t\tencode gzip\n\t\t" + publish + "\n\t\trespond page\n\t}", "gzip"},
		"in a handle":          {publish + "handle /robots.txt {\n\t\tencode gzip\n\t}\n\thandle {\n\t\trespond page\n\t}", "gzip"},
		"in another handle":    {publish + "handle /robots.txt {\n\t\trespond page\n\t}\n\thandle {\n\t\tencode gzip\n\t\trespond page\n\t}", ""},
		"in a named route":     {publish + "invoke packed\n\trespond page", "gzip"},
		"of a file of the app": {publish + "redir /robots.txt /elsewhere\n\tencode gzip\n\trespond page", "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startWith(t, "&(packed) {\n\tencode gzip\n}\nhttp://other.test:$PORT {\n\tencode zstd\n}\nhttp://:$PORT {\n\t"+tt.site+"\n}\n",
				func(dir string) { writeFile(t, filepath.Join(dir, "robots.txt"), file) })
			ask := func(method string, header http.Header) response {
				return s.do(method, fmt.Sprintf("http://localhost:%d/robots.txt", s.port), gptbot, "", header)
			}
			plain := ask(http.MethodGet, http.Header{"Accept-Encoding": {"identity"}})
			packed := ask(http.MethodGet, http.Header{"Accept-Encoding": {"gzip, zstd"}})
			if plain.status != 200 || plain.body != file || plain.header.Get("Content-Encoding") != "" {
				t.Fatalf("plain: %d, %q, %v", plain.status, plain.body, plain.header)
			}
			if got := packed.header.Get("Content-Encoding"); packed.status != 200 || got != tt.want {
				t.Fatalf("status %d, Content-Encoding %q, want %q", packed.status, got, tt.want)
			}
			if tt.want == "" {
				return
			}
			zr, err := gzip.NewReader(strings.NewReader(packed.body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(zr); err != nil || string(body) != file {
				t.Errorf("%v, %q", err, body)
			}
			tag := packed.header.Get("ETag")
			if tag == plain.header.Get("ETag") || !strings.Contains(packed.header.Get("Vary"), "Accept-Encoding") || !strings.Contains(plain.header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("header: %v, plain: %v", packed.header, plain.header)
			}
			s.wants(304, ask(http.MethodGet, http.Header{"Accept-Encoding": {"gzip"}, "If-None-Match": {tag}}), "the tag of the packed file")
			part := ask(http.MethodGet, http.Header{"Accept-Encoding": {"gzip"}, "Range": {"bytes=0-12"}})
			if part.status != 206 || part.body != file[:13] || part.header.Get("Content-Encoding") != "" {
				t.Errorf("a range: %d, %q, %v", part.status, part.body, part.header)
			}
			head := ask(http.MethodHead, http.Header{"Accept-Encoding": {"gzip"}})
			if head.status != 200 || head.body != "" || head.header.Get("ETag") != tag {
				t.Errorf("HEAD: %d, %q, %v", head.status, head.body, head.header)
			}
		})
	}
}
