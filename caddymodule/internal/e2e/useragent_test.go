package e2e_test

import (
	"slices"
	"strings"
	"testing"
)

// Neither long text before a crawler's name nor several User-Agent fields hide the
// name.
func TestUserAgentsThatHideACrawler(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	robots {
		source inline "User-agent: GPTBot
Disallow: /

User-agent: *
Disallow: /private/"
	}
	respond page
}`)
	pad := func(with string, octets int) string { return strings.Repeat(with, octets/len(with)+1)[:octets-1] + " " }
	fields := func(n int, ua string) []string { return slices.Repeat([]string{ua}, n) }
	for _, tt := range []struct {
		name   string
		agents []string
		path   string
		want   int
	}{
		{"600 octets before the name", []string{pad("x ", 600) + gptbot}, "/x", 403},
		{"600 octets of a browser before the name", []string{pad(chrome+" ", 600) + gptbot}, "/x", 403},
		{"1,500 octets before the name", []string{pad("(x) ", 1500) + gptbot}, "/x", 403},
		{"1,900 octets before the name", []string{pad("Mozilla/5.0 ", 1900) + "GPTBot/1.2"}, "/x", 403},
		{"4 KiB before the name", []string{pad("x ", 4096) + gptbot}, "/private/x", 403},
		{"a browser of 4 KiB", []string{chrome + " " + pad("Mozilla/5.0 ", 4096)}, "/private/x", 403},
		{"a browser of 4 KiB", []string{chrome + " " + pad("Mozilla/5.0 ", 4096)}, "/x", 200},
		{"a browser of 681 octets", []string{chrome + " " + pad("Mozilla/5.0 ", 680-len(chrome))}, "/private/x", 200},
		{"a name in the second field", append(fields(1, chrome), gptbot), "/x", 403},
		{"a name in the fifth field", append(fields(4, chrome), gptbot), "/x", 403},
		{"a name in the fifth of six fields", append(fields(4, chrome), gptbot, chrome), "/x", 403},
		{"a name in the sixteenth field", append(fields(15, chrome), gptbot), "/x", 403},
		{"a name in the sixteenth field, padded", append(fields(15, chrome), pad("x ", 1000)+gptbot), "/x", 403},
		{"a browser in sixteen fields", fields(16, chrome), "/private/x", 200},
		{"a browser in seventeen fields", fields(17, chrome), "/private/x", 403},
		{"a browser in seventeen fields", fields(17, chrome), "/x", 200},
		{"an empty field before the name", []string{"", gptbot}, "/x", 403},
	} {
		s.wants(tt.want, s.rawGet(tt.path, tt.agents...), tt.name+", "+tt.path)
	}
}

// A rule that ends in $ applies to a path, however a client spells its end.
func TestSpellingsOfTheEndOfAPath(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /*.pdf$
Disallow: /private/
Disallow: /exact$"
	}
	respond page
}`)
	for target, want := range map[string]int{
		"/x.pdf": 403, "/x.pdf/.": 403, "/x.pdf/%2e": 403, "/x.pdf/%2E": 403, "//x.pdf/.": 403, "/a/../x.pdf/.": 403, "/x.pdf/./.": 403, "/x.pdf//.": 403,
		"/%78.pdf/%2e": 403, "http://localhost/x.pdf/.": 403, "http:x.pdf/.": 403, "/exact/.": 403,
		"/private/.": 403, "/private/%2e": 403, "/private/deep/..": 403, "/deep/../private/.": 403, "/deep/../private/x/..": 403,
		"http://other.test/private/": 403, "http://other.test/private/x": 403, "http:private/x": 403, "ftp://other.test/private/x": 403, "http://user@other.test:99/private/x": 403,
		"/x.pdfs": 200, "/x": 200, "/x/.": 200, "http://other.test/x": 200,
	} {
		s.wants(want, s.rawGet(target, googlebot), target)
		s.wants(200, s.rawGet(target, chrome), target+" for a person")
	}
}

// A request that names two crawlers keeps to the limits of both, and the log has the
// token by which each got its group, and one spelling of an unknown crawler.
func TestTwoCrawlersInOneUserAgent(t *testing.T) {
	t.Parallel()
	const file = "User-agent: Pinterest\nUser-agent: CCBot\nUser-agent: GPTBot\nCrawl-delay: 600\n\nUser-agent: *\nDisallow: /x"
	s := start(t, "http://:$PORT {\n\tlog\n\trobots\n\trespond /robots.txt \""+file+"\"\n\trespond page\n}\n")
	s.wants(200, s.get("CCBot/2.0 GPTBot/1.2", "/both"), "the first request")
	s.wants(429, s.get("GPTBot/1.2", "/one"), "GPTBot alone")
	s.wants(429, s.get("CCBot/2.0", "/other"), "CCBot alone")
	if got := s.decision("/other"); got["group"] != "CCBot" || got["reason"] != "crawl_delay" {
		t.Errorf("the access log has %v", got)
	}
	s.wants(403, s.get("AcmeBot/1.0", "/x?1"), "AcmeBot")
	s.wants(403, s.get("ACMEBOT/1.0", "/x?2"), "ACMEBOT")
	if got := s.decision("/x?2"); got["crawler"] != "AcmeBot" || got["group"] != "*" {
		t.Errorf("the access log has %v", got)
	}
}
