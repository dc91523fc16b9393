package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// exampleConfig returns Caddyfile.example with the test's port.
func exampleConfig(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "Caddyfile.example"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "localhost:8080", "localhost:$PORT")
}

func TestExampleSite(t *testing.T) {
	t.Parallel()
	s := start(t, exampleConfig(t))
	base := fmt.Sprintf("http://localhost:%d", s.port)

	s.wants(403, s.get(gptbot, "/"), "a crawler that may fetch nothing")
	s.wants(200, s.get(chrome, "/"), "a browser on the same page")
	s.wants(200, s.get(chrome, "/private/plan.html"), "a browser on a private page")
	s.wants(403, s.get("CCBot/2.0 (https://commoncrawl.org/faq/)", "/articles/one.html"), "the second token of a group")
	s.wants(403, s.get(googlebot, "/private/plan.html"), "a crawler of the group *")
	s.wants(200, s.get(googlebot, "/private/press/kit.html"), "an Allow exception")
	s.wants(403, s.get(googlebot, "/articles/one.html?print=1"), "a wildcard on the query")
	for _, ua := range []string{gptbot, chrome, bingbot, "curl/8.5.0", ""} {
		s.wants(200, s.get(ua, "/robots.txt"), "robots.txt for "+ua)
	}
	denied := s.get(gptbot, "/")
	if !strings.Contains(denied.body, "robots.txt") || !strings.HasPrefix(denied.header.Get("Content-Type"), "text/plain") ||
		denied.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the denial: %q, %v", denied.body, denied.header)
	}

	s.wants(200, s.get(bingbot, "/"), "the first request in a Crawl-delay")
	second := s.get(bingbot, "/")
	s.wants(429, second, "the second")
	if after, err := strconv.Atoi(second.header.Get("Retry-After")); err != nil || after < 1 || after > 10 {
		t.Errorf("Retry-After: %q", second.header.Get("Retry-After"))
	}
	s.wants(403, s.get(bingbot, "/private/plan.html"), "a disallowed path comes before the Crawl-delay")

	for i, want := range []int{200, 200, 429} {
		s.wants(want, s.get("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "/"), fmt.Sprintf("request %d of 2/1m", i+1))
	}

	early, late := "Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"
	before := time.Now().UTC().Hour()
	a, b := s.get(early, "/"), s.get(late, "/")
	if time.Now().UTC().Hour()/12 == before/12 { // otherwise the window has just changed
		if before >= 12 {
			a, b = b, a
		}
		s.wants(200, a, "within Visit-time")
		s.wants(429, b, "outside Visit-time")
		if after, err := strconv.Atoi(b.header.Get("Retry-After")); err != nil || after < 1 || after > 12*3600 {
			t.Errorf("Retry-After: %q", b.header.Get("Retry-After"))
		}
	}

	pdf := s.get(chrome, "/files/report.pdf")
	if got := pdf.header.Get("X-Robots-Tag"); pdf.status != 200 || got != "noindex, nofollow" {
		t.Errorf("the PDF: status %d, X-Robots-Tag %q", pdf.status, got)
	}
	if got := s.get(chrome, "/").header.Get("X-Robots-Tag"); got != "" {
		t.Errorf("a page has X-Robots-Tag %q", got)
	}
	part := s.do(http.MethodGet, base+"/files/report.pdf", chrome, "", http.Header{"Range": {"bytes=0-4"}})
	if part.status != 206 || part.body != "%PDF-" || part.header.Get("X-Robots-Tag") == "" {
		t.Errorf("a part of the PDF: status %d, %q, %v", part.status, part.body, part.header)
	}
	if head := s.do(http.MethodHead, base+"/", gptbot, "", nil); head.status != 403 || head.body != "" {
		t.Errorf("HEAD: status %d, body %q", head.status, head.body)
	}
	s.wants(403, s.do(http.MethodPost, base+"/", gptbot, "", nil), "POST")
}

func TestHTTP2(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	s := start(t, fmt.Sprintf(`
https://localhost:%d {
	root testdata/site
	robots {
		x_robots_tag *.pdf noindex
	}
	file_server
}`, port))
	h2 := http2Client(port)
	s.eventually("there is a certificate", func() bool {
		resp, err := h2.Get(fmt.Sprintf("https://localhost:%d/", port))
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	for _, tt := range []struct {
		ua, path string
		want     int
	}{
		{gptbot, "/", 403},
		{chrome, "/", 200},
		{chrome, "/files/report.pdf", 200},
		{googlebot, "/%70rivate/plan.html", 403},
		{bingbot, "/", 200},
		{bingbot, "/", 429},
	} {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("https://localhost:%d%s", port, tt.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", tt.ua)
		resp, err := h2.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.ProtoMajor != 2 || resp.StatusCode != tt.want {
			t.Errorf("%s for %.40s: HTTP/%d, status %d; want HTTP/2, %d", tt.path, tt.ua, resp.ProtoMajor, resp.StatusCode, tt.want)
		}
	}
	h2.CloseIdleConnections()
}

func TestMalformedUserAgents(t *testing.T) {
	t.Parallel()
	s := start(t, "{\n\tservers {\n\t\tmax_header_size 1MB\n\t}\n}\n"+exampleConfig(t))
	for name, agents := range map[string][]string{
		"none":           nil,
		"empty":          {""},
		"blanks":         {"   "},
		"64 KB":          {strings.Repeat("Mozilla/5.0 (x; ", 4096)},
		"64 KB of bots":  {chrome + strings.Repeat(" xx", 20000) + "bot"},
		"invalid UTF-8":  {"\xff\xfe\x80 \xc0\xaf"},
		"control octets": {"\x01\x02\tx"},
		"many":           strings.Split(strings.Repeat(chrome+"\n", 50), "\n")[:50],
		"quotes":         {`"><script>'; {http.request.host}`},
	} {
		switch got := s.rawGet("/private/plan.html", agents...); got.status {
		case 200, 403, 429: // decided by the handler
		case 400: // refused by net/http
			if name != "control octets" {
				t.Errorf("%s: status %d", name, got.status)
			}
		default:
			t.Errorf("%s: status %d", name, got.status)
		}
		s.wants(200, s.get(chrome, "/private/plan.html"), "a browser after "+name)
	}
	s.wants(403, s.rawGet("/", chrome, gptbot), "a crawler's User-Agent after a browser's")
	s.wants(403, s.rawGet("/", "", gptbot), "a crawler's User-Agent after an empty one")
}
