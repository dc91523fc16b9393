package snippet

import (
	"strings"
	"testing"
)

func TestSnippets(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Limit(nil, "each 10/1m"), "limit {\n\teach 10/1m\n}"},
		{Limit(Below("/a/"), "each 10/1m", "except Googlebot"), "limit /a/* {\n\teach 10/1m\n\texcept Googlebot\n}"},
		{Deny("seo"), "policy {\n\tdeny seo\n}"},
		{Deny(Name("Example Bot"), Below("/a/")...), "policy {\n\tdeny \"Example Bot\" /a/*\n}"},
		{Name("a{b}"), `"a{b}"`},
		{strings.Join(Below("/"), " "), ""},
		{strings.Join(Below("/%7Euser/"), " "), "/%7Euser/*"},
		// What means something in robots.txt, a Caddyfile, or a shell.
		{strings.Join(Below("/a*$ {b}\n%zz%4\"'`#\\é/"), " "), "/a%2A%24%20%7Bb%7D%0A%25zz%254%22%27%60%23%5C%C3%A9/*"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestRate(t *testing.T) {
	for perMinute, want := range map[float64]string{0: "1/1h", 0.05: "3/1h", 0.99: "50/1h", 1: "1/1m", 12: "10/1m", 49: "30/1m", 999: "500/1m"} {
		if got := Rate(perMinute).String(); got != want {
			t.Errorf("Rate(%v) = %s, want %s", perMinute, got, want)
		}
	}
}
