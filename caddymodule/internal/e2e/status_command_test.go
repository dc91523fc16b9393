package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// status runs `caddy robots status` and returns what it prints.
func (s *server) status(args ...string) (string, error) {
	cmd := exec.Command(binary, append([]string{"robots", "status", "--address", fmt.Sprintf("localhost:%d", s.admin)}, args...)...)
	cmd.Env = s.env()
	out, err := cmd.Output()
	return string(out), err
}

// reasonsAddUp checks that the numbers of refused requests in the status are the sums
// of those by reason, and that the reasons are among them.
func (s *server) reasonsAddUp(reasons ...string) {
	s.t.Helper()
	out, _ := s.status() // the exit status says whether there is a problem
	found, lines := map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`(?mi)^ *(?:denied|throttled): +(\d+)(?:: (.*))?$`).FindAllStringSubmatch(out, -1) {
		sum := 0
		for part := range strings.SplitSeq(m[2], ", ") {
			if reason, number, ok := strings.Cut(part, " "); ok {
				n, _ := strconv.Atoi(number)
				sum += n
				found[reason] = true
			}
		}
		if lines++; strconv.Itoa(sum) != m[1] {
			s.t.Errorf("%s is not the sum", m[0])
		}
	}
	for _, reason := range reasons {
		if !found[reason] {
			s.t.Errorf("no request was refused for %s", reason)
		}
	}
	if lines < 2 || s.t.Failed() {
		s.t.Errorf("status:\n%s", out)
	}
}

func TestStatusCommand(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	run := s.status
	out, err := run()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Crawlers:  4 requests, 1 passed", "Denied:    3: ", "People:    2 requests", "No problems.", "GPTBot", "ai-training", "Disallow: /private/", "*.pages.test", "PageBot", "/private/report", "(hidden path)", "hidden      Caddyfile:"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	s.reasonsAddUp("disallowed", "hidden")
	out, err = run("--json", "--site", "shop.test")
	var report struct {
		statusapi.Summary
		Busiest []statusapi.Crawler `json:"busiest_crawlers"`
		Files   []statusapi.Origin  `json:"robots_txt"`
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

// In a folder with a Caddyfile, the command takes the address from it, and prints
// nothing on standard error.
func TestStatusCommandInTheFolderOfTheCaddyfile(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	cmd := exec.Command(binary, "robots", "status")
	cmd.Dir, cmd.Env = s.dir, s.env()
	var problems strings.Builder
	cmd.Stderr = &problems
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "shop.test") || problems.String() != "" {
		t.Errorf("%v\n%s\nstandard error:\n%s", err, out, &problems)
	}
}

// While a grace period runs, the status shows the earlier version of the file.
func TestStatusCommandShowsGrace(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	if out, err := s.status(); err != nil || strings.Contains(out, "Grace periods") {
		t.Errorf("before a change: %v\n%s", err, out)
	}
	writeFile(t, filepath.Join(s.dir, "shop/robots.txt"), "User-agent: *\nDisallow: /other/\nAllow: /other/open\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n")
	s.adminRequest(http.MethodPost, "refresh", 200, nil)
	s.wants(404, s.at("shop.test", googlebot, "/other/x"), "a path without a file, which the earlier robots.txt allows")
	s.wants(403, s.at("shop.test", gptbot, "/"), "a crawler without a grace period")
	s.wants(404, s.at("shop.test", newcomer, "/other/open"), "a path without a file, which a line allows")
	out, err := s.status("--site", "shop.test")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Grace periods: crawlers that may still follow an earlier robots.txt\n", "search engines", "GPTBot, CCBot  Disallow: /  ", "Disallow: /private/ (removed)"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	const allowing = "Allow: /other/open"
	if rules := adminValue[statusapi.Lines](s, "lines").Lines; strings.Contains(out, allowing) || !slices.ContainsFunc(rules, func(r statusapi.Line) bool { return r.Rule == allowing }) {
		t.Errorf("of the rules %+v, the status must show only those that refused requests:\n%s", rules, out)
	}
	if list := adminValue[statusapi.Origins](s, "origins?grace=1").Origins; len(list) != 1 || len(list[0].Grace) != 1 || list[0].Grace[0].Crawler != "search" {
		t.Errorf("%+v", list)
	}
	s.adminRequest(http.MethodPost, "refresh?grace=off", 200, nil)
	if out, err := s.status(); err != nil || strings.Contains(out, "Grace periods") {
		t.Errorf("after the grace period was ended: %v\n%s", err, out)
	}
}

// A line of source inline is not called one of the site's robots.txt.
func TestStatusCommandNamesTheSourceOfALine(t *testing.T) {
	t.Parallel()
	s := start(t, siteWith(""))
	s.wants(403, s.get(googlebot, "/private/x"), "a disallowed path")
	if out, err := s.status(); err != nil || !strings.Contains(out, fmt.Sprintf("Caddyfile:%d", s.lineOf("Disallow: /private/"))) || strings.Contains(out, "robots.txt:2") {
		t.Errorf("%v\n%s", err, out)
	}
	if c := s.check("localhost", "/private/x", "GPTBot", ""); c.File != "Caddyfile" || !strings.Contains(c.Message, fmt.Sprintf(", line %d of Caddyfile, ", s.lineOf("Disallow: /private/"))) {
		t.Errorf("check: %+v", c)
	}
}
