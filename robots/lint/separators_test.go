package lint

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A file with the suggested paths has no findings, and disallows these paths.
func TestSeparatedPaths(t *testing.T) {
	for value, want := range map[string][]string{
		"/tmp/, /cgi-bin/":     {"/tmp/", "/cgi-bin/"},
		"/tmp/,/cgi-bin/,":     {"/tmp/", "/cgi-bin/"},
		"/tmp/; /a.html; /b/;": {"/tmp/", "/a.html", "/b/"},
		"/tmp/ , /cgi-bin/ ,":  {"/tmp/", "/cgi-bin/"},
		"/tmp/,":               {"/tmp/"},
		"/tmp,,":               {"/tmp"},
		"/2024/news,":          {"/2024/news"},
	} {
		findings := Lint(robots.Parse([]byte("User-agent: *\nDisallow: " + value + "\n")))
		if len(findings) != 1 || findings[0].Replacement == nil {
			t.Errorf("%s: %+v", value, findings)
			continue
		}
		f := robots.Parse([]byte("User-agent: *\nDisallow: " + *findings[0].Replacement + "\n"))
		if more := Lint(f); len(more) > 0 {
			t.Errorf("%s: the suggestion has findings:\n%s", value, printFindings(more))
		}
		var got []string
		for _, r := range f.Star().Rules() {
			got = append(got, r.Pattern)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: the suggestion has the paths %q, want %q", value, got, want)
		}
	}
	kollar := robots.Parse([]byte("User-agent: *\nDisallow: /tmp/, /a\n"), robots.WithDialect(robots.Kollar1996))
	if x := Lint(kollar); len(x) != 1 || x[0].Code != "trailing-separator" || *x[0].Replacement != "/tmp/ /a" {
		t.Errorf("the dialect of 1996: %+v", x)
	}
}
