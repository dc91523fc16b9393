package diff

import (
	"strings"
	"testing"
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
