package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// flaky is a back end. A test sets its answer to requests for /robots.txt; other
// paths always have a page.
type flaky struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
}

func newFlaky(t *testing.T) *flaky {
	t.Helper()
	f := new(flaky)
	f.answerWith(rules("/private/"))
	f.Server = httptest.NewServer(onlyRobotsTxt(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		answer := f.answer
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
