package e2e_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// crawlSite is a site whose robots.txt has only lines that the parsers of both
// crawlers understand: groups, Allow before the Disallow that it excepts, percent
// escapes and Crawl-delay. Wildcards, which wget does not support, are only in the
// group for Scrapy.
const crawlSite = `
http://:$PORT {
	respond /robots.txt "User-agent: Wget
Allow: /shut/open.html
Disallow: /shut/
Disallow: /%%7Etilde/
Crawl-delay: 0.2

User-agent: Scrapy
Allow: /shut/open.html
Disallow: /shut/
Disallow: /*.bak$
Disallow: /*?print=
Disallow: /%%7Etilde/
Crawl-delay: 0.2

User-agent: *
Disallow: /
"
	robots %s
	header Content-Type text/html
	respond / "<a href=/one.html>1</a> <a href=/shut/secret.html>2</a> <a href=/shut/open.html>3</a> <a href=/~tilde/secret.html>4</a> <a href=/two.html>5</a> <a href=/old.bak>6</a> <a href=/two.html?print=1>7</a>"
	respond /one.html "page one"
	respond /two.html "page two"
	respond /shut/open.html "page open"
	respond /shut/secret.html "SECRET"
	respond /~tilde/secret.html "SECRET"
	respond /old.bak "SECRET of Scrapy"
	log
}`

func TestPoliteAndImpoliteWget(t *testing.T) {
	t.Parallel()
	wget, err := exec.LookPath("wget")
	if err != nil {
		t.Log("wget is not installed: nothing is tested")
		return
	}
	run := func(s *server, args ...string) (got string) {
		dir := t.TempDir()
		cmd := exec.Command(wget, append(args, "-r", "-l", "3", "-nv", "-t", "1", "-T", "10", "-P", dir, fmt.Sprintf("http://localhost:%d/", s.port))...)
		out, _ := cmd.CombinedOutput() // wget fails if one page fails
		t.Logf("wget %v:\n%s", args, out)
		return contents(t, dir)
	}
	polite := start(t, fmt.Sprintf(crawlSite, ""))
	got := run(polite, "--wait", "0.3")
	for _, page := range []string{"page one", "page two", "page open"} {
		if !strings.Contains(got, page) {
			t.Errorf("polite wget lacks %q", page)
		}
	}
	checkNeverRefused(t, polite)

	impolite := start(t, fmt.Sprintf(crawlSite, "{\n\t\tcrawl_delay {\n\t\t\tburst 100\n\t\t}\n\t}"))
	got = run(impolite, "-e", "robots=off")
	if strings.Contains(strings.ReplaceAll(got, "SECRET of Scrapy", ""), "SECRET") {
		t.Error("impolite wget got a disallowed page")
	}
	for _, page := range []string{"page one", "page two", "page open"} {
		if !strings.Contains(got, page) {
			t.Errorf("impolite wget lacks %q, which is allowed", page)
		}
	}
	impolite.eventually("impolite wget was denied twice", func() bool { return statuses(impolite)[http.StatusForbidden] >= 2 })
}

// spider follows every link and saves every page.
const spider = `
import scrapy
class Spider(scrapy.Spider):
    name = "spider"
    def start_requests(self):
        yield scrapy.Request(self.start_url, self.parse)
    def parse(self, response):
        yield {"url": response.url, "body": response.text}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
`

func TestPoliteAndImpoliteScrapy(t *testing.T) {
	t.Parallel()
	scrapy, err := exec.LookPath("scrapy")
	if err != nil {
		t.Log("scrapy is not installed: nothing is tested")
		return
	}
	run := func(s *server, obey string) string {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "spider.py"), spider)
		cmd := exec.Command(scrapy, "runspider", "spider.py", "-o", "pages.jl", "-a", fmt.Sprintf("start_url=http://localhost:%d/", s.port),
			"-s", "ROBOTSTXT_OBEY="+obey, "-s", "DOWNLOAD_DELAY=0.2", "-s", "RANDOMIZE_DOWNLOAD_DELAY=False", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1",
			"-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("scrapy: %v\n%s", err, out)
		}
		return contents(t, dir)
	}
	config := fmt.Sprintf(crawlSite, "{\n\t\tcrawl_delay {\n\t\t\tburst 3\n\t\t}\n\t}")
	polite := start(t, config)
	got := run(polite, "True")
	for _, page := range []string{"page one", "page two", "page open"} {
		if !strings.Contains(got, page) {
			t.Errorf("polite Scrapy lacks %q", page)
		}
	}
	checkNeverRefused(t, polite)

	impolite := start(t, config)
	got = run(impolite, "False")
	if strings.Contains(got, "SECRET") {
		t.Error("impolite Scrapy got a disallowed page")
	}
	for _, page := range []string{"page one", "page two", "page open"} {
		if !strings.Contains(got, page) {
			t.Errorf("impolite Scrapy lacks %q, which is allowed", page)
		}
	}
	impolite.eventually("impolite Scrapy was denied four times", func() bool { return statuses(impolite)[http.StatusForbidden] >= 4 })
	if n := statuses(impolite)[http.StatusForbidden]; n != 4 {
		t.Errorf("impolite Scrapy was denied %d times, want 4", n)
	}
}

// checkNeverRefused checks that a polite crawler crawled the site and was never
// refused.
func checkNeverRefused(t *testing.T, s *server) {
	t.Helper()
	s.eventually("the requests are in the log", func() bool { return statuses(s)[http.StatusOK] >= 5 })
	got := statuses(s)
	if got[http.StatusForbidden] != 0 || got[http.StatusTooManyRequests] != 0 {
		t.Errorf("statuses that a polite crawler got: %v", got)
	}
}

// statuses counts the statuses in the access log.
func statuses(s *server) map[int]int {
	counts := make(map[int]int)
	for _, line := range s.lines("handled request") {
		status, _ := line["status"].(float64)
		counts[int(status)]++
	}
	return counts
}

// contents returns the text of all files that a crawler saved.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".py") {
			return err
		}
		body, err := os.ReadFile(path)
		all.Write(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
