package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// realCrawlers crawl a site, obey its robots.txt or not, and return what they have saved.
var realCrawlers = map[string]func(t *testing.T, s *server, obey bool) string{"wget": wget, "scrapy": scrapy}

func wget(t *testing.T, s *server, obey bool) string {
	dir := t.TempDir()
	args := []string{"-r", "-l", "3", "-nv", "-t", "1", "-T", "10", "-P", dir, "--wait", "0.3", fmt.Sprintf("http://localhost:%d/", s.port)}
	if !obey {
		args = append(args, "-e", "robots=off")
	}
	out, _ := exec.Command("wget", args...).CombinedOutput() // it fails if one page fails
	t.Logf("wget %v:\n%s", args, out)
	return contents(t, dir)
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

func scrapy(t *testing.T, s *server, obey bool) string {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "spider.py"), spider)
	cmd := exec.Command("scrapy", "runspider", "spider.py", "-o", "pages.jl", "-a", fmt.Sprintf("start_url=http://localhost:%d/", s.port),
		"-s", fmt.Sprint("ROBOTSTXT_OBEY=", obey), "-s", "DOWNLOAD_DELAY=0.3", "-s", "RANDOMIZE_DOWNLOAD_DELAY=False", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1",
		"-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scrapy: %v\n%s", err, out)
	}
	return contents(t, dir)
}

// Real crawlers that obey robots.txt, as it is or merged with a policy, are never refused.
// Those that do not get the allowed pages, and no other.
func TestRealCrawlers(t *testing.T) {
	t.Parallel()
	pages := []string{"page one", "page two", "page open"}
	for name, crawl := range realCrawlers {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: nothing is tested", name)
			continue
		}
		burst := map[string]int{"wget": 1, "scrapy": 3}[name]
		delay := fmt.Sprintf("crawl_delay {\n\t\t\tburst %d\n\t\t}\n", burst)
		for _, tt := range []struct {
			name, lines string
			obey        bool
			want        []string
			denied      int
		}{
			{"polite", delay, true, pages, 0},
			{"impolite", strings.Replace(delay, fmt.Sprint(burst), "100", 1), false, pages, map[string]int{"wget": 2, "scrapy": 4}[name]},
			{"policy", delay + "policy {\n\t\t\tdeny scraper /one.html\n\t\t\tdeny Wget /two.html\n\t\t\tdeny ai-training\n\t\t\tsignal search=yes\n\t\t}\n", true,
				[]string{map[string]string{"wget": "page one", "scrapy": "page two"}[name], "page open"}, 0},
		} {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				site := crawlSite
				if tt.name == "policy" { // Scrapy has no group
					site = strings.NewReplacer("User-agent: Scrapy\n", "User-agent: Other\n",
						"User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /old.bak\nDisallow: /shut/secret.html\nDisallow: /~tilde/\n").Replace(site)
				}
				s := start(t, fmt.Sprintf(site, "{\n\t\t"+tt.lines+"\t}"))
				s.eventually("robots.txt is read", func() bool {
					return (tt.name == "policy") == strings.Contains(s.get(chrome, "/robots.txt").body, "# BEGIN lines made from a policy")
				})
				got := crawl(t, s, tt.obey)
				if name == "wget" || tt.name == "policy" {
					got = strings.ReplaceAll(got, "SECRET of Scrapy", "")
				}
				if strings.Contains(got, "SECRET") {
					t.Errorf("it got a disallowed page: %s", got)
				}
				for _, page := range pages {
					if strings.Contains(got, page) != slices.Contains(tt.want, page) {
						t.Errorf("%q is not as it should be in %s", page, got)
					}
				}
				s.eventually("the requests are in the log", func() bool { return statuses(s)[200] >= 4 && statuses(s)[403] >= tt.denied })
				if counts := statuses(s); tt.obey && counts[403]+counts[429] != 0 || counts[403] > 4 {
					t.Errorf("statuses: %v", counts)
				}
			})
		}
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
