package diff

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// AllowsMore is false only if a change takes something from crawlers and gives them
// nothing.
func TestAllowsMore(t *testing.T) {
	const file = "User-agent: *\nAllow: /a/b/\nDisallow: /a/\nCrawl-delay: 5\nContent-Signal: ai-train=no\n"
	for _, tt := range []struct {
		change, to string
		want       bool
	}{
		{"", "", false},
		{"Disallow: /a/", "Disallow: /", false},
		{"Disallow: /a/", "Disallow: /a/\nDisallow: /b/", false},
		{"Allow: /a/b/\n", "", false},
		{"User-agent: *", "Sitemap: https://example.com/s.xml\nUser-agent: *", false},
		{"Disallow: /a/\n", "", true},
		{"Disallow: /a/", "Disallow: /a/c/", true},
		{"Allow: /a/b/", "Allow: /a/", true},
		{"Crawl-delay: 5\n", "", true},
		{"Content-Signal: ai-train=no\n", "", true},
		{"User-agent: *", "User-agent: GPTBot\nDisallow: /a/c/\n\nUser-agent: *", true},
		{"User-agent: *", "User-agent: GPTBot", true},
		{file, "", true},
	} {
		if got := AllowsMore(robots.Parse([]byte(file)), robots.Parse([]byte(strings.Replace(file, tt.change, tt.to, 1)))); got != tt.want {
			t.Errorf("%q in place of %q: %t", tt.to, tt.change, got)
		}
	}
	many := func(n int) *robots.File {
		return robots.Parse([]byte("User-agent: *\n" + strings.Repeat("Disallow: /*a*b*c*d\n", n) + "Disallow: /" + strings.Repeat("*a", n)))
	}
	if !AllowsMore(many(100), many(5000)) {
		t.Error("files that are too large to compare allow no more")
	}
}
