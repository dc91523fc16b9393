package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// A health check that is refused takes a server out of service. So `*` never
// binds probes; and because anyone can send a probe's name, from the internet it
// opens only a few paths.
func TestProbesPass(t *testing.T) {
	t.Parallel()
	const (
		kubelet = "kube-probe/1.31"
		direct  = ""
		private = "10.2.3.4"
		public  = "203.0.113.9"
		forged  = "10.0.0.1, 203.0.113.10"
	)
	s := start(t, behindProxy("User-agent: *\nDisallow: /\nCrawl-delay: 100\n", "\t\tstrict on\n"))
	request := func(path, userAgent, client string) int {
		t.Helper()
		if client == direct {
			return s.get(userAgent, path).status
		}
		return s.from(client, "GET", userAgent, path).status
	}
	for _, ua := range []string{
		kubelet, "ELB-HealthChecker/2.0", "GoogleHC/1.0", "Acme-HealthCheck/1.2", "Blackbox Exporter/0.25.0",
		"Amazon-Route53-Health-Check-Service (ref 1; report http://amzn.to/1vsZADi)",
	} {
		for _, client := range []string{direct, private, public} {
			for range 3 { // three nodes of a balancer
				if got := request("/healthz", ua, client); got != 200 {
					t.Errorf("%s from %q: %d", ua, client, got)
				}
			}
		}
	}
	for i := range 40 {
		path := fmt.Sprint("/page/", i)
		if got := request(path, kubelet, private); got != 200 {
			t.Errorf("from a private address, path %d: %d", i, got)
		}
		want := 200
		if i >= 15 { // the first path was /healthz
			want = 403
		}
		if got := request(path, kubelet, public); got != want {
			t.Errorf("from the internet, path %d: %d", i, got)
		}
		if got := request(path, kubelet, forged); i >= 16 && got != 403 {
			t.Errorf("from the internet with a forged address, path %d: %d", i, got)
		}
	}
	if got := request("/healthz", kubelet, public); got != 200 {
		t.Errorf("the path of the health check, after too many others: %d", got)
	}
}

func TestRequestsThatAreNoCrawlingPass(t *testing.T) {
	t.Parallel()
	const tool = "mytool/1.0 (admin@example.org)"
	for _, options := range []string{"", "\t\tstrict on\n"} {
		s := start(t, behindProxy("User-agent: *\nDisallow: /private/\n", options))
		request := func(method, userAgent string, want int, fields ...string) {
			t.Helper()
			s.wants(want, s.from("203.0.113.9", method, userAgent, "/private/api", fields...), fmt.Sprintf("%q: %s by %s", options, method, userAgent))
		}
		passes := 200
		if options != "" {
			passes = 403
		}
		request("GET", tool, 403)
		request("GET", tool, passes, "Authorization", "Bearer x")
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			request(method, tool, passes)
			request(method, gptbot, 403, "Authorization", "Bearer x")
		}
	}
}

// The warning about a monitor that requests too many URLs is the only one, and its
// advice helps.
func TestBusyProbesCanBeExempt(t *testing.T) {
	t.Parallel()
	const file, client = "User-agent: *\nDisallow: /\n", "203.0.113.9"
	for _, exempt := range []bool{false, true} {
		options := ""
		if exempt {
			options = "\t\texempt Prometheus acme-probe from 203.0.113.0/24\n"
		}
		s := start(t, strings.Replace(behindProxy(file, options), "respond", "log\n\trespond", 1))
		refused := 0
		for i := range 20 {
			for _, ua := range []string{"Blackbox Exporter/0.24.0", "acme-probe/1.0"} {
				if s.from(client, "GET", ua, fmt.Sprint("/page/", i)).status != 200 {
					refused++
				}
			}
		}
		out, err := s.status()
		if want := map[bool]int{false: 8}[exempt]; refused != want || err != nil {
			t.Errorf("exempt %v: %d refused, want %d; status: %v\n%s", exempt, refused, want, err, out)
		}
		if !exempt {
			checkClasses(t, s)
		}
		if said := strings.Contains(out, "8 requests of probes that requested too many URLs") && strings.Contains(out, "203.0.113.0/24"); said == exempt {
			t.Errorf("exempt %v: status\n%s", exempt, out)
		}
	}
}

// checkClasses checks that the probes have their class everywhere, refused or not.
func checkClasses(t *testing.T, s *server) {
	t.Helper()
	s.eventually("the access log has all requests", func() bool { return len(s.lines("handled request")) >= 40 })
	for _, message := range []string{"handled request", "crawler refused by robots.txt"} {
		for _, l := range s.lines(message) {
			fields, ok := l["robots"].(map[string]any)
			if !ok {
				fields = l
			}
			if fields["class"] != "probe" {
				t.Errorf("%s: %v", message, l)
			}
		}
	}
	for class, want := range map[string]float64{"probe": 4, "self-declared": 0} {
		if n := s.metric(`caddy_robots_decisions_total{action="deny",crawler="` + class + `",reason="disallowed"}`); n != want {
			t.Errorf("%v refused requests of class %s in the metrics, want %v", n, class, want)
		}
	}
	for _, c := range adminValue[statusapi.Crawlers](s, "crawlers").Crawlers {
		if c.Class != "probe" {
			t.Errorf("%s is of class %s", c.Name, c.Class)
		}
	}
	for _, f := range adminValue[statusapi.Recent](s, "recent").Refusals {
		if f.Class != "probe" {
			t.Errorf("a refusal of %s is of class %s", f.Crawler, f.Class)
		}
	}
}

// A proxy that the server does not trust has a private address, as a balancer's
// health check has.
func TestProbesBehindAnyProxyMayRequestFewPaths(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /\"\n\t}\n\trespond hello\n}\n")
	refused := func(fields http.Header) (n int) {
		for i := range 20 {
			if s.do("GET", fmt.Sprintf("http://localhost:%d/page/%d", s.port, i), "kube-probe/1.31", "", fields).status != 200 {
				n++
			}
		}
		return n
	}
	if n := refused(nil); n != 0 {
		t.Errorf("without a proxy, %d were refused", n)
	}
	for _, field := range []string{"X-Real-IP", "Via"} {
		if n := refused(http.Header{http.CanonicalHeaderKey(field): {"203.0.113.9"}}); n != 4 {
			t.Errorf("with %s, %d were refused, want 4", field, n)
		}
	}
}

// A probe that is refused is said first, by every command.
func TestRefusedProbesAreSaidFirst(t *testing.T) {
	t.Parallel()
	const file = "User-agent: kube-probe\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n"
	s := start(t, behindProxy(file, ""))
	s.wants(403, s.get("kube-probe/1.31", "/healthz"), "a probe that a group names")
	problems := adminValue[statusapi.Health](s, "health").Problems
	if len(problems) == 0 || problems[0].Kind != "probe" || problems[0].Subject != "kube-probe" {
		t.Errorf("health: %+v", problems)
	}
	if out, err := s.status(); err == nil || !strings.Contains(out, "probe kube-probe") {
		t.Errorf("status: %v\n%s", err, out)
	}

	const busy, client = "Blackbox Exporter/0.24.0", "203.0.113.9"
	for i := range 30 {
		s.from(client, "GET", busy, fmt.Sprint("/private/", i))
	}
	problems = adminValue[statusapi.Health](s, "health").Problems
	if len(problems) < 2 || problems[0].Subject != "kube-probe" || problems[1].Kind != "probe" || problems[1].Subject != "Prometheus" ||
		problems[1].Severity != statusapi.Warning || !strings.HasPrefix(problems[1].Message, "14 requests ") || !strings.Contains(problems[1].Advice, "203.0.113.0/24") {
		t.Errorf("health after too many URLs: %+v", problems)
	}

	for i := range 60 { // invented names come after those of the registry
		s.from(client, "GET", fmt.Sprintf("a%d-probe/1.0", i%5), "/private/more")
	}
	problems = adminValue[statusapi.Health](s, "health").Problems
	if len(problems) != 2 || problems[1].Subject != "Prometheus, a0-probe, a1-probe and 3 more" {
		t.Errorf("health after too many names: %+v", problems)
	}

	dir := t.TempDir()
	robots, log := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "access.log")
	writeFile(t, robots, file)
	writeFile(t, log, strings.Repeat(`10.0.0.1 - - [07/Nov/2026:12:00:00 +0000] "GET /healthz HTTP/1.1" 200 5 "-" "kube-probe/1.31"`+"\n", 3))
	out, err := exec.Command(binary, "robots", "audit", "--robots", robots, log).Output()
	if first, _, _ := strings.Cut(string(out), "\n"); err != nil || !strings.Contains(first, "kube-probe (3 of 3 requests)") {
		t.Errorf("audit: %v\n%s", err, out)
	}
	var lines strings.Builder
	for _, ua := range []string{busy, "acme-probe/1.0"} {
		for i := range 30 {
			fmt.Fprintf(&lines, `203.0.113.%d - - [07/Nov/2026:12:00:00 +0000] "GET /private/%d HTTP/1.1" 200 5 "-" "%s"`+"\n", len(ua), i, ua)
		}
	}
	writeFile(t, log, lines.String())
	out, err = exec.Command(binary, "robots", "audit", "--robots", robots, log).Output()
	if first, _, _ := strings.Cut(string(out), "\n"); err != nil || !strings.Contains(first, "Prometheus (14 of 30 requests)") || !strings.Contains(first, "acme-probe (14 of 30 requests)") {
		t.Errorf("audit of too many URLs: %v\n%s", err, out)
	}
	cmd := exec.Command(binary, "robots", "init", "--robots", robots)
	cmd.Dir = dir
	notes, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(notes), "kube-probe") {
		t.Errorf("init: %v\n%s", err, notes)
	}
}

// Two Request-rate or Visit-time lines of a group are counted separately.
func TestLimitsOfOneGroupAreCountedSeparately(t *testing.T) {
	t.Parallel()
	s := start(t, behindProxy("User-agent: bingbot\nRequest-rate: 100/1h\nRequest-rate: 1/1h\n\nUser-agent: GPTBot\nRequest-rate: 1/1h\nRequest-rate: 100/1h\n", ""))
	for _, ua := range []string{bingbot, gptbot} {
		s.get(ua, "/")
		s.wants(429, s.get(ua, "/"), ua)
	}
	lines := adminValue[statusapi.Lines](s, "lines").Lines
	got := map[int]uint64{}
	for _, l := range lines {
		got[l.Number] += l.Throttled
	}
	if len(got) != 2 || got[s.lineOf("Request-rate: 1/1h")] != 1 || got[s.lineOf("User-agent: GPTBot")+1] != 1 {
		t.Errorf("throttled by line: %v", got)
	}
}

// A limit that moves in its group keeps its counts.
func TestLimitsThatMoveKeepTheirCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, after string }{
		{"Request-rate", "Request-rate: 1/1h\nRequest-rate: 100/2h\n", "Request-rate: 100/2h\nRequest-rate: 1/1h\n"},
		{"Request-rate with another above", "Request-rate: 1/1h\n", "Request-rate: 100/2h\nRequest-rate: 1/1h\n"},
		{"Request-rate with a window", "Request-rate: 1/1h 0000-1800\nRequest-rate: 1/1h 1801-2359\n", "Request-rate: 1/1h 1801-2359\nRequest-rate: 1/1h 0000-1800\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "robots.txt")
			writeFile(t, file, "User-agent: bingbot\n"+tt.before)
			s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource file "+file+"\n\t}\n\trespond page\n}\n")
			throttled := func() (line statusapi.Line) {
				s.get(bingbot, "/")
				s.wants(429, s.get(bingbot, "/"), "another request")
				for _, l := range adminValue[statusapi.Lines](s, "lines").Lines {
					if l.Throttled > line.Throttled {
						line = l
					}
					if l.Removed {
						t.Errorf("a limit counts as removed: %+v", l)
					}
				}
				return line
			}
			before := throttled()
			writeFile(t, file, "User-agent: bingbot\n"+tt.after)
			s.adminRequest("POST", "refresh", 200, nil)
			if after := throttled(); after.Number == before.Number || after.Throttled <= before.Throttled {
				t.Errorf("before the move %+v\nafter it %+v", before, after)
			}
		})
	}
}
