package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The block that the command prints for a site is valid there, and refuses no
// request.
func TestInitCommandPrintsAValidBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "robots.txt"), `User-agent: GPTBot
User-agent: CCBot
User-agent: ClaudeBot
Disallow: /

User-agent: *
Noindex: /old
Disallow: /private
Crawl-delay: 600
`)
	writeFile(t, filepath.Join(dir, "private"), "page")
	site := "http://localhost:$PORT {\n\troot " + dir + "\n\tfile_server\n}\n"
	writeFile(t, filepath.Join(dir, "Caddyfile"), strings.Replace(site, "$PORT", "8080", 1))
	cmd := exec.Command(binary, "robots", "init")
	cmd.Dir = dir
	block, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mode monitor", "max 60s", "policy no-training", "noindex_lines on"} {
		if !strings.Contains(string(block), want) {
			t.Errorf("the block has no %q:\n%s", want, block)
		}
	}
	s := start(t, strings.Replace(site, "\tfile_server", string(block)+"\tfile_server", 1))
	s.wants(200, s.get(googlebot, "/private"), "a disallowed path in monitor mode")
	s.eventually("the would-be denial is counted", func() bool {
		return s.metric(`caddy_robots_decisions_total{action="would_deny",crawler="Googlebot",reason="disallowed"}`) == 1
	})
}
