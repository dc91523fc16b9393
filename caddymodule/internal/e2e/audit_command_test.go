package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// auditConfig logs requests in two formats.
const auditConfig = `http://localhost:$PORT {
	log plain {
		output file access.json
		format json
	}
	log console {
		output file access.log
		format console {
			time_format rfc3339_nano
		}
	}
	robots {
		source inline "User-agent: *
Disallow: /private/
Crawl-delay: 100

User-agent: GPTBot
Disallow: /"
		publish
		mode $MODE
	}
	respond page
}`

// The audit of a log from a server in monitor mode gives the same results as a
// server that enforces the same rules on the same requests.
func TestAuditMatchesTheServer(t *testing.T) {
	t.Parallel()
	requests := [][2]string{
		{gptbot, "/a"}, {gptbot, "/robots.txt"}, {chrome, "/private/"}, {chrome, "/"}, {"ExampleBot/1.0 (+https://example.org)", "/"},
		{"ExampleBot/1.0 (+https://example.org)", "/b"}, {"ExampleBot/1.0 (+https://example.org)", "/private/b"}, {"curl/8.5.0", "/private/"}, {"", "/private/"},
	}
	logs := t.TempDir()
	run := func(mode string) (statuses map[int]int64, s *server) {
		s = start(t, strings.ReplaceAll(strings.ReplaceAll(auditConfig, "$MODE", mode), "output file ", "output file "+logs+"/"+mode+"-"))
		statuses = make(map[int]int64)
		for _, r := range requests {
			statuses[s.get(r[0], r[1]).status]++
		}
		return statuses, s
	}
	answers, _ := run("enforce")
	watched, s := run("monitor")
	if answers[403] != 2 || answers[429] != 1 || watched[200] != int64(len(requests)) {
		t.Fatalf("answers %v, in monitor mode %v", answers, watched)
	}
	config := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, config, strings.ReplaceAll(strings.ReplaceAll(auditConfig, "$MODE", "enforce"), "$PORT", "8080"))
	for _, name := range []string{"access.json", "access.log"} {
		log := filepath.Join(logs, "monitor-"+name)
		s.eventually("a log of all requests", func() bool {
			text, _ := os.ReadFile(log)
			return bytes.Count(text, []byte("\n")) >= len(requests)
		})
		out, err := exec.Command(binary, "robots", "audit", "--json", "--config", config, log).Output()
		if err != nil {
			t.Fatal(err)
		}
		r := new(audit.Report)
		if err := json.Unmarshal(out, r); err != nil {
			t.Fatal(err)
		}
		if r.Requests != int64(len(requests)) || r.Unreadable != 0 || r.People != 2 || r.WouldHave.Denied != answers[403] || r.WouldHave.Throttled != answers[429] {
			t.Errorf("%s: %d requests, %d unreadable, %d of people, would have %+v, but the server answered %v", name, r.Requests, r.Unreadable, r.People, r.WouldHave, answers)
		}
		if len(r.Hosts) != 1 || r.Hosts[0].Name != "localhost" {
			t.Errorf("%s: hosts %+v", name, r.Hosts)
		}
	}
	// The comparison of the two configurations has what the two servers answered.
	old := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, old, strings.ReplaceAll(strings.ReplaceAll(auditConfig, "$MODE", "monitor"), "$PORT", "8080"))
	out, err := exec.Command(binary, "robots", "audit", "--config", old, "--config", config, filepath.Join(logs, "monitor-access.log")).Output()
	want := fmt.Sprintf("%d more requests are refused, 0 more are allowed", answers[403]+answers[429])
	changes := fmt.Sprintf("deny, was would_deny: %d; throttle, was would_throttle: %d", answers[403], answers[429])
	if err != nil || !strings.Contains(string(out), "Compared with "+old+"\n") || !strings.Contains(string(out), want) || !strings.Contains(string(out), changes) {
		t.Errorf("%v, want %q and %q:\n%s", err, want, changes, out)
	}
}
