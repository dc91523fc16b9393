package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// changingSite is a site whose robots.txt changes while a crawler fetches pages
// below /a/.
type changingSite struct {
	*server
	*backend
	file atomic.Pointer[string] // its robots.txt
	door *gate                  // before the pages below /a/
}

const (
	openFile   = "User-agent: *\nDisallow: /private/\n"
	closedFile = "User-agent: *\nDisallow: /private/\nDisallow: /a/\n"
)

func startChangingSite(t *testing.T, options string) *changingSite {
	t.Helper()
	a := &changingSite{door: newGate(t)}
	a.answerWith(openFile)
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

// answerWith replaces the robots.txt.
func (a *changingSite) answerWith(file string) { a.file.Store(&file) }

// changeFile replaces the robots.txt and waits until it is in force for a new
// crawler.
func (a *changingSite) changeFile(file, disallowed string) {
	a.t.Helper()
	a.answerWith(file)
	a.eventually("the new robots.txt is in force", func() bool {
		a.get(chrome, "/robots.txt")
		return strings.Contains(fmt.Sprint(a.lines("robots.txt loaded")), fmt.Sprint("size:", len(file)))
	})
	a.wants(403, a.get("Mozilla/5.0 (compatible; LateBot/1.0; +https://late.example/)", disallowed), "a crawler that first comes after the change")
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

// robots.txt changes while a crawler crawls the site. The crawler may follow the
// version that it has read. The next time it reads the new version and obeys it.
// A polite crawler never gets 403.
func TestGraceOfRealCrawlers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, ua string
		polite   func(a *changingSite, dir string) *exec.Cmd
		impolite func(a *changingSite, dir string) *exec.Cmd
	}{
		{"wget", "Wget/", func(a *changingSite, dir string) *exec.Cmd { return a.wget(dir, "127.0.0.1") },
			func(a *changingSite, dir string) *exec.Cmd { return a.wget(dir, "127.0.0.1", "-e", "robots=off") }},
		{"scrapy", "Scrapy/", func(a *changingSite, dir string) *exec.Cmd { return a.scrapy(dir, "True") },
			func(a *changingSite, dir string) *exec.Cmd { return a.scrapy(dir, "False") }},
	} {
		if _, err := exec.LookPath(tt.name); err != nil {
			t.Logf("%s is not installed: nothing is tested", tt.name)
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := startChangingSite(t, "grace all")
			crawl := func(command func(*changingSite, string) *exec.Cmd) string {
				dir := t.TempDir()
				out, _ := command(a, dir).CombinedOutput() // wget fails if one page fails
				t.Logf("%s:\n%s", tt.name, out)
				return contents(t, dir)
			}
			before := make(chan string)
			go func() { before <- crawl(tt.polite) }()
			select {
			case <-a.door.asked:
			case got := <-before:
				t.Fatalf("it did not fetch a page below /a/: %s", got)
			}
			a.changeFile(closedFile, "/a/1.html")
			a.door.open()
			got := <-before
			for _, page := range []string{"page /a/1.html", "page /a/2.html", "page /a/3.html", "page /b.html"} {
				if !strings.Contains(got, page) {
					t.Errorf("it lacks %q: %s", page, got)
				}
			}
			a.eventually("the requests are in the log", func() bool { return a.statusesOf(tt.ua)[200] >= 6 }) // robots.txt and five pages
			if counts := a.statusesOf(tt.ua); counts[403] != 0 {
				t.Errorf("statuses of the crawler during the change: %v", counts)
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

// wget gets grace only at an address that it visited from before the change.
func TestGraceOfWgetDependsOnTheAddress(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("wget"); err != nil {
		t.Log("wget is not installed: nothing is tested")
		return
	}
	a := startChangingSite(t, "grace all")
	a.door.open()
	fetch := func(addr string) string {
		dir := t.TempDir()
		_, _ = exec.Command("wget", "--bind-address="+addr, "-nv", "-t", "1", "-T", "100", "-P", dir, fmt.Sprintf("http://127.0.0.1:%d/a/1.html", a.port)).CombinedOutput()
		return contents(t, dir)
	}
	if got := fetch("127.0.0.1"); got != "page /a/1.html" {
		t.Fatalf("before the change: %q", got)
	}
	a.changeFile(closedFile, "/a/1.html")
	if got := fetch("127.0.0.1"); got != "page /a/1.html" {
		t.Errorf("the same address: %q", got)
	}
	if got := fetch("127.0.0.2"); got != "" {
		t.Errorf("another address: %q", got)
	}
}

func (a *changingSite) wget(dir, addr string, more ...string) *exec.Cmd {
	return exec.Command("wget", append(more, "--bind-address="+addr, "-r", "-l", "2", "-nv", "-t", "1", "-T", "100", "-P", dir, fmt.Sprintf("http://127.0.0.1:%d/", a.port))...)
}

func (a *changingSite) scrapy(dir, obey string) *exec.Cmd {
	writeFile(a.t, filepath.Join(dir, "spider.py"), spider)
	cmd := exec.Command("scrapy", "runspider", "spider.py", "-o", "pages.jl", "-a", fmt.Sprintf("start_url=http://127.0.0.1:%d/", a.port),
		"-s", "ROBOTSTXT_OBEY="+obey, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False")
	cmd.Dir = dir
	return cmd
}

// By default only search engines have grace. The log, the access log and the
// metrics show it.
func TestGraceOfSearchEngines(t *testing.T) {
	t.Parallel()
	a := startChangingSite(t, "policy {\n\t\t\thidden /h/*\n\t\t}")
	a.door.open()
	for _, ua := range []string{googlebot, bingbot, gptbot} {
		a.wants(200, a.get(ua, "/a/1.html"), "before the change")
	}
	a.changeFile(closedFile+"Disallow: /h/\n", "/a/1.html")
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
	allowed := line("crawler allowed by an earlier robots.txt", func(l map[string]any) bool { return l["crawler"] == "Googlebot" })
	refused := line("crawler refused by robots.txt", func(l map[string]any) bool { return l["crawler"] == "GPTBot" })
	if allowed["version"] == "" || allowed["version"] == refused["version"] || allowed["rule"] != "Disallow: /a/" || allowed["reason"] != "grace" || allowed["grace_ends"] == nil {
		t.Errorf("log: %v\n%v", allowed, refused)
	}
	access := line("handled request", func(l map[string]any) bool {
		return strings.Contains(fmt.Sprint(l["request"]), "/a/2.html") && l["robots"] != nil
	})["robots"].(map[string]any)
	if access["action"] != "pass" || access["reason"] != "grace" || access["version"] != allowed["version"] || access["grace_ends"] == "" {
		t.Errorf("access log: %v", access)
	}
	if n := a.metric(`caddy_robots_decisions_total{action="pass",crawler="Googlebot",reason="grace"}`); n != 1 {
		t.Errorf("%v decisions by grace are counted", n)
	}

	// HEAD and an error do not count as a read of the file; 304 does.
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

// A reload may change robots.txt, which starts grace. A reload without a change
// does not end grace.
func TestGraceSurvivesAReload(t *testing.T) {
	t.Parallel()
	inline := func(file, options string) string {
		return "http://$HOST:$PORT {\n\trobots {\n\t\tsource inline `" + file + "`\n\t\tpublish\n\t\t" + options + "\n\t}\n\trespond page\n}\nhttp://other.test:$PORT {\n\trobots {\n\t\tsource inline `" + openFile + "`\n\t}\n\trespond other\n}\n"
	}
	policy := func(more string) string {
		return "http://:$PORT {\n\trobots {\n\t\tpolicy {\n\t\t\tdeny seo\n\t\t\t" + more + "\n\t\t}\n\t}\n\trespond /robots.txt \"" + openFile + "\"\n\trespond page\n}\n"
	}
	file := func(options string) string {
		return "http://:$PORT {\n\trobots {\n\t\tsource file $DIR/robots.txt\n\t\tpublish\n\t\t" + options + "\n\t}\n\trespond page\n}\n"
	}
	for _, tt := range []struct {
		name                   string
		first, changed, reload string
		off                    string // a reload without grace
	}{
		{"inline", inline(openFile, ""), inline(closedFile, ""), inline(closedFile, "max_origins 7"), inline(closedFile, "grace off")},
		{"policy", policy(""), policy("deny Googlebot bingbot /a/*"), policy("deny Googlebot bingbot /a/*\n\t\t\tsignal search=yes"), ""},
		{"from inline to file", inline(openFile, ""), file(""), file("max_origins 7"), file("grace off")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.first)
			writeFile(t, filepath.Join(s.dir, "robots.txt"), closedFile)
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
				s.wants(403, s.get(ua, "/a/x"), "a search engine that first comes after the change")
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

// A changed file is read in the background. A crawler is judged by the version that
// the handler published to it.
func TestGraceOfWatchedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, path, openFile)
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource file "+path+"\n\t\tpublish\n\t\trefresh 1h\n\t}\n\trespond page\n}\n")
	s.wants(200, s.get(googlebot, "/a/x"), "before the change")
	s.wants(200, s.get(bingbot, "/robots.txt"), "robots.txt before the change")
	writeFile(t, path, closedFile)
	s.eventually("the new version is published", func() bool { return s.get(chrome, "/robots.txt").body == closedFile })
	s.wants(403, s.get(gptbot, "/a/x"), "GPTBot")
	s.wants(200, s.get(googlebot, "/a/x"), "Googlebot")
	s.wants(200, s.get(bingbot, "/a/x"), "bingbot, which read the version before")
	s.wants(200, s.get(googlebot, "/robots.txt"), "robots.txt after the change")
	s.wants(403, s.get(googlebot, "/a/x"), "Googlebot, which read the new version")
}

// The admin API ends grace, also that of a change that its own refresh finds.
func TestAdminAPIEndsGrace(t *testing.T) {
	t.Parallel()
	a := startChangingSite(t, "")
	a.door.open()
	a.wants(200, a.get(googlebot, "/a/1.html"), "before the change")
	refresh := func(query string) {
		a.wants(200, a.do("POST", fmt.Sprintf("http://localhost:%d/robots/refresh%s", a.admin, query), "", "", nil), "refresh"+query)
	}
	a.answerWith(closedFile)
	refresh("")
	a.wants(200, a.get(googlebot, "/a/1.html"), "after the change")
	refresh("?grace=off")
	a.wants(403, a.get(googlebot, "/a/1.html"), "after grace=off")
	a.answerWith(closedFile + "Disallow: /b\n")
	refresh("?grace=off")
	a.wants(403, a.get(googlebot, "/b.html"), "after another change, with grace=off at once")
}
