package origins

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/robots"
)

func TestURLSource(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("User-agent: *\n")) })
	mux.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat("# more\n", 1000))); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	fetch := func(path string) (judge.Response, error) {
		s, err := URL(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.(io.Closer).Close()
		return s.Fetch(context.Background(), fake.Home)
	}
	for path, status := range map[string]int{"/ok": 200, "/once": 200, "/missing": 404} {
		if resp, err := fetch(path); err != nil || resp.Status != status {
			t.Errorf("%s: status %d, %v; want %d", path, resp.Status, err, status)
		}
	}
	if _, err := fetch("/loop"); !errors.Is(err, errRedirects) {
		t.Errorf("/loop: %v, want %v", err, errRedirects)
	}
	if resp, err := fetch("/endless"); err != nil || len(resp.Body) != robots.MaxSize+1 {
		t.Errorf("/endless: %d octets, %v", len(resp.Body), err)
	}
}

// A redirect stays on the host that the operator chose, and takes no credentials from
// the server that redirects.
func TestRedirects(t *testing.T) {
	request := func(rawURL string) *http.Request {
		r, _ := http.NewRequest(http.MethodGet, rawURL, nil)
		return r
	}
	for _, tt := range []struct {
		from, to string
		ok       bool
	}{
		{"http://shop.test/robots.txt", "https://WWW.shop.test:8443/x.txt", true},
		{"https://www.shop.test/robots.txt", "https://user:password@shop.test/", true},
		{"https://shop.test/robots.txt", "http://shop.test/robots.txt", false},
		{"http://shop.test/robots.txt", "http://other.test/robots.txt", false},
		{"http://shop.test/robots.txt", "http://127.0.0.1/robots.txt", false},
		{"http://127.0.0.1/robots.txt", "http://127.0.0.1:8080/robots.txt", true},
	} {
		to := request(tt.to)
		err := checkRedirect(to, []*http.Request{request(tt.from)})
		if (err == nil) != tt.ok || tt.ok && to.URL.User != nil {
			t.Errorf("%s to %s: %v, credentials %v", tt.from, tt.to, err, to.URL.User)
		}
	}
}

func TestInvalidURLs(t *testing.T) {
	for _, u := range []string{"", "robots.txt", "/robots.txt", "file:///etc/passwd", "http://", "ftp://h/robots.txt", "http://h/%zz"} {
		if _, err := URL(u); err == nil {
			t.Errorf("URL(%q) has no error", u)
		}
	}
}

func TestInlineCutsLongFiles(t *testing.T) {
	resp, err := Inline(strings.Repeat("#", 2*robots.MaxSize)).Fetch(context.Background(), fake.Home)
	if err != nil || len(resp.Body) != robots.MaxSize+1 {
		t.Errorf("%d octets, %v", len(resp.Body), err)
	}
}

func TestFileThatIsGone(t *testing.T) {
	if _, err := (File{filepath.Join(t.TempDir(), "robots.txt")}).Fetch(context.Background(), fake.Home); err == nil {
		t.Error("a file that is gone is read without an error")
	}
}
