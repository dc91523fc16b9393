package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// decision waits for the access-log line of a path and returns its field robots.
func (s *server) decision(path string) (fields map[string]any) {
	s.t.Helper()
	s.eventually("the access log has "+path, func() bool {
		for _, l := range s.lines("handled request") {
			if request, ok := l["request"].(map[string]any); ok && request["uri"] == path {
				fields, _ = l["robots"].(map[string]any)
				return true
			}
		}
		return false
	})
	return fields
}

// decides checks the access-log line of a path.
func (s *server) decides(path, crawler, action, reason string) {
	s.t.Helper()
	got := s.decision(path)
	if got["crawler"] != crawler || got["action"] != action || got["reason"] != reason {
		s.t.Errorf("%s is logged with %v, want crawler %s, action %s, reason %s", path, got, crawler, action, reason)
	}
}

// pacedRobots returns a robots directive with a Crawl-delay for bingbot and with
// options.
func pacedRobots(options string) string {
	return "robots {\n\t\t\tsource inline \"User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nDisallow: /private/\nCrawl-delay: 600\"\n\t\t\t" + options + "\n\t\t}\n\t\t"
}

func TestMonitorAndEnforceOnOneRequest(t *testing.T) {
	t.Parallel()
	for name, handlers := range map[string]string{
		"monitor first": pacedRobots("mode monitor") + pacedRobots(""),
		"monitor last":  pacedRobots("") + pacedRobots("mode monitor"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://:$PORT {\n\tlog\n\troute {\n\t\t"+handlers+"respond page\n\t}\n}\n")
			s.wants(200, s.get(bingbot, "/first"), "the first request in a Crawl-delay")
			s.wants(429, s.get(bingbot, "/second"), "the second")
			s.wants(429, s.get(bingbot, "/third"), "the third")
			s.wants(403, s.get(gptbot, "/private/x"), "a disallowed path")
			s.wants(200, s.get(chrome, "/private/x"), "a person")
			s.decides("/first", "bingbot", "pass", "allowed")
			s.decides("/second", "bingbot", "throttle", "crawl_delay")
			s.decides("/private/x", "GPTBot", "deny", "disallowed")
		})
	}
}

func TestMonitorReportsWhatItWouldDo(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\tlog\n\troute {\n\t\t"+pacedRobots("mode monitor")+"respond \"{http.robots.crawler} {http.robots.action} {http.robots.reason}\"\n\t}\n}\n")
	for _, tt := range []struct{ ua, path, crawler, action, reason string }{
		{bingbot, "/first", "bingbot", "pass", "allowed"},
		{bingbot, "/second", "bingbot", "would_throttle", "crawl_delay"},
		{gptbot, "/private/x", "GPTBot", "would_deny", "disallowed"},
	} {
		got := s.get(tt.ua, tt.path)
		if want := tt.crawler + " " + tt.action + " " + tt.reason; got.status != 200 || got.body != want {
			t.Errorf("%s: status %d, %q, want 200, %q", tt.path, got.status, got.body, want)
		}
		s.decides(tt.path, tt.crawler, tt.action, tt.reason)
	}
}

func TestTwoHandlersCountARequestOnce(t *testing.T) {
	t.Parallel()
	burst := "crawl_delay {\n\t\t\t\tburst 3\n\t\t\t}"
	for name, handlers := range map[string]string{
		"one":                pacedRobots(burst),
		"two":                pacedRobots(burst) + pacedRobots(burst),
		"two with a monitor": pacedRobots(burst) + pacedRobots(burst+"\n\t\t\tmode monitor") + pacedRobots(burst),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://:$PORT {\n\troute {\n\t\t"+handlers+"respond page\n\t}\n}\n")
			if got := s.statuses(5, "site.test", bingbot, "/"); got != "200 200 200 429 429" {
				t.Errorf("statuses %s", got)
			}
		})
	}
}

// A first request passes several handlers with different limits, some of them
// equal, and another one at once is throttled.
func TestHandlersWithDifferentLimits(t *testing.T) {
	t.Parallel()
	for mode, throttled := range map[string]string{"enforce": "429 throttle", "monitor": "200 would_throttle"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			handlers := ""
			for _, seconds := range []int{600, 900, 600, 1200, 900, 1500} {
				handlers += fmt.Sprintf("robots {\n\t\t\tsource inline \"User-agent: *\nCrawl-delay: %d\"\n\t\t\tmode %s\n\t\t}\n\t\t", seconds, mode)
			}
			s := start(t, "http://:$PORT {\n\tlog\n\theader >X-Action {http.robots.action}\n\troute {\n\t\t"+handlers+"respond page\n\t}\n}\n")
			for _, ua := range []string{bingbot, gptbot} {
				for _, want := range []string{"200 pass", throttled, throttled} {
					got := s.get(ua, "/")
					if is := fmt.Sprintf("%d %s", got.status, got.header.Get("X-Action")); is != want {
						t.Errorf("%s: %s, want %s", ua, is, want)
					}
				}
			}
		})
	}
}

// A site answers denials with its own error routes, or with plain text if none of
// them matches.
func TestErrorRoutesOfOtherSitesAreNotUsed(t *testing.T) {
	t.Parallel()
	site := func(host, more string) string {
		return "http://" + host + ":$PORT {\n\theader X-Site yes\n\troute {\n\t\t" + pacedRobots("") + "respond page\n\t}\n\t" + more + "\n}\n"
	}
	s := start(t, site("with.test", "handle_errors {\n\t\trespond \"{err.status_code} {http.robots.crawler} {http.robots.reason} {http.robots.line}\"\n\t}")+
		site("without.test", "")+
		site("other.test", "handle_errors 404 5xx {\n\t\trespond \"not about denials\"\n\t}")+
		site("some.test", "handle_errors 403 {\n\t\trespond \"for 403\"\n\t}")+
		site("path.test", "handle_errors {\n\t\t@about path /private/about/*\n\t\trespond @about \"about this path\"\n\t}")+
		"http://prefix.test:$PORT {\n\theader X-Site yes\n\thandle_path /app/* {\n\t\trobots {\n\t\t\tsource inline \""+strings.TrimSpace(disallow("/app/private/"))+"\"\n\t\t}\n\t\trespond page\n\t}\n\thandle_errors {\n\t\t@about path /app/*\n\t\trespond @about \"about this prefix\"\n\t}\n}\n")
	for _, tt := range []struct {
		host, ua, path string
		status         int
		body           string
	}{
		{"with.test", gptbot, "/private/x", 403, fmt.Sprint("403 GPTBot disallowed ", s.lineOf("Disallow: /private/"))},
		{"without.test", gptbot, "/private/x", 403, ""},
		{"other.test", gptbot, "/private/x", 403, ""},
		{"with.test", bingbot, "/x", 429, fmt.Sprint("429 bingbot crawl_delay ", s.lineOf("Crawl-delay"))},
		{"without.test", bingbot, "/x", 429, ""},
		{"other.test", bingbot, "/x", 429, ""},
		{"some.test", gptbot, "/private/x", 403, "for 403"},
		{"some.test", bingbot, "/x", 429, ""},
		{"path.test", gptbot, "/private/x", 403, ""},
		{"path.test", gptbot, "/private/about/x", 403, "about this path"},
		{"prefix.test", gptbot, "/app/private/x", 403, "about this prefix"},
	} {
		if tt.status == 429 {
			s.wants(200, s.rawAt(tt.host, tt.path, tt.ua), tt.host+", the first request")
		}
		got := s.rawAt(tt.host, tt.path, tt.ua)
		if got.status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.host, got.status, tt.status)
		}
		switch {
		case tt.body != "" && got.body != tt.body:
			t.Errorf("%s: %q, want %q", tt.host, got.body, tt.body)
		case tt.body == "" && (!strings.Contains(got.body, "robots.txt") || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") || got.header.Get("Cache-Control") != "no-store"):
			t.Errorf("%s: %q, %v; want a text that names robots.txt", tt.host, got.body, got.header)
		}
		if got.header.Get("X-Site") != "yes" || (tt.status == 429) != (got.header.Get("Retry-After") != "") {
			t.Errorf("%s: header %v", tt.host, got.header)
		}
	}
	for _, method := range []string{http.MethodHead, http.MethodPost} {
		got := s.do(method, fmt.Sprintf("http://localhost:%d/private/x", s.port), gptbot, "without.test", nil)
		if got.status != 403 || (method == http.MethodHead) != (got.body == "") {
			t.Errorf("%s: status %d, %q", method, got.status, got.body)
		}
	}
}

// The error routes of a site without a host are not in a subroute.
func TestErrorRouteOfOneStatusOnASiteWithoutAHost(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\troute {\n\t\t"+pacedRobots("")+"respond page\n\t}\n\thandle_errors 403 {\n\t\trespond \"for {err.status_code} {http.robots.crawler}\"\n\t}\n}\n")
	if got := s.get(gptbot, "/private/x"); got.status != 403 || got.body != "for 403 GPTBot" {
		t.Errorf("a denial: status %d, %q", got.status, got.body)
	}
	s.wants(200, s.get(bingbot, "/"), "the first request")
	if got := s.get(bingbot, "/"); got.status != 429 || !strings.Contains(got.body, "robots.txt") {
		t.Errorf("the second one: status %d, %q", got.status, got.body)
	}
}

// A second handler uses what the first one found out about the client, also
// without verify of its own.
func TestSecondHandlerUsesTheVerificationOfTheFirst(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, "{\n\t"+trustedProxies+"\n\trobots {\n\t\tcrawler SlowBot {\n\t\t\tverify lists "+o.web.URL+"/list.json\n\t\t}\n\t\tcrawler SignBot {\n\t\t\tverify signatures "+o.web.URL+"\n\t\t}\n\t}\n}\n"+
		"http://:$PORT {\n\troute {\n\t\trobots {\n\t\t\tsource inline \"User-agent: *\nDisallow:\"\n\t\t\tverify {\n\t\t\t\timpostors ignore\n\t\t\t\tresolver "+o.resolver+"\n\t\t\t}\n\t\t}\n"+
		"\t\trobots /narrow/* {\n\t\t\tsource inline \"User-agent: SlowBot\nCrawl-delay: 1000\n\nUser-agent: SignBot\nDisallow: /narrow/private/\"\n\t\t}\n"+
		"\t\theader X-Verified {http.robots.verified}\n\t\trespond page\n\t}\n}\n")
	s.becomes("verified", listedAddr, "SlowBot/1.0")
	for i := range 9 {
		got := s.via(fmt.Sprintf("198.51.100.%d", i), "SlowBot/1.0", "/narrow/")
		if want := map[bool]int{true: 200, false: 429}[i == 0]; got.status != want {
			t.Errorf("forged request %d: status %d, want %d", i, got.status, want)
		}
		if v := got.header.Get("X-Verified"); got.status == 200 && v != "impostor" {
			t.Errorf("forged request %d is %s", i, v)
		}
	}
	s.wants(200, s.via(listedAddr, "SlowBot/1.0", "/narrow/"), "the crawler itself")
	s.wants(429, s.via(listedAddr, "SlowBot/1.0", "/narrow/"), "its second request")

	host, nonce := fmt.Sprintf("localhost:%d", s.port), 0
	signed := func(path string) response {
		r, err := http.NewRequest(http.MethodGet, "http://"+host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		nonce++
		o.sign(r, host, fmt.Sprint(nonce))
		return s.do(http.MethodGet, r.URL.String(), chrome, "", r.Header)
	}
	s.eventually("the keys are read", func() bool { return signed("/").header.Get("X-Verified") == "verified" })
	s.wants(403, signed("/narrow/private/x"), "a signed request with a browser's User-Agent")
}
