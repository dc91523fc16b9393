package diff

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Unaffected ignores changes for crawlers inside, and reports all others.
func TestUnaffected(t *testing.T) {
	crawlers := []Crawler{
		{Tokens: []string{"Googlebot"}, ReadsGoogle: true},
		{Tokens: []string{"Applebot", "Googlebot"}},
		{Tokens: []string{"AdsBot-Google"}, IgnoresStar: true, ReadsGoogle: true},
	}
	const base = "User-agent: *\nDisallow: /a\nCrawl-delay: 2\n"
	for _, tt := range []struct {
		name, before, after, inside string
		want                        bool
	}{
		{"a group for one inside", base, base + "\nUser-agent: GPTBot\nDisallow: /\n", "GPTBot", true},
		{"a group for one outside", base, base + "\nUser-agent: GPTBot\nDisallow: /\n", "CCBot", false},
		{"a group with the same rules for one outside", base, base + "\nUser-agent: CCBot\nDisallow: /a\nCrawl-delay: 2\n", "GPTBot", true},
		{"a group without the delay for one outside", base, base + "\nUser-agent: CCBot\nDisallow: /a\n", "GPTBot", false},
		{"a crawler outside that obeys the group of one inside", base, base + "\nUser-agent: Googlebot\nDisallow: /\n", "Googlebot", false},
		{"both inside", base, base + "\nUser-agent: Googlebot\nDisallow: /\n", "Googlebot Applebot", true},
		{"a crawler that ignores * loses its group", "User-agent: AdsBot-Google\nDisallow: /a\n\nUser-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\n", "", false},
		{"the group for * also names a crawler inside", base, "User-agent: GPTBot\n" + base, "GPTBot", true},
		{"a rule that only Google's parser reads", base, base + "Disallow all: /\n", "", false},
		{"a rule that only Google's parser reads, Google's crawlers inside", base, base + "Disallow all: /\n", "Googlebot AdsBot-Google", true},
		{"another order of the lines", base, "User-agent: *\nCrawl-delay: 2\nDisallow: /a\n", "", true},
		{"a redundant rule", base, base + "Disallow: /a/b\n", "", true},
		{"a signal", base, base + "Content-Signal: ai-train=no\n", "", true},
		{"a Visit-time", base, base + "Visit-time: 0600-0700\n", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inside := func(token string) bool {
				for s := range strings.FieldsSeq(tt.inside) {
					if strings.EqualFold(s, token) {
						return true
					}
				}
				return false
			}
			r := Unaffected(parse(tt.before), parse(tt.after), inside, crawlers...)
			if r.Same() != tt.want {
				t.Errorf("same: %v, want %v: complete %v, %+v", r.Same(), tt.want, r.Complete, r.Changes)
			}
		})
	}
}

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
