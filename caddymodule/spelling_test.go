package caddymodule

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

// spellings checks spellings of disallowed paths against Caddy's own file server.
// If the file server finds a file under a spelling, a crawler must be denied, and
// a person must get the file.
type spellings struct {
	files    *fileserver.FileServer
	handlers []*Handler // one for each of privateRules
}

// secretText is in the files below /private/ and nowhere else.
const secretText = "the secret"

// privateRules has groups of rules that all disallow /private/ and everything
// below it.
var privateRules = []string{
	"Disallow: /private/",
	"Disallow: /priv%61te",
	"Disallow: /\nAllow: /open/",
	"Disallow: /private/\nAllow: /private/nothing/\nAllow: /open/",
	"Disallow: /*ivate/",
	"Disallow: /private/*",
}

func newSpellings(t testing.TB) *spellings {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"private/plan.html":       secretText,
		"private/index.html":      secretText,
		"private/deep/index.html": secretText,
		"private/a b.html":        secretText,
		"private/50%25.html":      secretText,
		"private/x;y.html":        secretText,
		"open/index.html":         "open",
		"open/page.html":          "open",
		"index.html":              "open",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := &spellings{files: &fileserver.FileServer{Root: dir}}
	if err := s.files.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	for _, rules := range privateRules {
		s.handlers = append(s.handlers, provisioned(t, &Handler{log: zap.NewNop(), Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\n" + rules + "\n"}}}))
	}
	return s
}

// serve sends a request through a handler, if it is not nil, to the file server.
// ok is false if net/http or Caddy refuse the target.
func (s *spellings) serve(t testing.TB, h *Handler, ua, target string) (status int, body string, ok bool) {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: example.com\r\nUser-Agent: " + ua + "\r\n\r\n")))
	if err != nil {
		return 0, "", false
	}
	r = caddyhttp.PrepareRequest(arrived(r), caddy.NewReplacer(), nil, nil)
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		return s.files.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil }))
	})
	w := httptest.NewRecorder()
	if h == nil {
		err = next(w, r)
	} else {
		err = h.ServeHTTP(w, r, next)
	}
	if err != nil {
		return 0, "", false
	}
	return w.Code, w.Body.String(), true
}

// check checks one spelling. It reports whether a person gets a secret file with
// it.
func (s *spellings) check(t testing.TB, target string) bool {
	t.Helper()
	_, plain, ok := s.serve(t, nil, chrome, target)
	if !ok {
		return false
	}
	for i, h := range s.handlers {
		// Google's parser does not decode the escapes in a rule.
		agents := []string{bingbot, googlebot}
		if strings.Contains(privateRules[i], "%") {
			agents = agents[:1]
		}
		for _, ua := range agents {
			if _, body, _ := s.serve(t, h, ua, target); strings.Contains(body, secretText) {
				t.Errorf("%s gives a crawler the secret although %q disallows it: %s", target, privateRules[i], ua)
			}
		}
		if _, body, _ := s.serve(t, h, chrome, target); body != plain {
			t.Errorf("%s gives a person %q, but without the handler %q", target, body, plain)
		}
	}
	return strings.Contains(plain, secretText)
}

// The parts of random spellings: ways to write a slash, beginnings, ends, and
// strings to insert anywhere.
var (
	slashes    = []string{"//", "/./", "/x/../", "%2f", "%2F", "/%2e/", "/x/%2e%2e/", "/x/..%2f", "/.//", "/open/x/../../", "///", "/%2E%2F", "\\", "%5c", "%252f"}
	beginnings = []string{"http:", "http:/", "http://", "http://example.com", "https://u:p@other.test", "HTTP://EXAMPLE.COM", "/open/..", "/robots.txt/..", "/.well-known/..", "/private/nothing/..", "/open/page.html/..", "/..", "/%2e%2e", "/..%2f..", "/."}
	ends       = []string{"/", "/.", "/%2e", "/./", "/x/..", "/x/%2e%2e/", "?", "?q=/open/", "?/../../open/", "#", "%00", ";", ";x=1", ".", "%20", "/../plan.html", "/deep/..", "/deep/../", "//", "%2f"}
	noise      = []string{"%", "%zz", "\xff", "é", "%c3%a9", "*", "$", "@", ":", "..", "%2e", "+", "%2b", "PRIVATE", "open", "?", "/"}
	secrets    = []string{"/private/plan.html", "/private/", "/private/index.html", "/private/deep/", "/private/deep/index.html", "/private/a%20b.html", "/private/50%2525.html", "/private/x;y.html"}
)

// disguise returns a random spelling of the path of a secret file.
func disguise(random *rand.Rand) string {
	one := func(list []string) string { return list[random.IntN(len(list))] }
	var b strings.Builder
	if random.IntN(3) == 0 {
		b.WriteString(one(beginnings))
	}
	path := one(secrets)
	for i := range len(path) {
		switch c := path[i]; {
		case random.IntN(60) == 0:
			b.WriteString(one(noise))
			fallthrough
		default:
			b.WriteByte(c)
		case c == '/' && random.IntN(3) == 0:
			b.WriteString(one(slashes))
		case c != '/' && c != '%' && (i == 0 || path[i-1] != '%') && (i < 2 || path[i-2] != '%') && random.IntN(8) == 0:
			fmt.Fprintf(&b, []string{"%%%02x", "%%%02X"}[random.IntN(2)], c)
		}
	}
	if random.IntN(4) == 0 {
		b.WriteString(one(ends))
	}
	return b.String()
}

// The random sequence is always the same.
func TestNoSpellingOfADisallowedPathIsServed(t *testing.T) {
	s := newSpellings(t)
	random := rand.New(rand.NewPCG(9309, 2022))
	const tried = 1_000
	found := 0
	for range tried {
		if s.check(t, disguise(random)) {
			found++
		}
	}
	if found < tried/5 {
		t.Errorf("only %d of %d spellings give a person a secret: too few for this test", found, tried)
	}
	t.Logf("measured: %d of %d spellings give a person the secret", found, tried)
}

func FuzzNoSpellingOfADisallowedPathIsServed(f *testing.F) {
	for _, target := range []string{"/private/plan.html", "/private/.", "/private/%2e", "/private/deep/..", "http:private/plan.html", "/a/..%2fprivate/", "//private//"} {
		f.Add(target)
	}
	s := newSpellings(f)
	f.Fuzz(func(t *testing.T, target string) { s.check(t, target) })
}
