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

// twoSites returns two sites with robots.txt files.
func twoSites(a, b string) []Site {
	sites := append(oneSite(a), oneSite(b)...)
	sites[0].Hosts, sites[1].Hosts = []string{"a.test"}, []string{"b.test"}
	return sites
}

// The group of a crawler is the one that refused most of its requests, not one that
// let more of them pass.
func TestGroupThatDecided(t *testing.T) {
	log := memory("access.log", []byte(strings.ReplaceAll(examples("a.test", "/", 9, 60)+examples("b.test", "/", 2, 60), "ExampleBot", "GPTBot")))
	r := mustRun(t, Options{Files: []logfile.File{log}, Sites: twoSites("User-agent: *\nDisallow: /x\n", "# b\nUser-agent: GPTBot\nDisallow: /\n")})
	if c := crawlerOf(t, r, "GPTBot"); c.Group != "GPTBot" || c.GroupSource != 1 || c.GroupLine != 2 || c.Denied != 2 {
		t.Errorf("%+v", c)
	}
	r = mustRun(t, Options{Files: []logfile.File{log}, Sites: oneSite("User-agent: GPTBot\nDisallow: /a\n\nUser-agent: GPTBot\nUser-agent: GPT\nDisallow: /b\n")})
	if got := ruleOf(t, r, 6).Group; got != "GPTBot, GPT" {
		t.Errorf("group %q of a line", got)
	}
}

// The pace of a crawler is compared with the limit that throttled most of its
// requests, not with a slower one that throttled fewer.
func TestLimitThatDecided(t *testing.T) {
	for name, tt := range map[string]struct {
		sites     []Site
		log, want string
		interval  float64
		throttled int64
	}{
		"Visit-time": {
			oneSite("User-agent: *\nCrawl-delay: 10\nVisit-time: 0600-0800\n"), examples("a.test", "/", 5, 20),
			"Visit-time: 0600-0800", 0, 5,
		},
		"the slowest of several": {
			oneSite("User-agent: *\nCrawl-delay: 5\nRequest-rate: 1/1m\n"), examples("a.test", "/", 3, 1),
			"Request-rate: 1/1m", 60, 2,
		},
		"none": {
			oneSite("User-agent: *\nCrawl-delay: 5\nRequest-rate: 1/10s\n"), examples("a.test", "/", 3, 20),
			"Request-rate: 1/10s", 10, 0,
		},
		"the group of another host": {
			twoSites("User-agent: *\nCrawl-delay: 2\n", "User-agent: *\nCrawl-delay: 20\n"), examples("a.test", "/", 9, 60) + examples("b.test", "/", 3, 10),
			"Crawl-delay: 20", 20, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(tt.log))}, Sites: tt.sites})
			if p := crawlerOf(t, r, "ExampleBot").Pace; p == nil || p.Text != tt.want || p.Interval != tt.interval || p.Throttled != tt.throttled || (p.Factor > 0) != (p.Interval > 0) {
				t.Errorf("%+v", p)
			}
		})
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
