package e2e_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// taggedDocument is long enough for encode to compress it.
var taggedDocument = `<!doctype html><html><head><meta name="robots" content="noarchive"><title>x</title></head><body>` +
	strings.Repeat("text and more ", 100) + `</body></html>`

// Each kind of pattern is tested with files, and with a back end that sends its
// own X-Robots-Tag.
func TestXRobotsTagOverHTTP(t *testing.T) {
	t.Parallel()
	modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nNoindex: /files/dropped\nContent-Signal: ai-train=no\n")
		case "/missing.pdf":
			http.NotFound(w, r)
		default:
			w.Header().Add("X-Robots-Tag", "nofollow")
			http.ServeContent(w, r, r.URL.Path, modified, strings.NewReader(taggedDocument))
		}
	}))
	t.Cleanup(up.Close)
	const options = `
	robots {
		x_robots_tag *.pdf noindex
		x_robots_tag /drafts/ nosnippet
		x_robots_tag ~ ^report-\d+\.html$ googlebot: noindex
		x_robots_tag type image/* noimageindex
		x_robots_tag status 404 notranslate
		x_robots_tag only.html bingbot: only noindex
		noindex_lines on
		meta_robots on
		signals on
	}
`
	dir := t.TempDir()
	for _, name := range []string{"a.pdf", "drafts/x.txt", "report-12.html", "page.html", "only.html", "files/dropped.txt"} {
		writeFile(t, dir+"/"+name, taggedDocument)
	}
	writeFile(t, dir+"/picture.png", "\x89PNG\r\n\x1a\n")
	writeFile(t, dir+"/robots.txt", "User-agent: *\nNoindex: /files/dropped\nContent-Signal: ai-train=no\n")

	files := start(t, "http://:$PORT {\n\troot "+dir+options+"\tencode\n\tfile_server\n}\n")
	proxy := start(t, "http://:$PORT {"+options+"\treverse_proxy "+up.URL+"\n}\n")
	for _, s := range []*server{files, proxy} {
		s.get(googlebot, "/page.html") // a crawler waits for robots.txt, a person would not
	}
	for _, tt := range []struct {
		path, ua             string
		fromFiles, fromProxy string // X-Robots-Tag, lines joined by |
	}{
		{"/a.pdf", chrome, "noindex", "nofollow|noindex"},
		{"/drafts/x.txt", chrome, "nosnippet", "nofollow|nosnippet"},
		{"/report-12.html", chrome, "googlebot: noindex|noarchive", "nofollow|googlebot: noindex|noarchive"},
		{"/page.html", chrome, "noarchive", "nofollow|noarchive"},
		{"/picture.png", chrome, "noimageindex", "nofollow|noimageindex"},
		{"/only.html", chrome, "noarchive", "nofollow|noarchive"},
		{"/only.html", bingbot, "bingbot: noindex|noarchive", "nofollow|bingbot: noindex|noarchive"},
		{"/files/dropped.txt", chrome, "noindex", "nofollow|noindex"},
		{"/missing.pdf", chrome, "", "noindex, notranslate"},
	} {
		for s, want := range map[*server]string{files: tt.fromFiles, proxy: tt.fromProxy} {
			got := s.get(tt.ua, tt.path)
			have := strings.Split(strings.Join(got.header.Values("X-Robots-Tag"), "|"), "|")
			for _, w := range strings.Split(want, "|") {
				if w != "" && !strings.Contains("|"+strings.Join(have, "|")+"|", "|"+w+"|") {
					t.Errorf("%s for %.20s: status %d, X-Robots-Tag %q lacks %q", tt.path, tt.ua, got.status, have, w)
				}
			}
			if want != "" && len(have) != len(strings.Split(want, "|")) {
				t.Errorf("%s for %.20s: X-Robots-Tag %q, want %q", tt.path, tt.ua, have, want)
			}
			if got.header.Get("Content-Signal") != "ai-train=no" && got.status == 200 {
				t.Errorf("%s: Content-Signal %q", tt.path, got.header.Get("Content-Signal"))
			}
			if got.status == 200 && tt.path != "/picture.png" && got.body != taggedDocument {
				t.Errorf("%s: the body was changed to %q", tt.path, got.body)
			}
		}
	}

	url := fmt.Sprintf("http://localhost:%d", proxy.port)
	part := proxy.do(http.MethodGet, url+"/a.pdf", chrome, "", http.Header{"Range": {"bytes=0-8"}})
	if part.status != 206 || part.body != taggedDocument[:9] || part.header.Get("X-Robots-Tag") == "" {
		t.Errorf("a part: status %d, %q, %v", part.status, part.body, part.header)
	}
	head := proxy.do(http.MethodHead, url+"/a.pdf", chrome, "", nil)
	if head.status != 200 || len(head.header.Values("X-Robots-Tag")) != 2 {
		t.Errorf("HEAD: status %d, %v", head.status, head.header)
	}
	same := proxy.do(http.MethodGet, url+"/a.pdf", chrome, "", http.Header{"If-Modified-Since": {modified.Format(http.TimeFormat)}})
	if same.status != 304 || len(same.header.Values("X-Robots-Tag")) != 2 {
		t.Errorf("not modified: status %d, %v", same.status, same.header)
	}
	packed := files.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/page.html", files.port), chrome, "", http.Header{"Accept-Encoding": {"gzip"}})
	if packed.header.Get("X-Robots-Tag") != "noarchive" || packed.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("behind encode: %v", packed.header)
	}
	r, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(r); string(text) != taggedDocument {
		t.Errorf("behind encode the body is %q", text)
	}
}
