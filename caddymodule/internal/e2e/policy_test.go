package e2e_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const ccbot = "CCBot/2.0 (https://commoncrawl.org/faq/)"

// policySite is a site with its own files and a policy.
const policySite = `
http://:$PORT {
	root * $DIR/site
	robots {
		policy no-training {
			deny Bytespider
			deny seo /archive/*
			allow CCBot
			hidden /backup-7f3a/*
		}
		crawl_delay {
			burst 100
		}
	}
	%s
	file_server
	log
}`

const policySiteFile = "User-agent: *\nDisallow: /private/\n\nUser-agent: Bytespider\nDisallow: /b/\n"

// startWith calls prepare before it starts the server; $DIR is prepare's folder.
func startWith(t *testing.T, config string, prepare func(dir string)) *server {
	t.Helper()
	dir := t.TempDir()
	prepare(dir)
	return start(t, strings.ReplaceAll(config, "$DIR", dir))
}

func writeSite(t *testing.T, dir, file string) {
	t.Helper()
	for name, body := range map[string]string{
		"robots.txt": file, "index.html": "index", "b/x.html": "b", "private/x.html": "private", "archive/x.html": "archive", "backup-7f3a/x.html": "backup",
	} {
		path := filepath.Join(dir, "site", name)
		if body == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, body)
	}
}

// waitForMerge waits until the merged robots.txt is published.
func (s *server) waitForMerge() {
	s.t.Helper()
	s.eventually("the merged robots.txt is published", func() bool {
		return strings.Contains(s.get(chrome, "/robots.txt").body, "# BEGIN lines made from a policy")
	})
}

func TestPolicyBehindEncode(t *testing.T) {
	t.Parallel()
	s := startWith(t, "http://:$PORT {\n\troute {\n\t\tencode gzip\n\t\trobots {\n\t\t\tpolicy no-ai\n\t\t}\n\t\troot * $DIR/site\n\t\tfile_server\n\t}\n}", func(dir string) { writeSite(t, dir, policySiteFile) })
	s.waitForMerge()
	plain := s.get(chrome, "/robots.txt")
	resp := s.do("GET", fmt.Sprintf("http://localhost:%d/robots.txt", s.port), chrome, "", http.Header{"Accept-Encoding": {"gzip"}})
	if resp.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("header: %v", resp.header)
	}
	zr, err := gzip.NewReader(strings.NewReader(resp.body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(zr)
	if err != nil || string(body) != plain.body {
		t.Errorf("%v\n%s", err, body)
	}
	s.wants(403, s.get(gptbot, "/"), "GPTBot")
}

// If the back end has no robots.txt, the file consists of the policy's lines. The
// policy is in force also while the file was never read.
func TestPolicyWithBackends(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(text(500, "down"))
	s := start(t, "http://:$PORT {\n\trobots {\n\t\trefresh 1s\n\t\tpolicy no-training\n\t}\n\treverse_proxy "+back.Listener.Addr().String()+"\n}")
	for range 2 {
		s.wants(503, s.get(chrome, "/robots.txt"), "a file that was never loaded")
	}
	s.wants(403, s.get(gptbot, "/x"), "GPTBot, before the file was loaded")
	back.answerWith(text(404, "none"))
	s.waitForMerge()
	if body := s.get(chrome, "/robots.txt").body; !strings.HasPrefix(body, "# BEGIN") {
		t.Errorf("the file of a site without one:\n%s", body)
	}
	s.wants(403, s.get(gptbot, "/x"), "GPTBot")
	back.answerWith(text(200, "User-agent: GPTBot\nDisallow: /shut/\n"))
	s.eventually("the site's own group is read", func() bool { return s.get(gptbot, "/x").status == 200 })
	s.wants(403, s.get(gptbot, "/shut/x"), "GPTBot's own group")
	back.answerWith(text(500, "down"))
	s.get(chrome, "/robots.txt")
	if body := s.get(chrome, "/robots.txt").body; !strings.Contains(body, "User-agent: GPTBot\nDisallow: /shut/") || !strings.Contains(body, "User-agent: CCBot") {
		t.Errorf("while the back end is down:\n%s", body)
	}
}

// This file is too large for the policy's lines.
func TestFailedMergeKeepsTheSitesFile(t *testing.T) {
	t.Parallel()
	large := policySiteFile + strings.Repeat("# comment\n", 51_100)
	s := startWith(t, fmt.Sprintf(policySite, ""), func(dir string) { writeSite(t, dir, large) })
	s.wants(403, s.get(ccbot, "/private/x.html"), "the site's own rules are in force")
	s.wants(200, s.get(gptbot, "/"), "the policy is not in force")
	if resp := s.get(chrome, "/robots.txt"); resp.body != large {
		t.Errorf("published: %d octets, want %d", len(resp.body), len(large))
	}
	if got := s.lines("the policy can't be merged into robots.txt: only the site's own robots.txt is in force"); len(got) != 1 || !strings.Contains(fmt.Sprint(got[0]["error"]), "500 KiB") {
		t.Errorf("log: %v", got)
	}
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
