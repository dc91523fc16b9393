package managed

import (
	"errors"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// prove does not depend on the merger: it refuses any file that changes
// something for crawlers outside the policy.
func TestProve(t *testing.T) {
	const site = "User-agent: *\nDisallow: /private/\nCrawl-delay: 5\n\nUser-agent: Linkster\nDisallow: /l\n"
	l := compile(t, deny("ai-training", "seo"))
	for after, want := range map[string]string{
		site: "",
		site + "\nUser-agent: Teacher\nDisallow: /\n":                                      "",
		site + "\nUser-agent: SeekBot\nDisallow: /private/\nCrawl-delay: 5\n":              "",
		site + "\nUser-agent: SeekBot-Image\nDisallow: /private/\n":                        "", // is documented to ignore Crawl-delay
		site + "\nUser-agent: SeekBot\nDisallow: /private/\n":                              "for SeekBot",
		site + "\nUser-agent: Fallback\nCrawl-delay: 5\nDisallow: /\n":                     "disallowed",
		site + "\nUser-agent: *\nAllow: /\n":                                               "",
		site + "\nUser-agent: *\nAllow: /private/x\n":                                      "for *, /private/x would be allowed",
		site + "\nUser-agent: *\nRequest-rate: 1/5\nDisallow:\n":                           "Request-rate",
		site + "\nUser-agent: Linkster\nDisallow: /\n":                                     "for Linkster", // is only denied by purpose
		site + "\nUser-agent: unknown\nDisallow: /\nDisallow: /private/\nCrawl-delay: 5\n": "for unknown",
		strings.Replace(site, "User-agent: Linkster", "User-agent: Teacher", 1):            "for Linkster",
		strings.Replace(site, "Crawl-delay: 5", "Crawl-delay: 50\nDisallow: /nothing/", 1): "for *",
	} {
		err := l.prove(robots.Parse([]byte(site)), robots.Parse([]byte(after)))
		var proof *ProofError
		if (err == nil) != (want == "") || err != nil && (!errors.As(err, &proof) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q:\n%v, want %q", strings.TrimPrefix(after, site), err, want)
		}
	}
}
