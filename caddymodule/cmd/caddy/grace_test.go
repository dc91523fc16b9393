package main_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// archived is a site whose robots.txt changes while a crawler is below /a/.
type archived struct {
	*server
	*backend
	file atomic.Pointer[string] // its robots.txt
	door *gate                  // before what is below /a/
}

const (
	opened = "User-agent: *\nDisallow: /private/\n"
	shutUp = "User-agent: *\nDisallow: /private/\nDisallow: /a/\n"
)

func startArchived(t *testing.T, options string) *archived {
	t.Helper()
	a := &archived{door: newGate(t)}
	a.says(opened)
	a.backend = newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/robots.txt" && r.Header.Get("X-Down") != "":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Etag", fmt.Sprintf("%q", fmt.Sprint(len(*a.file.Load()))))
			if r.Header.Get("If-None-Match") == w.Header().Get("Etag") {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, *a.file.Load())
		case r.URL.Path == "/":
			fmt.Fprint(w, "<a href=/a/1.html>1</a> <a href=/a/2.html>2</a> <a href=/a/3.html>3</a> <a href=/b.html>b</a>")
		case strings.HasPrefix(r.URL.Path, "/a/"):
			a.door.before(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page "+r.URL.Path) })(w, r)
		default:
			fmt.Fprint(w, "page "+r.URL.Path)
		}
	})
	a.server = startAt(t, "127.0.0.1", freePort(t), "http://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t\t"+options+"\n\t}\n\treverse_proxy "+a.Listener.Addr().String()+"\n\tlog\n}\n")
	a.get(chrome, "/robots.txt")
	a.eventually("the first robots.txt is in force", func() bool { return a.get(newcomer, "/private/x").status == 403 })
	return a
}

const newcomer = "Mozilla/5.0 (compatible; NewThingBot/0.1; +https://newthing.example/bot)"

// says replaces the robots.txt.
func (a *archived) says(file string) { a.file.Store(&file) }

// changes replaces the robots.txt and waits until it is in force for a crawler
// that never came before.
func (a *archived) changes(file, disallowed string) {
	a.t.Helper()
	a.says(file)
	a.eventually("the new robots.txt is in force", func() bool {
		a.get(chrome, "/robots.txt")
		return strings.Contains(fmt.Sprint(a.lines("robots.txt loaded")), fmt.Sprint("size:", len(file)))
	})
	a.wants(403, a.get("Mozilla/5.0 (compatible; LateBot/1.0; +https://late.example/)", disallowed), "a crawler that comes after the change")
}

// statusesOf counts the statuses that a User-Agent got.
func (s *server) statusesOf(ua string) map[int]int {
	counts := make(map[int]int)
	for _, line := range s.lines("handled request") {
		if strings.Contains(fmt.Sprint(line["request"]), ua) {
			status, _ := line["status"].(float64)
			counts[int(status)]++
		}
	}
	return counts
}

// A crawler that is there when robots.txt changes goes on by the version that it
// read. The next time it reads the new one and obeys that. Neither time it
// meets a 403.
func TestGraceOfRealCrawlers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, ua string
		polite   func(a *archived, dir string) *exec.Cmd
		impolite func(a *archived, dir string) *exec.Cmd
	}{
		{"wget", "Wget/", func(a *archived, dir string) *exec.Cmd { return a.wget(dir, "127.0.0.1") },
			func(a *archived, dir string) *exec.Cmd { return a.wget(dir, "127.0.0.1", "-e", "robots=off") }},
		{"scrapy", "Scrapy/", func(a *archived, dir string) *exec.Cmd { return a.scrapy(dir, "True") },
			func(a *archived, dir string) *exec.Cmd { return a.scrapy(dir, "False") }},
	} {
		if _, err := exec.LookPath(tt.name); err != nil {
			t.Logf("%s is not installed: nothing to crawl with", tt.name)
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := startArchived(t, "grace all")
			crawl := func(command func(*archived, string) *exec.Cmd) string {
				dir := t.TempDir()
				out, _ := command(a, dir).CombinedOutput() // wget fails where one page does
				t.Logf("%s:\n%s", tt.name, out)
				return contents(t, dir)
			}
			before := make(chan string)
			go func() { before <- crawl(tt.polite) }()
			select {
			case <-a.door.asked:
			case got := <-before:
				t.Fatalf("it did not come to /a/: %s", got)
			}
			a.changes(shutUp, "/a/1.html")
			a.door.open()
			got := <-before
			for _, page := range []string{"page /a/1.html", "page /a/2.html", "page /a/3.html", "page /b.html"} {
				if !strings.Contains(got, page) {
					t.Errorf("it lacks %q: %s", page, got)
				}
			}
			a.eventually("the requests are in the log", func() bool { return a.statusesOf(tt.ua)[200] >= 6 }) // robots.txt and five pages
			if counts := a.statusesOf(tt.ua); counts[403] != 0 {
				t.Errorf("statuses of the crawler that was there: %v", counts)
			}

			if got := crawl(tt.polite); strings.Contains(got, "page /a/") || !strings.Contains(got, "page /b.html") {
				t.Errorf("after it read the new version: %s", got)
			}
			a.eventually("the requests for the two pages are in the log", func() bool { return a.statusesOf(tt.ua)[200] >= 8 })
			if counts := a.statusesOf(tt.ua); counts[403] != 0 {
				t.Errorf("statuses of the crawler that obeys the new version: %v", counts)
			}

			if got := crawl(tt.impolite); strings.Contains(got, "page /a/") {
				t.Errorf("it read the new version and does not obey it: %s", got)
			}
			a.eventually("the refusals are in the log", func() bool { return a.statusesOf(tt.ua)[403] >= 3 })
			if counts := a.statusesOf(tt.ua); counts[403] != 3 {
				t.Errorf("statuses of the crawler that does not obey the new version: %v", counts)
			}
		})
	}
}

// wget from another address than one that was there gets no grace.
func TestGraceOfWgetByAddress(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("wget"); err != nil {
		t.Log("wget is not installed: nothing to crawl with")
		return
	}
	a := startArchived(t, "grace all")
	a.door.open()
	fetch := func(addr string) string {
		dir := t.TempDir()
		_, _ = exec.Command("wget", "--bind-address="+addr, "-nv", "-t", "1", "-T", "100", "-P", dir, fmt.Sprintf("http://127.0.0.1:%d/a/1.html", a.port)).CombinedOutput()
		return contents(t, dir)
	}
	if got := fetch("127.0.0.1"); got != "page /a/1.html" {
		t.Fatalf("before the change: %q", got)
	}
	a.changes(shutUp, "/a/1.html")
	if got := fetch("127.0.0.1"); got != "page /a/1.html" {
		t.Errorf("the address that was there: %q", got)
	}
	if got := fetch("127.0.0.2"); got != "" {
		t.Errorf("another address: %q", got)
	}
}

func (a *archived) wget(dir, addr string, more ...string) *exec.Cmd {
	return exec.Command("wget", append(more, "--bind-address="+addr, "-r", "-l", "2", "-nv", "-t", "1", "-T", "100", "-P", dir, fmt.Sprintf("http://127.0.0.1:%d/", a.port))...)
}

func (a *archived) scrapy(dir, obey string) *exec.Cmd {
	writeFile(a.t, filepath.Join(dir, "spider.py"), spider)
	cmd := exec.Command("scrapy", "runspider", "spider.py", "-o", "pages.jl", "-a", fmt.Sprintf("start_url=http://127.0.0.1:%d/", a.port),
		"-s", "ROBOTSTXT_OBEY="+obey, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False")
	cmd.Dir = dir
	return cmd
}

// By default search engines have a grace and others have not, and what happens
// is told everywhere.
func TestGraceOfSearchEngines(t *testing.T) {
	t.Parallel()
	a := startArchived(t, "policy {\n\t\t\thidden /h/*\n\t\t}")
	a.door.open()
	for _, ua := range []string{googlebot, bingbot, gptbot} {
		a.wants(200, a.get(ua, "/a/1.html"), "before the change")
	}
	a.changes(shutUp+"Disallow: /h/\n", "/a/1.html")
	a.wants(403, a.get(gptbot, "/a/1.html"), "GPTBot")
	a.wants(404, a.get(googlebot, "/h/x"), "Googlebot on a hidden path")
	a.wants(403, a.get(googlebot, "/private/x"), "Googlebot where both versions disallow it")
	a.wants(200, a.get(googlebot, "/a/2.html"), "Googlebot")

	line := func(message string, fits func(map[string]any) bool) (found map[string]any) {
		a.eventually("there is a line: "+message, func() bool {
			for _, l := range a.lines(message) {
				if fits(l) {
					found = l
				}
			}
			return found != nil
		})
		return found
	}
	let := line("crawler allowed by an earlier robots.txt", func(l map[string]any) bool { return l["crawler"] == "Googlebot" })
	stopped := line("crawler refused by robots.txt", func(l map[string]any) bool { return l["crawler"] == "GPTBot" })
	if let["version"] == "" || let["version"] == stopped["version"] || let["rule"] != "Disallow: /a/" || let["reason"] != "grace" || let["grace_ends"] == nil {
		t.Errorf("log: %v\n%v", let, stopped)
	}
	access := line("handled request", func(l map[string]any) bool {
		return strings.Contains(fmt.Sprint(l["request"]), "/a/2.html") && l["robots"] != nil
	})["robots"].(map[string]any)
	if access["action"] != "pass" || access["reason"] != "grace" || access["version"] != let["version"] || access["grace_ends"] == "" {
		t.Errorf("access log: %v", access)
	}
	if n := a.metric(`caddy_robots_decisions_total{action="pass",crawler="Googlebot",reason="grace"}`); n != 1 {
		t.Errorf("%v decisions by grace are counted", n)
	}

	// HEAD and an error are no read of the file; 304 is one.
	url := fmt.Sprintf("http://127.0.0.1:%d/robots.txt", a.port)
	a.wants(200, a.do("HEAD", url, googlebot, "", nil), "HEAD of robots.txt")
	a.wants(503, a.do("GET", url, googlebot, "", http.Header{"X-Down": {"1"}}), "robots.txt while the back end is down")
	a.wants(200, a.get(googlebot, "/a/1.html"), "after a HEAD and an error")
	etag := a.get(chrome, "/robots.txt").header.Get("Etag")
	a.wants(304, a.do("GET", url, googlebot, "", http.Header{"If-None-Match": {etag}}), "a conditional GET of robots.txt")
	a.wants(403, a.get(googlebot, "/a/1.html"), "after a 304")
	a.wants(200, a.get(bingbot, "/a/1.html"), "bingbot, which did not read the file")
	a.wants(200, a.get(bingbot, "/robots.txt"), "robots.txt")
	a.wants(403, a.get(bingbot, "/a/1.html"), "bingbot after a 200")
}

// A change of the configuration is a change of the file, and a reload without
// one loses no grace.
func TestGraceOverReload(t *testing.T) {
	t.Parallel()
	inline := func(file, options string) string {
		return "http://$HOST:$PORT {\n\trobots {\n\t\tsource inline `" + file + "`\n\t\tpublish\n\t\t" + options + "\n\t}\n\trespond page\n}\nhttp://other.test:$PORT {\n\trobots {\n\t\tsource inline `" + opened + "`\n\t}\n\trespond other\n}\n"
	}
	policy := func(more string) string {
		return "http://:$PORT {\n\trobots {\n\t\tpolicy {\n\t\t\tdeny seo\n\t\t\t" + more + "\n\t\t}\n\t}\n\trespond /robots.txt \"" + opened + "\"\n\trespond page\n}\n"
	}
	file := func(options string) string {
		return "http://:$PORT {\n\trobots {\n\t\tsource file $DIR/robots.txt\n\t\tpublish\n\t\t" + options + "\n\t}\n\trespond page\n}\n"
	}
	for _, tt := range []struct {
		name                   string
		first, changed, reload string
		off                    string // a reload without grace
	}{
		{"inline", inline(opened, ""), inline(shutUp, ""), inline(shutUp, "max_origins 7"), inline(shutUp, "grace off")},
		{"policy", policy(""), policy("deny Googlebot bingbot /a/*"), policy("deny Googlebot bingbot /a/*\n\t\t\tsignal search=yes"), ""},
		{"from inline to file", inline(opened, ""), file(""), file("max_origins 7"), file("grace off")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.first)
			writeFile(t, filepath.Join(s.dir, "robots.txt"), shutUp)
			s.eventually("the first robots.txt is in force", func() bool { return s.get(googlebot, "/private/x").status == 403 })
			s.wants(200, s.get(bingbot, "/a/x"), "bingbot before the change")
			for _, config := range []string{tt.changed, tt.reload} {
				if err := s.reload(config); err != nil {
					t.Fatal(err)
				}
				s.wants(200, s.get(googlebot, "/a/x"), "Googlebot after the change")
				s.wants(200, s.get(bingbot, "/a/x"), "bingbot after the change")
				s.wants(403, s.get(googlebot, "/private/x"), "Googlebot where both versions disallow it")
			}
			if ua := "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"; tt.name != "policy" {
				s.wants(403, s.get(ua, "/a/x"), "a search engine that comes after the change")
			}
			s.eventually("Googlebot read the new version", func() bool {
				s.get(googlebot, "/robots.txt")
				return s.get(googlebot, "/a/x").status == 403
			})
			s.wants(200, s.get(bingbot, "/a/x"), "bingbot, which did not read it")
			if tt.off == "" {
				return
			}
			if err := s.reload(tt.off); err != nil {
				t.Fatal(err)
			}
			s.wants(403, s.get(bingbot, "/a/x"), "bingbot, with grace off")
		})
	}
}

// A file that the operator replaces is noticed beside requests, and what the
// handler publishes is what a crawler is held to.
func TestGraceOfWatchedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, path, opened)
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource file "+path+"\n\t\tpublish\n\t\trefresh 1h\n\t}\n\trespond page\n}\n")
	s.wants(200, s.get(googlebot, "/a/x"), "before the change")
	s.wants(200, s.get(bingbot, "/robots.txt"), "robots.txt before the change")
	writeFile(t, path, shutUp)
	s.eventually("the new version is published", func() bool { return s.get(chrome, "/robots.txt").body == shutUp })
	s.wants(403, s.get(gptbot, "/a/x"), "GPTBot")
	s.wants(200, s.get(googlebot, "/a/x"), "Googlebot")
	s.wants(200, s.get(bingbot, "/a/x"), "bingbot, which read the version before")
	s.wants(200, s.get(googlebot, "/robots.txt"), "robots.txt after the change")
	s.wants(403, s.get(googlebot, "/a/x"), "Googlebot, which read the new version")
}

// The admin API ends a grace that runs, also that of a change which it finds
// itself.
func TestEndOfGraceByAdminAPI(t *testing.T) {
	t.Parallel()
	a := startArchived(t, "")
	a.door.open()
	a.wants(200, a.get(googlebot, "/a/1.html"), "before the change")
	refresh := func(query string) {
		a.wants(200, a.do("POST", fmt.Sprintf("http://localhost:%d/robots/refresh%s", a.admin, query), "", "", nil), "refresh"+query)
	}
	a.says(shutUp)
	refresh("")
	a.wants(200, a.get(googlebot, "/a/1.html"), "after the change")
	refresh("?grace=off")
	a.wants(403, a.get(googlebot, "/a/1.html"), "after grace=off")
	a.says(shutUp + "Disallow: /b\n")
	refresh("?grace=off")
	a.wants(403, a.get(googlebot, "/b.html"), "after another change, with grace=off at once")
}
