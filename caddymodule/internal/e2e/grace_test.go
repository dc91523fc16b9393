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

func startChangingSite(t *testing.T) *changingSite {
	t.Helper()
	a := &changingSite{door: newGate(t)}
	a.answerWith(openFile)
	a.backend = newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, *a.file.Load())
		case r.URL.Path == "/":
			fmt.Fprint(w, "<a href=/a/1.html>1</a> <a href=/a/2.html>2</a> <a href=/a/3.html>3</a> <a href=/b.html>b</a>")
		case strings.HasPrefix(r.URL.Path, "/a/"):
			a.door.before(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page "+r.URL.Path) })(w, r)
		default:
			fmt.Fprint(w, "page "+r.URL.Path)
		}
	})
	a.server = startAt(t, "127.0.0.1", freePort(t), "http://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t\tgrace all\n\t}\n\treverse_proxy "+a.Listener.Addr().String()+"\n\tlog\n}\n")
	a.get(chrome, "/robots.txt")
	a.eventually("the first robots.txt is in force", func() bool { return a.get(newcomer, "/private/x").status == 403 })
	return a
}

const newcomer = "Mozilla/5.0 (compatible; NewThingBot/0.1; +https://newthing.example/bot)"

// answerWith replaces the robots.txt.
func (a *changingSite) answerWith(file string) { a.file.Store(&file) }

// close replaces the robots.txt by one that disallows /a/, and waits until it is in force for a
// new crawler.
func (a *changingSite) close() {
	a.t.Helper()
	a.answerWith(closedFile)
	a.eventually("the new robots.txt is in force", func() bool {
		a.get(chrome, "/robots.txt")
		return strings.Contains(fmt.Sprint(a.lines("robots.txt loaded")), fmt.Sprint("size:", len(closedFile)))
	})
	a.wants(403, a.get("Mozilla/5.0 (compatible; LateBot/1.0; +https://late.example/)", "/a/1.html"), "a crawler that first comes after the change")
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
		{"wget", "Wget/", func(a *changingSite, dir string) *exec.Cmd { return a.wget(dir) },
			func(a *changingSite, dir string) *exec.Cmd { return a.wget(dir, "-e", "robots=off") }},
		{"scrapy", "Scrapy/", func(a *changingSite, dir string) *exec.Cmd { return a.scrapy(dir, "True") },
			func(a *changingSite, dir string) *exec.Cmd { return a.scrapy(dir, "False") }},
	} {
		if _, err := exec.LookPath(tt.name); err != nil {
			t.Logf("%s is not installed: nothing is tested", tt.name)
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := startChangingSite(t)
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
			a.close()
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

func (a *changingSite) wget(dir string, more ...string) *exec.Cmd {
	return exec.Command("wget", append(more, "-r", "-l", "2", "-nv", "-t", "1", "-T", "100", "-P", dir, fmt.Sprintf("http://127.0.0.1:%d/", a.port))...)
}

func (a *changingSite) scrapy(dir, obey string) *exec.Cmd {
	writeFile(a.t, filepath.Join(dir, "spider.py"), spider)
	cmd := exec.Command("scrapy", "runspider", "spider.py", "-o", "pages.jl", "-a", fmt.Sprintf("start_url=http://127.0.0.1:%d/", a.port),
		"-s", "ROBOTSTXT_OBEY="+obey, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False")
	cmd.Dir = dir
	return cmd
}
