package main_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

func TestStatusCommand(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	run := func(args ...string) (string, error) {
		cmd := exec.Command(binary, append([]string{"robots", "status", "--address", fmt.Sprintf("localhost:%d", s.admin)}, args...)...)
		cmd.Env = s.env()
		out, err := cmd.Output()
		return string(out), err
	}
	out, err := run()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Crawlers: 4 requests, 1 passed, 3 denied", "People:   2 requests", "no problems", "GPTBot", "ai-training", "Disallow: /private/", "*.pages.test", "PageBot", "/private/report", "hidden"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	out, err = run("--json", "--site", "shop.test")
	var report struct {
		status.Summary
		Busiest []status.Crawler `json:"busiest_crawlers"`
		Files   []status.Policy  `json:"robots_txt"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &report)
	}
	if err != nil || report.Summary.Crawlers.Day.Requests != 3 || len(report.Busiest) != 2 || len(report.Files) != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := run("--span", "year"); err == nil {
		t.Error("--span year is accepted")
	}
	s.end()
	if _, err := run(); err == nil {
		t.Error("no error without a server")
	}
}
