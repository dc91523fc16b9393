package e2e_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The headers of an error depend on the status of the error that a handler
// returned, even if an error route answers with another status.
func TestXRobotsTagOfErrorsOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir+"/page.html", "a page")
	writeFile(t, dir+"/sorry.html", "not here")
	const rules = `
	root DIR
	robots {
		source inline "User-agent: *"
		x_robots_tag status 404 noindex
		x_robots_tag status 5xx noarchive
		x_robots_tag *.pdf nosnippet
	}
	error /broken 503
	error /teapot 418
	file_server
`
	for _, tt := range []struct {
		name, routes   string
		missing, after int // the statuses of a missing file and of /broken
	}{
		{"no error route", "", 404, 503},
		{"a text", "handle_errors {\nrespond \"sorry\"\n}", 404, 503},
		{"another status", "handle_errors {\nrespond \"sorry\" 200\n}", 200, 200},
		{"a page", "handle_errors {\nrewrite * /sorry.html\nfile_server\n}", 404, 503},
	} {
		s := start(t, "http://:$PORT {"+strings.ReplaceAll(rules, "DIR", dir)+tt.routes+"\n}\n")
		for _, want := range []struct {
			path   string
			status int
			tag    string
		}{
			{"/page.html", 200, ""},
			{"/nothing.html", tt.missing, "noindex"},
			{"/nothing.pdf", tt.missing, "noindex, nosnippet"},
			{"/broken", tt.after, "noarchive"},
		} {
			got := s.get(chrome, want.path)
			if tag := strings.Join(got.header.Values("X-Robots-Tag"), "|"); got.status != want.status || tag != want.tag {
				t.Errorf("%s: %s: status %d and %q, want %d and %q", tt.name, want.path, got.status, tag, want.status, want.tag)
			}
		}
	}
}

// Vary names all request fields that an answer depends on.
func TestVaryOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"only.html", "drafts.html", "page.html"} {
		writeFile(t, dir+"/"+name, taggedDocument)
	}
	s := start(t, `http://:$PORT {
	root `+dir+`
	robots {
		source inline "User-agent: *
Noindex: /drafts
Disallow: /private/

User-agent: bingbot
User-agent: AhrefsBot
Disallow: /private/"
		x_robots_tag only.html bingbot: only noindex
		noindex_lines on
	}
	encode
	file_server
}
`)
	for _, tt := range []struct{ path, vary string }{
		{"/only.html", "Accept-Encoding,User-Agent"},
		{"/drafts.html", "Accept-Encoding,User-Agent"},
		{"/page.html", "Accept-Encoding"},
	} {
		for _, ua := range []string{chrome, bingbot, "AhrefsBot/7.0"} {
			got := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, tt.path), ua, "", http.Header{"Accept-Encoding": {"gzip"}})
			vary := got.header.Values("Vary")
			slices.Sort(vary)
			if strings.Join(vary, ",") != tt.vary {
				t.Errorf("%s for %.20s: Vary %q, want %q", tt.path, ua, vary, tt.vary)
			}
		}
	}
}

// The head of an encoded document without a media type is read, and the document
// is sent unchanged.
func TestEncodedDocumentsKeepTheirType(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `<!doctype html><head><noscript><img src=x></noscript><meta name="robots" content="noarchive">`+strings.Repeat("<!-- x -->", 1000))
	_ = z.Close()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		w.Header().Set("Content-Encoding", "gzip")
		for piece := range slices.Chunk(packed.Bytes(), 16) {
			_, _ = w.Write(piece)
		}
	}))
	t.Cleanup(up.Close)
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t\tmeta_robots on\n\t}\n\treverse_proxy "+up.URL+"\n}\n")
	got := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), chrome, "", http.Header{"Accept-Encoding": {"gzip"}})
	if got.header.Get("X-Robots-Tag") != "noarchive" || got.header.Get("Content-Type") != "" || got.body != packed.String() {
		t.Errorf("status %d, %v, %d octets", got.status, got.header, len(got.body))
	}
}
