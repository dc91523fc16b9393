package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
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

// Of two handlers, the first that a request reaches decides. The later one only adds
// its X-Robots-Tag. Nobody can know before whether a request reaches both, so health
// tells it.
func TestTheFirstOfTwoHandlersDecides(t *testing.T) {
	t.Parallel()
	handler := func(matcher, options string) string {
		return strings.Replace(pacedRobots(options), "robots", "robots "+matcher, 1)
	}
	s := start(t, "http://:$PORT {\n\tlog\n\t@a header X-A 1\n\t@b header X-B 1\n\troute {\n\t\t"+
		handler("@a", "mode monitor\n\t\t\tx_robots_tag * noindex")+handler("@b", "x_robots_tag * nofollow")+"respond {http.robots.action}\n\t}\n}\n")
	get := func(ua, path string, fields ...string) response {
		header := make(http.Header)
		for _, f := range fields {
			header.Set(f, "1")
		}
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", header)
	}
	s.wants(403, get(gptbot, "/private/x", "X-B"), "the second handler alone")
	for _, ua := range []string{gptbot, chrome} {
		want := map[string]string{gptbot: "would_deny", chrome: "pass"}[ua]
		got := get(ua, "/private/x", "X-A", "X-B")
		if tags := strings.Join(got.header.Values("X-Robots-Tag"), ", "); got.status != 200 || got.body != want || tags != "noindex, nofollow" && tags != "nofollow, noindex" {
			t.Errorf("both: status %d, %q, X-Robots-Tag %q, want 200, %q and both tags", got.status, got.body, tags, want)
		}
	}
	for i, want := range []int{200, 200, 200, 429} { // the first three only in the budget of the monitor
		fields := []string{"X-A", "X-B"}
		if i > 1 {
			fields = fields[1:]
		}
		s.wants(want, get(bingbot, "/", fields...), fmt.Sprintf("request %d in a Crawl-delay", i))
	}
	health := adminValue[statusapi.Health](s, "health")
	if i := slices.IndexFunc(health.Problems, func(p statusapi.Problem) bool { return p.Kind == "handlers" }); i < 0 || !strings.Contains(health.Problems[i].Message, "(header X-A 1)") {
		t.Errorf("health: %+v", health.Problems)
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
