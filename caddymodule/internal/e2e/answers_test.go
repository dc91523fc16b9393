package e2e_test

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go/http3"
)

// answered is a site with its own answer.
const answered = `http://:%d {
	robots {
		source inline %s
		policy {
			hidden /vault/*
		}
		http_clients on
		%s
	}
	respond /sorry "sorry page"
	respond page
	log
}
`

// answerSites are the sites of these tests and their lines.
var answerSites = []struct{ name, line string }{
	{"usual", "answer pending 503 x"},
	{"gone", `answer disallowed 410 "{http.robots.crawler} is gone"`},
	{"redirect", "answer disallowed redir /sorry"},
	{"abort", "answer disallowed abort"},
	{"busy", "answer throttled 503 later"},
}

// startAnswers returns the server and the base URL of each site.
func startAnswers(t *testing.T) (*server, map[string]string) {
	t.Helper()
	const file = "<<TXT\n\t\tUser-agent: *\n\t\tDisallow: /shut/\n\t\tCrawl-delay: 3600\n\t\tTXT"
	var config strings.Builder
	urls := map[string]string{}
	for _, a := range answerSites {
		port := freePort(t)
		urls[a.name] = fmt.Sprintf("http://localhost:%d", port)
		fmt.Fprintf(&config, answered, port, file, a.line)
	}
	return start(t, config.String()), urls
}

// docs/answers.md says how curl, wget and Scrapy treat each answer.
func TestClientsOfAnswers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "wget"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: nothing is tested", name)
			return
		}
	}
	s, urls := startAnswers(t)
	const throttled = "/"
	tests := []struct {
		site, path string
		curl       int    // exit status of curl -f, which follows redirects
		wget       int    // exit status
		saved      string // what wget saves
		scrapy     string // status or failure
	}{
		{"usual", "/shut/x", 22, 8, "", "403"},
		{"usual", "/vault/x", 22, 8, "", "404"},
		{"gone", "/shut/x", 22, 8, "", "410"},
		{"redirect", "/shut/x", 0, 0, "sorry page", "200"},
		{"abort", "/shut/x", 52, 4, "", "ResponseNeverReceived"},
	}
	asked := []string{urls["busy"] + throttled}
	for _, tt := range tests {
		asked = append(asked, urls[tt.site]+tt.path)
	}
	scrapy := scrapyOf(t, asked...)
	for _, tt := range tests {
		if got := exitOf(t, "curl", "-sfL", urls[tt.site]+tt.path); got != tt.curl {
			t.Errorf("curl %s %s: exit status %d, want %d", tt.site, tt.path, got, tt.curl)
		}
		dir := t.TempDir()
		if got := exitOf(t, "wget", "-q", "-t", "1", "-T", "10", "-P", dir, urls[tt.site]+tt.path); got != tt.wget {
			t.Errorf("wget %s %s: exit status %d, want %d", tt.site, tt.path, got, tt.wget)
		}
		if got := contents(t, dir); !strings.Contains(got, tt.saved) || tt.saved == "" && got != "" {
			t.Errorf("wget %s %s saved %q, want %q", tt.site, tt.path, got, tt.saved)
		}
		if got := scrapy[urls[tt.site]+tt.path]; scrapy != nil && got != tt.scrapy {
			t.Errorf("Scrapy %s %s: %q, want %q", tt.site, tt.path, got, tt.scrapy)
		}
	}
	// Only Scrapy retries after 503 and 429: twice, and at once.
	before := statuses(s)[503]
	if scrapyOf(t, urls["busy"]+throttled) != nil {
		s.eventually("Scrapy has asked three times", func() bool { return statuses(s)[503]-before == 3 })
	}
}

// exitOf runs a client and returns its exit status.
func exitOf(t *testing.T, name string, args ...string) int {
	t.Helper()
	err := exec.Command(name, args...).Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// requests is a spider that reports the results of requests.
const requests = `
import scrapy
class Spider(scrapy.Spider):
    name = "requests"
    def start_requests(self):
        for url in self.urls.split():
            yield scrapy.Request(url, self.parse, errback=self.failed, meta={"asked": url, "handle_httpstatus_list": [403, 404, 410, 429, 503]})
    def parse(self, response):
        yield {"url": response.meta["asked"], "got": str(response.status)}
    def failed(self, failure):
        yield {"url": failure.request.meta["asked"], "got": failure.type.__name__}
`

// scrapyOf returns the status or failure that Scrapy gets for each URL; nil if Scrapy
// is not installed.
func scrapyOf(t *testing.T, urls ...string) map[string]string {
	t.Helper()
	scrapy, err := exec.LookPath("scrapy")
	if err != nil {
		return nil
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "spider.py"), requests)
	cmd := exec.Command(scrapy, "runspider", "spider.py", "-o", "out.jl", "-a", "urls="+strings.Join(urls, " "), "-s", "ROBOTSTXT_OBEY=False", "-s", "TELNETCONSOLE_ENABLED=False",
		"-s", "RETRY_HTTP_CODES=429,503", "-s", "RETRY_TIMES=2", "-s", "RETRY_EXCEPTIONS=")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scrapy: %v\n%s", err, out)
	}
	got := make(map[string]string)
	for line := range strings.Lines(contents(t, dir)) {
		var item struct{ URL, Got string }
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		got[item.URL] = item.Got
	}
	return got
}

func TestRefusalsOfHTTP2And3AreNotStored(t *testing.T) {
	t.Parallel()
	s := start(t, "https://localhost:$PORT {\n\theader {\n\t\tdefer\n\t\tCache-Control public\n\t\tETag x\n\t}\n\tencode gzip\n\trobots {\n"+
		"\t\tsource inline <<TXT\n\t\t\tUser-agent: *\n\t\t\tDisallow: /\n\t\t\tTXT\n\t}\n\trespond page\n}\n")
	insecure := &tls.Config{InsecureSkipVerify: true}
	for name, transport := range map[string]http.RoundTripper{
		"HTTP/2.0": &http.Transport{TLSClientConfig: insecure, ForceAttemptHTTP2: true}, "HTTP/3.0": &http3.Transport{TLSClientConfig: insecure},
	} {
		var resp *http.Response
		s.eventually("the server answers "+name, func() bool {
			r, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("https://localhost:%d/x", s.port), nil)
			r.Header.Set("User-Agent", gptbot)
			var err error
			resp, err = transport.RoundTrip(r)
			return err == nil && resp.Body.Close() == nil
		})
		if resp.Proto != name || resp.StatusCode != 403 || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("ETag") != "" {
			t.Errorf("%s: %s, %d, %v", name, resp.Proto, resp.StatusCode, resp.Header)
		}
	}
}
