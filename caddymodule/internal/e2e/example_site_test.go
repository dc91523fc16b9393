package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
