package headersimport

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/caddy-robots/caddy-robots/headers"
)

// choices returns random numbers, or numbers from the input of a fuzz test.
type choices struct {
	data []byte
	rand *rand.Rand
}

func (c *choices) of(n int) int {
	if c.rand != nil {
		return c.rand.IntN(n)
	}
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *choices) from(words ...string) string { return words[c.of(len(words))] }

var (
	testValues = []string{"noindex", "nofollow", "all", "noindex, nofollow", "googlebot: noindex", "noarchive, bingbot: nofollow"}
	testPaths  = []string{"/", "/a", "/a/", "/a/x", "/a/b/", "/a/b/y.pdf", "/a/x.pdf", "/b/x.pdf", "/x.pdf", "/b/", "/b/index.html", "/index.html",
		"/index.php", "/a/index.php", "/ab", "/a.php", "/a/b/c.doc", "/C.DOC", "/c.doc", "/a/x.pdf/", "/b/c/d/e.php", "/a/b", "/b"}
)

// compareImported checks that the rules of a site send no directive that the
// server does not send, for all paths. If the site has no problems, it also
// checks that the rules send all directives that the server sends.
func compareImported(t *testing.T, config string, site Site, sent func(path string) [][]string) {
	t.Helper()
	var list []headers.Setting
	for _, r := range site.Rules {
		list = append(list, r.Rule)
	}
	rules, err := headers.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range testPaths {
		for _, target := range []string{path, path + "?q=/a/x.pdf"} {
			h := http.Header{}
			rules.Match(target).Apply(h, 200, nil)
			got := headers.ReadTags(h["X-Robots-Tag"])
			for _, a := range sent(path) {
				if more := !headers.Imply(headers.ReadTags(a), got); more || !headers.Imply(got, headers.ReadTags(a)) && len(site.Problems) == 0 {
					t.Fatalf("%s\n%s: the rules send %q, the server sends %q\nrules %v\nproblems %v", config, target, h["X-Robots-Tag"], a, site.Rules, site.Problems)
				}
			}
		}
	}
}

// checkRandomImports calls property for several random configurations. All
// together must have at least the given number of rules and of problems,
// otherwise the test would not check much.
func checkRandomImports(t *testing.T, property func(*testing.T, *choices) (rules, problems int), source rand.Source, configs, least int) {
	t.Helper()
	c := &choices{rand: rand.New(source)}
	rules, problems := 0, 0
	for range configs {
		r, p := property(t, c)
		rules, problems = rules+r, problems+p
	}
	if rules < least || problems < least {
		t.Errorf("%d rules and %d problems, want at least %d of each", rules, problems, least)
	}
}
