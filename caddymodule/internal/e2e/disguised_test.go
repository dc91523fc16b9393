package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// disguisedSite has a crawler whose addresses are in a list, and one that is known by its
// host name; %s is the line disguised.
const disguisedSite = `{
	%[1]s
}
http://:$PORT {
	robots {
		source inline "User-agent: ListBot
User-agent: NameBot
Disallow: /private/

User-agent: *
Disallow: /other/
"
		publish
		verify {
			resolver %[2]s
		}
		crawler ListBot {
			verify lists %[3]s/list.json
			%[4]s
		}
		crawler NameBot {
			verify dns crawl.test
			%[4]s
		}
	}
	header >X-Verified {http.robots.verified}
	respond "hello"
	log
}`

// A browser's User-Agent from the addresses of a crawler that only crawls is that crawler
// in disguise: with `disguised bind`, its group applies to pages, and a person has a button.
func TestDisguisedCrawlers(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	site := func(line string) string {
		return fmt.Sprintf(disguisedSite, trustedProxies, o.resolver, o.web.URL, line)
	}
	s := start(t, site("disguised bind"))
	s.becomes("verified", listedAddr, "ListBot/1.0")
	s.becomes("verified", namedAddr, "NameBot/1.0")
	ask := func(method, addr, path string, fields ...string) response {
		t.Helper()
		h := http.Header{"X-Forwarded-For": {addr}, "Accept": {"text/html"}}
		for i := 0; i+1 < len(fields); i += 2 {
			h[fields[i]] = []string{fields[i+1]}
		}
		return s.do(method, fmt.Sprintf("http://localhost:%d%s", s.port, path), chrome, "", h)
	}
	for _, tt := range []struct {
		name   string
		status int
		got    response
	}{
		{"a page in the list", 403, ask("GET", listedAddr, "/private/x")},
		{"HEAD", 403, ask("HEAD", listedAddr, "/private/x")},
		{"another spelling", 403, ask("GET", listedAddr, "/a/..//private/x")},
		{"a host name that was looked up", 403, ask("GET", namedAddr, "/private/x")},
		{"a path that its group allows", 200, ask("GET", listedAddr, "/other/x")},
		{"/robots.txt", 200, ask("GET", listedAddr, "/robots.txt")},
		{"what a page embeds", 200, ask("GET", listedAddr, "/private/x.png", "Accept", "image/avif,*/*")},
		{"a frame's image", 200, ask("GET", listedAddr, "/private/x", "Sec-Fetch-Dest", "image")},
		{"POST", 200, ask("POST", listedAddr, "/private/x")},
		{"a person elsewhere", 200, ask("GET", strangerAddr, "/private/x")},
		{"an address that nobody has looked up", 200, ask("GET", "203.0.113.9", "/private/x")},
		{"several addresses", 200, ask("GET", listedAddr+", "+strangerAddr, "/private/x")},
	} {
		s.wants(tt.status, tt.got, tt.name)
	}
	if page := ask("GET", listedAddr, "/private/x"); !strings.Contains(page.body, "<button") || page.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the refusal: %+v", page)
	}
	// In the list: three requests that are refused, four that pass, and the page again. POST is no crawling.
	for _, c := range adminValue[statusapi.Crawlers](s, "crawlers").Crawlers {
		if want := map[string]uint64{"ListBot": 8, "NameBot": 1}[c.Name]; want != c.Hour.Disguised {
			t.Errorf("%s: %d requests with browsers' names, want %d", c.Name, c.Hour.Disguised, want)
		}
	}
	if err := s.reload(site("")); err != nil {
		t.Fatal(err)
	}
	s.wants(200, ask("GET", listedAddr, "/private/x"), "without the line")
	s.wants(403, s.via(listedAddr, "ListBot/1.0", "/private/x"), "the crawler under its own name, without the line")
}

func TestDisguisedErrors(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\trespond ok\n}")
	for config, want := range map[string]string{
		"verify\n crawler GPTBot {\n disguised bind\n }":                                    "machines that only crawl",
		"verify\n crawler NewBot {\n disguised bind\n }":                                    "machines that only crawl",
		"crawler PetalBot {\n disguised bind\n }":                                           "needs the line verify",
		"verify\n crawler PetalBot {\n disguised yes\n }":                                   "show or bind",
		"verify\n crawler NewBot {\n verify signatures https://x.test\n disguised bind\n }": "machines that only crawl",
	} {
		err := s.reload("http://:$PORT {\n\trobots {\n" + config + "\n\t}\n\trespond ok\n}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}
