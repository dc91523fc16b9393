package e2e_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The handler answers GET and HEAD of /robots.txt. The site answers other methods.
func TestPublish(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, path, disallow("/"))
	s := start(t, "http://:$PORT {\n\tlog\n\trobots {\n\t\tsource file "+path+"\n\t\tpublish\n\t}\n\trespond \"the site's {method}\"\n}\n")
	ask := func(method, ua string, header http.Header) response {
		t.Helper()
		return s.do(method, fmt.Sprintf("http://localhost:%d/robots.txt", s.port), ua, "", header)
	}
	s.wants(403, s.get(gptbot, "/"), "a crawler")
	first := ask(http.MethodGet, gptbot, nil)
	tag := first.header.Get("ETag")
	if first.status != 200 || first.body != disallow("/") || tag == "" {
		t.Errorf("GET: status %d, %q, ETag %q", first.status, first.body, tag)
	}
	if got := ask(http.MethodHead, gptbot, nil); got.status != 200 || got.body != "" || got.header.Get("Content-Length") != fmt.Sprint(len(disallow("/"))) || got.header.Get("ETag") != tag {
		t.Errorf("HEAD: status %d, %q, %v", got.status, got.body, got.header)
	}
	if got := ask(http.MethodGet, gptbot, http.Header{"If-None-Match": {tag}}); got.status != 304 || got.body != "" {
		t.Errorf("with the ETag: status %d, %q", got.status, got.body)
	}
	if got := ask(http.MethodGet, gptbot, http.Header{"If-None-Match": {`"another"`}}); got.status != 200 || got.body != first.body {
		t.Errorf("with another ETag: status %d, %q", got.status, got.body)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		for _, ua := range []string{chrome, gptbot} {
			if got := ask(method, ua, nil); got.status != 200 || got.body != "the site's "+method {
				t.Errorf("%s: status %d, %q, want the site's answer", method, got.status, got.body)
			}
		}
	}
	writeFile(t, path+".new", disallow("/new/"))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.eventually("the new file is published", func() bool { return ask(http.MethodGet, chrome, nil).body == disallow("/new/") })
	if got := ask(http.MethodGet, gptbot, http.Header{"If-None-Match": {tag}}); got.status != 200 || got.header.Get("ETag") == tag {
		t.Errorf("a new file with the old one's ETag: status %d, %v", got.status, got.header)
	}
}

// Requests for /robots.txt are never denied. They are logged like other requests of
// a crawler.
func TestReadingRobotsTxtIsRecorded(t *testing.T) {
	t.Parallel()
	const text = "\"User-agent: *\nDisallow: /\nCrawl-delay: 600\""
	for name, site := range map[string]string{
		"the site's":    "robots\n\trespond /robots.txt " + text + "\n\trespond page",
		"published":     "robots {\n\t\tsource inline " + text + "\n\t\tpublish\n\t}\n\trespond page",
		"under monitor": "robots {\n\t\tmode monitor\n\t\tsource inline " + text + "\n\t\tpublish\n\t}\n\trespond page",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://:$PORT {\n\tlog\n\t"+site+"\n}\n")
			for i := range 3 {
				s.wants(200, s.get(gptbot, fmt.Sprintf("/robots.txt?%d", i)), "robots.txt")
			}
			s.wants(200, s.get(gptbot, "/robots.txt"), "robots.txt")
			got := s.decision("/robots.txt")
			if got["crawler"] != "GPTBot" || got["class"] != "crawler" || got["purpose"] != "ai-training" || got["action"] != "pass" {
				t.Errorf("the access log has %v", got)
			}
			if n := s.metric(`caddy_robots_decisions_total{action="deny",crawler="GPTBot",reason="disallowed"}`); n != 0 {
				t.Errorf("%v denials are counted", n)
			}
			s.wants(200, s.get(chrome, "/robots.txt?person"), "robots.txt for a person")
		})
	}
}

// Exempt paths are never denied or throttled, and use no budget.
func TestExemptPathsAreNeverRefused(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	log
	robots {
		source inline "User-agent: *
Disallow: /.well-known/
Disallow: /feed.xml
Disallow: /private/
Crawl-delay: 600

User-agent: GPTBot
Visit-time: 0000-0000
Disallow: /"
		exempt_paths /.well-known/* /feed.xml
	}
	respond page
}`)
	for range 3 {
		for _, path := range []string{"/.well-known/acme", "/feed.xml", "/feed.xml?x=1"} {
			s.wants(200, s.get(bingbot, path), path)
			s.wants(200, s.get(gptbot, path), path+" for a crawler that may fetch nothing")
		}
	}
	s.wants(200, s.get(bingbot, "/"), "the first request that counts")
	s.wants(429, s.get(bingbot, "/"), "the second one")
	s.wants(200, s.get(bingbot, "/.well-known/acme"), "an exempt path then")
	s.wants(403, s.get(bingbot, "/.well-known/../private/x"), "a path that begins like an exempt one and leads elsewhere")
	if got := s.decision("/feed.xml"); got["crawler"] != "bingbot" || got["action"] != "pass" {
		t.Errorf("an exempt path is logged with %v", got)
	}
}

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

// An empty text is a robots.txt without rules.
func TestEmptyInlineSource(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`source inline ""`, "source inline <<TXT\n\n\t\tTXT"} {
		s := start(t, "http://:$PORT {\n\trobots {\n\t\t"+source+"\n\t\tpublish\n\t}\n\trespond page\n}\n")
		s.wants(200, s.get(gptbot, "/"), "a crawler")
		if got := s.get(gptbot, "/robots.txt"); got.status != 200 || got.body != "" {
			t.Errorf("%s: robots.txt: %d, %q", source, got.status, got.body)
		}
		if out := s.exitsWith(2); !strings.Contains(out, "is empty: crawlers may fetch everything") {
			t.Errorf("%s:\n%s", source, out)
		}
	}
}
