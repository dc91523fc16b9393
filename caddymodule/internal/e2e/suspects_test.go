package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

// pages is the number of pages of the test site. A robot that requests all of them
// sends fewer than 200 requests.
const pages = 180

// trapSite writes a site of linked pages that share a style and a picture, each
// with a trap, and returns its root.
func trapSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	page := func(title string, links []int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "<!DOCTYPE html><html lang=en><head><title>%s</title><link rel=stylesheet href=/style.css></head><body><h1>%[1]s</h1><img src=/logo.svg alt=logo>", title)
		for _, n := range links {
			fmt.Fprintf(&b, `<p><a href="/page-%d.html">Page %[1]d</a></p>`, n)
		}
		b.WriteString(`{{with placeholder "http.robots.trap"}}<div hidden><a href="{{.}}" rel="nofollow" tabindex="-1" aria-hidden="true">Everything</a></div>{{end}}</body></html>`)
		return b.String()
	}
	all := make([]int, pages)
	for n := range pages {
		all[n] = n
		writeFile(t, filepath.Join(dir, fmt.Sprintf("page-%d.html", n)), page(fmt.Sprint("Page ", n), []int{(n + 1) % pages}))
	}
	writeFile(t, filepath.Join(dir, "index.html"), page("Index", all))
	writeFile(t, filepath.Join(dir, "style.css"), "body{margin:2em}")
	writeFile(t, filepath.Join(dir, "logo.svg"), `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
	writeFile(t, filepath.Join(dir, "account", "index.html"), "<!DOCTYPE html><title>Account</title>")
	return dir
}

const trapRules = `source inline <<TXT
			User-agent: *
			Disallow: /account/
			Disallow: /calendar-all/

			User-agent: GPTBot
			Disallow: /
			TXT
		publish`

// trapServer serves the site of traps over HTTPS.
type trapServer struct {
	*server
	base   string // its URL
	config string
}

// trapConfig returns the configuration of the site of traps, with lines for the
// block suspects.
func trapConfig(t *testing.T, address, lines string) string {
	return fmt.Sprintf(`{
	metrics
}
%s {
	log
	root %s
	robots {
		%s
		suspects {
			trap /calendar-all/*
			%s
		}
	}
	respond /who "{http.robots.suspect}"
	templates
	file_server
}`, address, trapSite(t), trapRules, lines)
}

// startTraps starts a server over HTTPS.
func startTraps(t *testing.T, lines string) *trapServer {
	t.Helper()
	port := freePort(t)
	config := trapConfig(t, fmt.Sprintf("https://localhost:%d", port), lines)
	s := &trapServer{start(t, config), fmt.Sprintf("https://localhost:%d", port), config}
	h2 := http2Client(port)
	t.Cleanup(h2.CloseIdleConnections)
	s.eventually("there is a certificate", func() bool {
		_, err := send(h2, http.MethodGet, s.base+"/", "curl/8.5.0", "", nil)
		return err == nil
	})
	return s
}

const foundLine = "a client behaves like a robot and sends a browser's User-Agent"

// found checks that a robot became a suspect by these signals, after at most 200
// requests.
func (s *server) found(signals string) {
	s.t.Helper()
	lines := s.lines(foundLine)
	if len(lines) == 0 {
		s.t.Errorf("it was not found; signals raised: robots_txt %v, trap %v, trap_static %v, documents %v, pace %v",
			s.signal("robots_txt"), s.signal("trap"), s.signal("trap_static"), s.signal("documents"), s.signal("pace"))
		return
	}
	requests := lines[0]["documents"].(float64) + lines[0]["embedded"].(float64) + s.signal("robots_txt")
	s.t.Logf("found after %v requests, by %v", requests, lines[0]["signals"])
	if requests > 200 || lines[0]["signals"] != signals {
		s.t.Errorf("found after %v requests by %v, want 200 at most, by %s", requests, lines[0]["signals"], signals)
	}
}

func (s *server) signal(name string) float64 {
	return s.metric(`caddy_robots_suspect_signals_total{signal="` + name + `"}`)
}

// runs runs a program. It returns false if the program is not installed.
func (s *server) runs(name string, args ...string) bool {
	s.t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		s.t.Logf("%s is not installed", name)
		return false
	}
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Logf("%s: %v\n%.2000s", name, err, out)
	}
	return true
}

func TestScrapyWithABrowsersUserAgentIsFound(t *testing.T) {
	t.Parallel()
	const spider = `
import scrapy
class Spider(scrapy.Spider):
    name = "disguised"
    start_urls = ["%s/"]
    custom_settings = {"USER_AGENT": "%s", "ROBOTSTXT_OBEY": %s, "LOG_LEVEL": "ERROR", "CLOSESPIDER_PAGECOUNT": 195, "TELNETCONSOLE_ENABLED": False}
    def parse(self, response):
        if "text/html" in response.headers.get("Content-Type", b"").decode():
            for href in response.css("a::attr(href)").getall():
                yield response.follow(href, self.parse)
`
	for obeys, signals := range map[string]string{"True": "robots_txt,pace", "False": "trap,pace"} {
		t.Run("obeys "+obeys, func(t *testing.T) {
			t.Parallel()
			s := startTraps(t, "action bind")
			file := filepath.Join(s.dir, "spider.py")
			writeFile(t, file, fmt.Sprintf(spider, s.base, chrome, obeys))
			if s.runs("scrapy", "runspider", file) {
				s.found(signals)
			}
		})
	}
}

// HTTrack sends the port in the TLS server name, which Caddy refuses. So this test
// has a proxy that terminates TLS.
func TestHTTrackWithABrowsersUserAgentIsFound(t *testing.T) {
	t.Parallel()
	trusting := strings.Replace(trapConfig(t, "http://:$PORT", "action bind"), "metrics\n", "metrics\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n", 1)
	s := start(t, trusting)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: fmt.Sprintf("localhost:%d", s.port)})
		r.Out.Host = "example.com"
		r.Out.Header["X-Forwarded-For"], r.Out.Header["X-Forwarded-Proto"] = []string{"203.0.113.9"}, []string{"https"}
	}})
	t.Cleanup(proxy.Close)
	if _, err := exec.LookPath("httrack"); err != nil {
		t.Log("httrack is not installed")
		return
	}
	mirror := child.Command("httrack", proxy.URL+"/", "-O", filepath.Join(s.dir, "mirror"), "-F", chrome, "-q", "-%!", "-%c1000", "-c20", "-A100000000", "-I0", "-u0")
	if err := mirror.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = mirror.Wait(); close(ended) }()
	s.eventually("it is found, or done", func() bool {
		select {
		case <-ended:
			return true
		default:
			return len(s.lines(foundLine)) > 0
		}
	})
	_ = mirror.Process.Kill() // it is slow to end by itself
	<-ended
	s.found("robots_txt,pace")
}

var trapURL = regexp.MustCompile(`/calendar-all/[\w-]{27}`)

func TestScriptedCurlIsFound(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed")
		return
	}
	t.Run("it reads robots.txt", func(t *testing.T) {
		t.Parallel()
		s := startTraps(t, "action bind")
		s.runs("curl", "-sk", "-A", chrome, s.base+"/robots.txt", s.base+"/page-[0-170].html")
		s.found("robots_txt,pace")
	})
	t.Run("it follows the trap", func(t *testing.T) {
		t.Parallel()
		s := startTraps(t, "action bind")
		page, err := exec.Command("curl", "-sk", "-A", firefox, s.base+"/").Output()
		trap := trapURL.FindString(string(page))
		if err != nil || trap == "" {
			t.Fatalf("no trap: %v\n%s", err, page)
		}
		s.runs("curl", "-sk", "-A", firefox, s.base+trap, s.base+"/page-[0-170].html")
		s.found("trap,pace")
		out, _ := exec.Command("curl", "-sk", "-A", firefox, s.base+"/who", s.base+"/account/", "-w", "%{http_code}").Output()
		if !strings.HasPrefix(string(out), "trap,pace200The robots.txt of this site") || !strings.HasSuffix(string(out), "403") {
			t.Errorf("the suspect gets %s", out)
		}
		out, _ = exec.Command("curl", "-sk", "-A", chrome, s.base+"/account/", "-o", "/dev/null", "-w", "%{http_code}").Output()
		if string(out) != "200" {
			t.Errorf("another browser at the same address gets %s", out)
		}
		if n := s.metric("caddy_robots_suspects"); n != 1 {
			t.Errorf("%v suspects are counted", n)
		}
		s.reasonsAddUp("suspect")
		s.wantsReloadToKeepSuspects()
	})
	// A robot that is as slow as a person is found because it fetches no embedded
	// files. This needs other visitors that do. Pages about scripts are no scripts.
	for theirs, robots := range map[string]string{"/page-[0-3].html": "/page-[0-30].html", "/app/blame/main[0-3].go": "/app/blame/main[0-30].js"} {
		t.Run("it fetches documents only, "+robots, func(t *testing.T) {
			t.Parallel()
			s := startTraps(t, "")
			navigates := []string{"-H", "Sec-Fetch-Site: none", "-H", "Sec-Fetch-Mode: navigate", "-H", "Sec-Fetch-Dest: document"}
			embeds := []string{"-H", "Sec-Fetch-Site: same-origin", "-H", "Sec-Fetch-Mode: no-cors", "-H", "Sec-Fetch-Dest: style"}
			for i := range 12 {
				person := []string{"-sk", "-A", strings.Replace(chrome, "131", fmt.Sprint(120+i), 1)}
				s.runs("curl", append(append(person, navigates...), s.base+theirs)...)
				s.runs("curl", append(append(person, embeds...), s.base+"/style.css")...)
			}
			s.runs("curl", "-sk", "-A", firefox, s.base+"/robots.txt", s.base+robots)
			s.found("robots_txt,documents")
		})
	}
}

// wantsReloadToKeepSuspects reloads a changed configuration, and checks that the
// client is still a suspect.
func (s *trapServer) wantsReloadToKeepSuspects() {
	s.t.Helper()
	if err := s.reload(strings.Replace(s.config, "respond /who", "respond /who-now", 1)); err != nil {
		s.t.Fatal(err)
	}
	out, _ := exec.Command("curl", "-sk", "-A", firefox, s.base+"/who-now").Output()
	if string(out) != "trap,pace" {
		s.t.Errorf("after a reload: %s", out)
	}
}
