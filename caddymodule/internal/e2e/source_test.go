package e2e_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
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
