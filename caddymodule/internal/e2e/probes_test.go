package e2e_test

import (
	"fmt"

	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

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
