package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// siteWith returns a site with a robots.txt and the given options.
func siteWith(options string) string { return siteAt("", options) }

// siteAt is siteWith for one host.
func siteAt(host, options string) string {
	return `http://` + host + `:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			Crawl-delay: 100

			User-agent: bingbot
			Crawl-delay: 1
			Disallow: /private/
			TXT
		` + options + `
	}
	respond "hello"
}
`
}

func TestLogsMetricsMatchersAndPlaceholders(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	log
	@training robots purpose ai-training
	@search robots {
		purpose search
		class crawler
	}
	robots {
		source inline "User-agent: *
Disallow: /private/"
	}
	respond /who "{http.robots.class} {http.robots.crawler}"
	respond @training "for models" 402
	respond @search "for search"
	respond "for people"
}`)
	began := time.Now()
	for range 300 {
		s.get(gptbot, "/private/x")
		s.get("MadeUpBot-"+strings.Repeat("x", 50), "/private/y")
	}
	refused := s.lines("crawler refused by robots.txt")
	windows := int(time.Since(began)/(10*time.Second)) + 2 // each crawler has one line in each window
	if len(refused) < 2 || len(refused) > 2*windows {
		t.Errorf("600 denials wrote %d lines in %d windows of ten seconds", len(refused), windows)
	}
	if l := refused[0]; l["crawler"] != "GPTBot" || l["reason"] != "disallowed" || l["line"] != float64(s.lineOf("Disallow: /private/")) || l["file"] != "Caddyfile" || l["uri"] != "/private/x" {
		t.Errorf("the line: %v", l)
	}
	for name, want := range map[string]float64{
		`caddy_robots_decisions_total{action="deny",crawler="GPTBot",reason="disallowed"}`:        300,
		`caddy_robots_decisions_total{action="deny",crawler="self-declared",reason="disallowed"}`: 300,
		`caddy_robots_origins{source="inline",state="loaded"}`:                                    1,
		`caddy_robots_rules{source="inline"}`:                                                     1,
	} {
		if got := s.metric(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := s.get(gptbot, "/x"); got.status != 402 || got.body != "for models" {
		t.Errorf("the matcher for training: %d %q", got.status, got.body)
	}
	if got := s.get(googlebot, "/x"); got.body != "for search" {
		t.Errorf("the matcher for search: %d %q", got.status, got.body)
	}
	if got := s.get(chrome, "/x"); got.body != "for people" {
		t.Errorf("without a match: %d %q", got.status, got.body)
	}
	if got := s.get(chrome, "/who"); got.body != "person " {
		t.Errorf("placeholders for a person: %q", got.body)
	}
	s.eventually("the access log has the decision", func() bool {
		for _, l := range s.lines("handled request") {
			if r, ok := l["robots"].(map[string]any); ok && r["crawler"] == "GPTBot" && r["action"] == "deny" && r["rule"] == "Disallow: /private/" {
				return true
			}
		}
		return false
	})
}

func TestValidateUsesNoNetwork(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	path := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, path, "http://:1 {\n\trobots {\n\t\tsource url "+back.URL+"/robots.txt\n\t\tfleet redis://"+strings.TrimPrefix(back.URL, "http://")+"\n\t}\n}\n")
	if out, err := exec.Command(binary, "validate", "--adapter", "caddyfile", "--config", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := back.count(); n != 0 {
		t.Errorf("%d requests to the URL", n)
	}
}
