package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// examples returns requests of ExampleBot for a host, one each step seconds from
// 12:00 on.
func examples(host, target string, n, step int) string {
	var b strings.Builder
	for i := range n {
		at := i * step
		fmt.Fprintf(&b, "%s 192.0.2.1 - - [07/Nov/2026:12:%02d:%02d +0000] \"GET %s HTTP/1.1\" 200 5 \"-\" \"ExampleBot/1.0\"\n", host, at/60, at%60, target)
	}
	return b.String()
}

// Each limit of the pace counts the requests that it applied to, and the one that throttled
// those that it did.
func TestLimitThatDecided(t *testing.T) {
	for name, tt := range map[string]struct {
		robots string
		step   int
		want   map[int][2]int64 // by line
	}{
		"Visit-time":             {"User-agent: *\nCrawl-delay: 10\nVisit-time: 0600-0800\n", 20, map[int][2]int64{2: {5, 0}, 3: {5, 5}}},
		"the slowest of several": {"User-agent: *\nCrawl-delay: 5\nRequest-rate: 1/1m\n", 20, map[int][2]int64{2: {5, 0}, 3: {5, 3}}},
		"none":                   {"User-agent: *\nCrawl-delay: 5\nRequest-rate: 1/10s\n", 20, map[int][2]int64{2: {5, 0}, 3: {5, 0}}},
	} {
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(examples("a.test", "/", 5, tt.step)))}, Sites: oneSite(tt.robots)})
		for line, want := range tt.want {
			if l := ruleOf(t, r, line); l.Applied != want[0] || l.Denied != want[1] {
				t.Errorf("%s: line %d applied to %d and refused %d, want %v", name, line, l.Applied, l.Denied, want)
			}
		}
	}
}

// Addresses that no client on the internet has are those of verification.
func TestSpecialAddresses(t *testing.T) {
	for network, private := range map[string]bool{
		"172.217.0.%d": false, "172.31.0.%d": true, "172.32.0.%d": false, "100.64.0.%d": true, "100.128.0.%d": false, "169.254.1.%d": true, "10.0.0.%d": true,
		"fd00::%d": true, "2001:db8::%d": false, "::ffff:10.0.0.%d": true, "64:ff9b::10.0.0.%d": true, "64:ff9b::8.8.8.%d": false, "fdhost%d.example": false,
	} {
		var text strings.Builder
		for i := range 30 {
			text.WriteString(strings.Replace(examples("a.test", "/", 1, 0), "192.0.2.1", fmt.Sprintf(network, i+1), 1))
		}
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text.String()))}})
		if warned(r, "few_addresses") != private {
			t.Errorf("%s: %v", network, r.Warnings)
		}
	}
}
