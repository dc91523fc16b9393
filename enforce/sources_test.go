package enforce

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		s, err := NewURL(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
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

func TestURLsThatAreNone(t *testing.T) {
	for _, u := range []string{"", "robots.txt", "/robots.txt", "file:///etc/passwd", "http://", "ftp://h/robots.txt", "http://h/%zz"} {
		if _, err := NewURL(u); err == nil {
			t.Errorf("NewURL(%q) has no error", u)
		}
	}
}

func TestAFileIsWatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.txt")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "User-agent: *\n")
	changed := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stop, err := w.Watch(path, func() { changed <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s went unnoticed", what)
		}
		for len(changed) > 0 {
			<-changed
		}
	}
	write(path, "User-agent: *\nDisallow: /\n")
	wait("writing the file")
	write(path+".new", "")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	wait("replacing the file")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait("removing the file")
	if _, err := (File{path}).Fetch(ctx, home); err == nil {
		t.Error("a file that is gone is read without an error")
	}
	if _, err := w.Watch(filepath.Join(path, "none", "robots.txt"), func() {}); err == nil {
		t.Error("a folder that is not there is watched without an error")
	}
	told := make(chan struct{}, 100)
	if _, err := w.Watch(filepath.Join(filepath.Dir(path), "other.txt"), func() { told <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	stop()
	write(path, "")
	<-told
	if len(changed) > 0 {
		t.Error("a watch that was stopped is told")
	}
}
