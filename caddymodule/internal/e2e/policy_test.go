package e2e_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// waitForMerge waits until the merged robots.txt is published.
func (s *server) waitForMerge() {
	s.t.Helper()
	s.eventually("the merged robots.txt is published", func() bool {
		return strings.Contains(s.get(chrome, "/robots.txt").body, "# BEGIN lines made from a policy")
	})
}

// Real crawlers that obey the merged file are never refused.
func TestPoliteCrawlersObeyAMergedFile(t *testing.T) {
	t.Parallel()
	config := strings.Replace(fmt.Sprintf(crawlSite, "{\n\t\tpolicy {\n\t\t\tdeny scraper /one.html\n\t\t\tdeny Wget /two.html\n\t\t\tdeny ai-training\n\t\t\tsignal search=yes\n\t\t}\n\t\tcrawl_delay {\n\t\t\tburst 3\n\t\t}\n\t}"),
		"User-agent: Scrapy\n", "User-agent: Other\n", 1)
	for name, crawl := range map[string]func(*testing.T, *server) string{"wget": politeWget, "scrapy": politeScrapy} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: nothing is tested", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := start(t, strings.Replace(config, "User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /old.bak\nDisallow: /shut/secret.html\nDisallow: /~tilde/\n", 1))
			s.waitForMerge()
			got := crawl(t, s)
			if strings.Contains(strings.ReplaceAll(got, "SECRET of Scrapy", ""), "SECRET") {
				t.Errorf("it got a disallowed page: %s", got)
			}
			if !strings.Contains(got, "page open") {
				t.Errorf("it lacks an allowed page: %s", got)
			}
			if denied := map[string]string{"wget": "page two", "scrapy": "page one"}[name]; strings.Contains(got, denied) {
				t.Errorf("it got %q, which the policy denies", denied)
			}
			s.eventually("the requests are in the log", func() bool { return statuses(s)[200] >= 4 })
			counts := statuses(s)
			if counts[403] != 0 || counts[429] != 0 {
				t.Errorf("statuses that a polite crawler got: %v", counts)
			}
		})
	}
}

func politeWget(t *testing.T, s *server) string {
	dir := t.TempDir()
	out, _ := exec.Command("wget", "--wait", "0.3", "-r", "-l", "3", "-nv", "-t", "1", "-T", "10", "-P", dir, fmt.Sprintf("http://localhost:%d/", s.port)).CombinedOutput()
	t.Logf("wget:\n%s", out)
	return contents(t, dir)
}

func politeScrapy(t *testing.T, s *server) string {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "spider.py"), spider)
	cmd := exec.Command("scrapy", "runspider", "spider.py", "-o", "pages.jl", "-a", fmt.Sprintf("start_url=http://localhost:%d/", s.port),
		"-s", "ROBOTSTXT_OBEY=True", "-s", "DOWNLOAD_DELAY=0.3", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scrapy: %v\n%s", err, out)
	}
	return contents(t, dir)
}
