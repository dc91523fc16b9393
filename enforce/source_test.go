package enforce

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

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
	fetch := func(path string) (Response, error) {
		s, err := URL(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.(io.Closer).Close()
		return s.Fetch(context.Background(), home)
	}
	for path, status := range map[string]int{"/ok": 200, "/once": 200, "/missing": 404} {
		if resp, err := fetch(path); err != nil || resp.Status != status {
			t.Errorf("%s: status %d, %v; want %d", path, resp.Status, err, status)
		}
	}
	if _, err := fetch("/loop"); !errors.Is(err, ErrRedirects) {
		t.Errorf("/loop: %v, want %v", err, ErrRedirects)
	}
	if resp, err := fetch("/endless"); err != nil || len(resp.Body) != robots.MaxSize+1 {
		t.Errorf("/endless: %d octets, %v", len(resp.Body), err)
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
	resp, err := Inline(strings.Repeat("#", 2*robots.MaxSize)).Fetch(context.Background(), home)
	if err != nil || len(resp.Body) != robots.MaxSize+1 {
		t.Errorf("%d octets, %v", len(resp.Body), err)
	}
}

func TestFileThatIsGone(t *testing.T) {
	if _, err := (File{filepath.Join(t.TempDir(), "robots.txt")}).Fetch(context.Background(), home); err == nil {
		t.Error("a file that is gone is read without an error")
	}
}
