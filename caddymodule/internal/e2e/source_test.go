package e2e_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// flaky is a back end. A test sets its answer to requests for /robots.txt; other
// paths always have a page.
type flaky struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
	asked  int
}

func newFlaky(t *testing.T) *flaky {
	t.Helper()
	f := new(flaky)
	f.answerWith(rules("/private/"))
	f.Server = httptest.NewServer(onlyRobotsTxt(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		answer := f.answer
		f.asked++
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(f.CloseClientConnections)
	t.Cleanup(f.Close)
	return f
}

func (f *flaky) answerWith(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = h
}

func (f *flaky) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// onlyRobotsTxt returns a handler that answers requests for other paths with a page.
func onlyRobotsTxt(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			answer(w, r)
			return
		}
		fmt.Fprint(w, "page")
	}
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func rules(path string) http.HandlerFunc { return text(200, "User-agent: *\nDisallow: "+path+"\n") }

// Each answer is the first one that a server gets. People always get the page.
func TestAnswersToTheReadOfRobotsTxt(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	tests := []struct {
		name   string
		answer http.HandlerFunc
		denied bool // whether a crawler is denied /private/
	}{
		{"a file", rules("/private/"), true},
		{"empty", text(200, ""), false},
		{"404", text(404, "User-agent: *\nDisallow: /\n"), false},
		{"500", text(500, "User-agent: *\nDisallow: /\n"), false},
		{"HTML", text(200, "<!doctype html><pre>User-agent: *\nDisallow: /\n"), false},
		{"a file with the media type of HTML", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			rules("/private/")(w, r)
		}, true},
		{"binary", text(200, "\x00\x01\x02\xff\xfe"+strings.Repeat("\x80\x00", 5000)+"\nUser-agent: *\nDisallow: /private/\n"), true},
		{"10 MB", text(200, "User-agent: *\nDisallow: /private/\n"+strings.Repeat("Disallow: /x/\n", 10<<20/14)), true},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat("# more\n", 1000)); err != nil {
					return
				}
			}
		}, true},
		{"no answer", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-never:
			case <-r.Context().Done():
			}
		}, false},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, "/robots.txt?v=2", http.StatusMovedPermanently)
				return
			}
			rules("/private/")(w, r)
		}, true},
		{"a redirect to itself", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/robots.txt", http.StatusFound)
		}, false},
		{"a redirect to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.invalid/robots.txt", http.StatusFound)
		}, false},
		{"cut short", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		}, false},
		{"an encoding that the request did not accept", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		}, false},
		{"x-gzip, which is gzip", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "x-gzip")
			zw := gzip.NewWriter(w)
			fmt.Fprint(zw, "User-agent: *\nDisallow: /private/\n")
			zw.Close()
		}, true},
	}
	back := newHosts(t)
	server := start(t, "http://:$PORT {\n\trobots\n\treverse_proxy "+back.URL+"\n}\n")
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host, s := fmt.Sprintf("h%d.test", i), *server
			s.t = t
			back.answer(host, onlyRobotsTxt(tt.answer))
			began := time.Now()
			s.wants(200, s.at(host, chrome, "/private/x"), "a person before there is a policy")
			if took := time.Since(began); tt.name == "no answer" && took > time.Second {
				t.Errorf("a person waited %v", took)
			}
			want := 200
			if tt.denied {
				want = 403
			}
			open := 200
			if tt.name == "no answer" { // the first read has not ended
				want, open = 429, 429
			}
			s.wants(want, s.at(host, googlebot, "/private/x"), "a crawler")
			s.wants(open, s.at(host, googlebot, "/x"), "a crawler on another page")
			s.wants(200, s.at(host, chrome, "/private/x"), "a person afterwards")
		})
	}
}

func TestLastGoodCopySurvivesAReload(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	config := func(more string) string {
		return "http://:$PORT {\n\trobots {\n\t\trefresh 1s\n\t\tgrace off\n\t\t" + more + "\n\t}\n\treverse_proxy " + back.URL + "\n}\n"
	}
	s := start(t, config(""))
	s.wants(403, s.get(googlebot, "/private/x"), "with the file")

	back.answerWith(text(500, ""))
	s.eventually("the failure is noticed", func() bool {
		s.get(googlebot, "/private/x")
		return s.metric(`caddy_robots_fetches_total{outcome="failed",source="site"}`) > 0
	})
	s.wants(403, s.get(googlebot, "/private/x"), "with the last good copy")
	s.wants(200, s.get(googlebot, "/x"), "a path that the last good copy allows")
	if len(s.lines("robots.txt can't be fetched: the last good copy stays in force")) != 1 {
		t.Error("the failure is not logged once")
	}
	if err := s.reload(config("max_origins 5")); err != nil {
		t.Fatal(err)
	}
	s.wants(403, s.get(googlebot, "/private/x"), "with the last good copy after a reload")

	if err := s.reload(config("on_error deny")); err != nil {
		t.Fatal(err)
	}
	s.eventually("everything is refused with on_error deny", func() bool { return s.get(googlebot, "/x").status == 503 })
	s.wants(200, s.get(chrome, "/x"), "a person with on_error deny")

	back.answerWith(rules("/other/"))
	s.eventually("the new file is in force", func() bool {
		return s.get(googlebot, "/other/x").status == 403 && s.get(googlebot, "/private/x").status == 200
	})
	back.answerWith(text(404, ""))
	s.eventually("the removed file is no longer in force", func() bool { return s.get(googlebot, "/other/x").status == 200 })
}

func TestFetchOfRobotsTxtStartsARead(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, "http://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy "+back.URL+"\n}\n")
	s.wants(403, s.get(googlebot, "/private/x"), "by the first file")
	back.answerWith(rules("/other/"))
	s.eventually("the file that it fetched is in force", func() bool {
		s.get(googlebot, "/robots.txt")
		return s.get(googlebot, "/private/x").status == 200
	})
}

func TestFileIsReadWhenItChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, path, "User-agent: *\nDisallow: /one/\n")
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource file "+path+"\n\t\trefresh 1h\n\t\tgrace off\n\t\tpublish\n\t}\n\trespond hello\n}\n")
	s.wants(403, s.get(googlebot, "/one/"), "by the first file")
	if got := s.get(chrome, "/robots.txt"); got.status != 200 || got.body != "User-agent: *\nDisallow: /one/\n" || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("published: status %d, %q, %v", got.status, got.body, got.header)
	}
	writeFile(t, path+".new", "User-agent: *\nDisallow: /two/\n")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.eventually("the new file is in force and published", func() bool {
		return s.get(googlebot, "/two/").status == 403 && s.get(googlebot, "/one/").status == 200 && strings.Contains(s.get(chrome, "/robots.txt").body, "/two/")
	})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.eventually("the loss is noticed", func() bool {
		s.get(googlebot, "/two/")
		return s.metric(`caddy_robots_fetches_total{outcome="failed",source="file"}`) > 0
	})
	s.wants(403, s.get(googlebot, "/two/"), "by the last good copy")
}

func TestInlineAndURLSources(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, `
http://one.test:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			TXT
		publish
	}
	respond "hello"
}
http://two.test:$PORT {
	robots {
		source url `+back.URL+`/robots.txt
		publish
	}
	respond "hello"
}`)
	if n := back.count(); n != 0 {
		t.Errorf("loading the configuration requested the URL %d times", n)
	}
	for _, name := range []string{"one.test", "two.test"} {
		host := fmt.Sprintf("%s:%d", name, s.port)
		s.wants(403, s.at(host, googlebot, "/private/x"), name)
		s.wants(200, s.at(host, googlebot, "/x"), name)
		if got := s.at(host, chrome, "/robots.txt"); got.body != "User-agent: *\nDisallow: /private/\n" && got.body != "User-agent: *\nDisallow: /private/" {
			t.Errorf("%s publishes %d %q", name, got.status, got.body)
		}
	}
}

// A URL whose server redirects to Caddy's admin endpoint, or answers with another text,
// changes nothing: neither what is in force nor what is published.
func TestURLThatLeadsToAnotherTextIsNotPublished(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(text(404, ""))
	s := start(t, "http://one.test:$PORT {\n\trobots {\n\t\trefresh 1h\n\t\tsource url "+back.URL+"/robots.txt\n\t\tpublish\n\t}\n\trespond hello\n}\n")
	others := map[string]http.HandlerFunc{
		"the admin endpoint": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, fmt.Sprintf("http://127.0.0.1:%d/config/", s.admin), http.StatusFound)
		},
		"JSON":     text(200, "{\n  \"apps\": {},\n  \"Disallow\": \"/\"\n}\n"),
		"YAML":     text(200, "host: 10.0.0.1\npassword: secret\n"),
		"a page":   text(200, "<!DOCTYPE html>\nDisallow: /"),
		"an error": text(200, "# upstream\ntimed out\n"),
	}
	for name, answer := range others {
		back.answerWith(answer)
		s.refresh("")
		if got := s.at("one.test", chrome, "/robots.txt"); got.status != 404 || got.body != "" {
			t.Errorf("%s is published: %d %q", name, got.status, got.body)
		}
	}
	back.answerWith(rules("/private/"))
	s.refresh("?grace=off")
	for name, answer := range others {
		back.answerWith(answer)
		s.refresh("")
		s.wants(403, s.at("one.test", googlebot, "/private/x"), "the good copy, not "+name)
		if got := s.at("one.test", chrome, "/robots.txt"); got.body != "User-agent: *\nDisallow: /private/\n" {
			t.Errorf("%s: published is %d %q", name, got.status, got.body)
		}
	}
}
