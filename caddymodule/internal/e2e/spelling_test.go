package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"
)

// spellingsOfPlan are request targets for which file_server, or other back ends,
// serve /private/plan.html.
var spellingsOfPlan = []string{
	"/private/plan.html",
	"//private/plan.html",
	"/./private/plan.html",
	"/a/../private/plan.html",
	"/%70rivate/plan.html",
	"/%70%72%69%76%61%74%65/plan.html",
	"/private%2fplan.html",
	"/private%2Fplan.html",
	"/private//plan.html",
	"/private/%2e%2e/private/plan.html",
	"/%2e/private/plan.html",
	"/a/..%2fprivate/plan.html",
	"/..//private/plan.html",
	"/../private/plan.html",
	"///private///plan.html",
	"/private/press/../plan.html",
	"/private/press/%2e%2e/plan.html",
	"/robots.txt/../private/plan.html",
	"/.well-known/../private/plan.html",
	"/private/./plan.html",
	"/private/plan.html?x=1",
	"/private/plan.html?",
	"/private/plan.html/.",
	"/private/plan.html/x/..",
	"http://localhost:$PORT/private/plan.html",
	"http://user:pass@localhost:$PORT/private/plan.html",
	"https://localhost:$PORT/private/plan.html",
	"http://localhost:$PORT//%70rivate/plan.html",
	"http:private/plan.html",
	"http:/private/plan.html",
}

// secret is a part of /private/plan.html.
const secret = "The plan"

func TestNoSpellingOfADisallowedPathIsServed(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// This back end decodes and cleans paths as far as possible.
		p := r.URL.Path
		if u, err := url.PathUnescape(strings.TrimPrefix(r.URL.Opaque, "http:")); p == "" && err == nil {
			p = "/" + u
		}
		switch path.Clean("/" + p) {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\nAllow: /private/press/\n")
		case "/private/plan.html":
			fmt.Fprint(w, secret)
		default:
			fmt.Fprint(w, "something else")
		}
	}))
	t.Cleanup(upstream.Close)
	for name, backend := range map[string]string{
		"file_server":   "root testdata/site\n\tfile_server",
		"reverse_proxy": "reverse_proxy " + upstream.URL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://:$PORT {\n\trobots\n\t"+backend+"\n}\n")
			for _, target := range spellingsOfPlan {
				target = strings.ReplaceAll(target, "$PORT", fmt.Sprint(s.port))
				if got := s.rawGet(target, googlebot); strings.Contains(got.body, secret) || got.status == 200 {
					t.Errorf("%s: status %d, %q", target, got.status, got.body)
				}
				if got := s.rawGet(target, chrome, "SomeBot/1.0"); strings.Contains(got.body, secret) {
					t.Errorf("%s with two User-Agents: status %d", target, got.status)
				}
			}
			s.wants(403, s.rawGet("http://other.test/private/plan.html", googlebot), "another host in absolute form")
			served := 0
			for _, target := range spellingsOfPlan {
				if got := s.rawGet(strings.ReplaceAll(target, "$PORT", fmt.Sprint(s.port)), chrome); strings.Contains(got.body, secret) {
					served++
				}
			}
			if served < len(spellingsOfPlan)/2 {
				t.Errorf("a person gets the page for only %d of %d spellings: too few for this test", served, len(spellingsOfPlan))
			}
			s.wants(200, s.rawGet("/private/press/kit.html", googlebot), "an allowed page next to it")
		})
	}
}

// Rules with a part that no path as served has, such as %2F, name a spelling. They
// deny it behind dot segments and slashes too, but not the plain spelling, and they open
// no other one.
func TestRulesThatNameASpelling(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /api/projects/g%2Fp
			Disallow: /*.pdf$
			Disallow: /a/
			Disallow: /p
			Disallow: /b;x=1
			Disallow: /*/private
			Disallow: /é/%24/
			Allow: //
			Allow: /a//b
			Allow: /public/../
			TXT
		policy {
			hidden /hid%2Fx
		}
		paths strip_params ignore_case
	}
	respond ok
}
`)
	for status, targets := range map[int][]string{
		403: {
			"/api/projects/g%2Fp", "/./api/projects/g%2Fp", "/api//projects/g%2fp", "/x.pdf", "/x.pdf/y/..", "/x.pdf/%2e",
			"/a/b", "/./a/b", "/a/%2Fb", "/x/../p", "/public/../p", "//p", "/b;x=1", "//b;x=1", "/z/..%2fb;x=1", "//PRIVATE",
			"/%C3%A9/%24/", "/%c3%a9/%24/", "/é/%24/", "/%C3%89/%24/",
		},
		404: {"/hid%2Fx", "/./hid%2Fx", "//hid%2fx"},
		200: {"/api/projects/g/p", "/a//b", "/hid/x", "/b", "/x.pdf/", "/%C3%A9/$/"},
	} {
		for _, target := range targets {
			s.wants(status, s.rawGet(target, googlebot), target)
		}
	}
}
