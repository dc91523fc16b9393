package e2e_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// stormed is a site that strangers storm; trusted proxies give the addresses.
type stormed struct{ *server }

func stormedSite(storage, lines string) string {
	return fmt.Sprintf(`{
	metrics
	storage file_system %s
	servers {
		trusted_proxies static 127.0.0.1/8
	}
}
http://:$PORT {
	bind $HOST
	log
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			TXT
		challenge /blame/* {
			over 20/1m
		}
		%s
	}
	handle_errors {
		respond "an error page" 418
	}
	respond "page {http.request.uri}"
}`, storage, lines)
}

// startStormed starts a server with the clock of tests.
func startStormed(t *testing.T, host string, port int, dir, config string) stormed {
	t.Helper()
	return stormed{(&server{t: t, dir: dir, host: host, port: port, admin: freePort(t), program: executable(t)}).run(config)}
}

// from sends a request from an address.
func (s stormed) from(addr, method, path string, fields ...string) (response, http.Header) {
	s.t.Helper()
	header := http.Header{"X-Forwarded-For": {addr}, "X-Forwarded-Proto": {"https"}, "Accept": {"text/html"}}
	for i := 0; i < len(fields); i += 2 {
		header.Set(fields[i], fields[i+1])
	}
	r := s.do(method, fmt.Sprintf("http://%s:%d%s", s.host, s.port, path), chrome, "example.com", header)
	return r, r.header
}

// storm lets 40 strangers come, and 30 seconds pass.
func (s stormed) storm() {
	s.t.Helper()
	for i := range 40 {
		s.from(fmt.Sprintf("203.0.113.%d", i), "GET", fmt.Sprintf("/blame/%d", i))
	}
	s.pass(30 * time.Second)
}

// passes opens a page as a browser does, and returns its cookie.
func (s stormed) passes(addr string) (cookie string) {
	s.t.Helper()
	page, _ := s.from(addr, "GET", "/blame/x?a=1")
	s.wants(429, page, "a stranger")
	m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">.*"(caddy-robots-pass=[^"]*)"`).FindStringSubmatch(page.body)
	if m == nil {
		s.t.Fatalf("the page has no style sheet:\n%s", page.body)
	}
	css, header := s.from(addr, "GET", "/blame/x"+m[1], "Sec-Fetch-Dest", "style")
	s.wants(200, css, "the style sheet")
	cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	if !strings.HasPrefix(cookie, "__Host-caddy-robots-pass=") {
		s.t.Fatalf("the style sheet sets %q", cookie)
	}
	back, header := s.from(addr, "GET", "/blame/x?a=1&"+m[2], "Cookie", cookie)
	if s.wants(303, back, "the URL with the token"); header.Get("Location") != "/blame/x?a=1" {
		s.t.Errorf("it leads to %q", header.Get("Location"))
	}
	s.good(cookie, addr)
	return cookie
}

// good checks that a pass is good.
func (s stormed) good(cookie, addr string) {
	s.t.Helper()
	page, _ := s.from(addr, "GET", "/blame/x?a=1", "Cookie", cookie)
	if s.wants(200, page, "with the pass"); page.body != "page /blame/x?a=1" {
		s.t.Errorf("%q", page.body)
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	config := stormedSite(t.TempDir(), "")
	s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
	quiet, header := s.from("192.0.2.1", "GET", "/blame/x")
	if s.wants(200, quiet, "before the storm"); header.Get("Set-Cookie") != "" {
		t.Errorf("%v", header)
	}
	s.eventually("strangers are asked", func() bool {
		s.storm()
		page, _ := s.from("192.0.2.1", "GET", "/blame/x")
		return page.status == 429
	})
	cookie := s.passes("192.0.2.2")
	for what, path := range map[string]string{"another path": "/other", "robots.txt": "/robots.txt"} {
		page, _ := s.from("192.0.2.3", "GET", path)
		s.wants(200, page, what)
	}
	s.wants(418, s.at("example.com", "GPTBot/1.0", "/private/x"), "a crawler that is disallowed")
	s.wants(200, s.at("example.com", "GPTBot/1.0", "/blame/x"), "a crawler that a rule binds")
	image, _ := s.from("192.0.2.3", "GET", "/blame/x.png", "Sec-Fetch-Dest", "image")
	s.wants(200, image, "an image")
	page, _ := s.from("192.0.2.4", "GET", "/blame/x", "Accept-Language", "ar")
	if !strings.Contains(page.body, `<html lang="ar" dir="rtl">`) || len(page.body) > 4096 {
		t.Errorf("%s", page.body)
	}
	reference := regexp.MustCompile(`<bdi>(.{8})</bdi>`).FindStringSubmatch(page.body)
	s.eventually("the access log has the reference", func() bool {
		return reference != nil && strings.Contains(string(s.log.bytes()), `"reference":"`+reference[1]+`"`)
	})
	action := html.UnescapeString(regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page.body)[1])
	pressed, header := s.from("192.0.2.4", "POST", "/blame/x"+action)
	s.wants(303, pressed, "the button")
	shown, _ := s.from("192.0.2.4", "GET", header.Get("Location"))
	s.wants(200, shown, "the page after the button, without a cookie")
	for result, want := range map[string]float64{"style": 1, "passed": 1, "button": 1} {
		if got := s.metric(`caddy_robots_challenges_total{result="` + result + `"}`); got != want {
			t.Errorf("%s: %v, want %v", result, got, want)
		}
	}
	if err := s.reload(strings.Replace(config, "over 20/1m", "over 21/1m", 1)); err != nil {
		t.Fatal(err)
	}
	s.storm()
	s.good(cookie, "192.0.2.2")
	s.end()
	after := startStormed(t, s.host, s.port, s.dir, config)
	after.pass(10 * time.Minute) // more than has passed at the first one
	after.eventually("strangers are asked after a restart", func() bool {
		after.storm()
		page, _ := after.from("192.0.2.1", "GET", "/blame/x")
		return page.status == 429
	})
	after.good(cookie, "192.0.2.2")
}

// The servers of a fleet have one key, also while Redis is away and after it was emptied.
func TestChallengeInAFleet(t *testing.T) {
	t.Parallel()
	redis, port := miniredis.RunT(t), freePort(t)
	var servers [2]stormed
	for i := range servers {
		servers[i] = startStormed(t, fmt.Sprintf("127.0.0.%d", i+2), port, t.TempDir(),
			stormedSite(t.TempDir(), "fleet redis://"+redis.Addr()))
		servers[i].eventually("the server shares", func() bool { return servers[i].metric("caddy_robots_fleet_up") == 1 })
	}
	storm := func() {
		for _, s := range servers {
			s.eventually("strangers are asked at "+s.host, func() bool {
				s.storm()
				page, _ := s.from("192.0.2.1", "GET", "/blame/x")
				return page.status == 429
			})
		}
	}
	storm()
	cookie := servers[0].passes("192.0.2.2")
	servers[1].eventually("the other server has the key", func() bool {
		page, _ := servers[1].from("192.0.2.2", "GET", "/blame/x?a=1", "Cookie", cookie)
		return page.status == 200
	})
	redis.FlushAll()
	redis.Close()
	for _, s := range servers {
		s.good(cookie, "192.0.2.2")
	}
	if err := redis.Restart(); err != nil {
		t.Fatal(err)
	}
	storm()
	second := servers[1].passes("192.0.2.5")
	for _, s := range servers {
		s.good(cookie, "192.0.2.2")
		s.eventually("both servers accept new passes", func() bool {
			page, _ := s.from("192.0.2.5", "GET", "/blame/x?a=1", "Cookie", second)
			return page.status == 200
		})
	}
}

func TestChallengeInMonitorModeAndMark(t *testing.T) {
	t.Parallel()
	for lines, isSeen := range map[string]func(s *server, page response) bool{
		"mode monitor": func(s *server, _ response) bool {
			return strings.Contains(string(s.log.bytes()), `"action":"would_challenge"`)
		},
		"answer challenge mark": func(_ *server, page response) bool { return page.body == "marked" },
	} {
		config := strings.Replace(stormedSite(t.TempDir(), lines), "	handle_errors", `	@stranger robots stranger
	respond @stranger marked 200
	handle_errors`, 1)
		s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
		s.eventually(lines+": strangers are seen", func() bool {
			s.storm()
			page, header := s.from("192.0.2.1", "GET", "/blame/x")
			if s.wants(200, page, lines); header.Get("Set-Cookie") != "" {
				t.Errorf("%v", header)
			}
			return isSeen(s.server, page)
		})
	}
}

// A page of the operator's own has to have the style sheet and the button.
func TestOwnChallengePage(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/page.html"
	writeFile(t, file, `<html lang={{.Lang}}><style nonce="{{.Nonce}}">b{}</style>{{.StyleSheet}}<b>Our page</b>{{.Button}} {{.Reference}}</html>`)
	config := stormedSite(t.TempDir(), "answer challenge "+file)
	s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
	s.eventually("strangers get the page", func() bool {
		s.storm()
		page, _ := s.from("192.0.2.1", "GET", "/blame/x")
		return page.status == 429 && strings.Contains(page.body, "<b>Our page</b>")
	})
	s.passes("192.0.2.2")
	for text, want := range map[string]string{
		"{{.Button}}": "it lacks {{.StyleSheet}}", "{{.StyleSheet}}": "it lacks {{.Button}}", "{{.Nonsense}}": "Nonsense", "{{": "unclosed",
	} {
		writeFile(t, file, text)
		if err := s.reload(config + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	s.good(s.passes("192.0.2.3"), "192.0.2.3")
}

// The operator hears of a storm, switches the check off and on, and is told if it does not
// work.
func TestChallengeIsShown(t *testing.T) {
	t.Parallel()
	config := stormedSite(t.TempDir(), "")
	s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
	isAsked := func() bool {
		page, _ := s.from("192.0.2.1", "GET", "/blame/x")
		return page.status == 429
	}
	s.eventually("strangers are asked", func() bool { s.storm(); return isAsked() })
	health := func() string {
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots/health", s.admin), "test", "", nil).body
	}
	if text := health(); !strings.Contains(text, `"kind":"strangers"`) || !strings.Contains(text, "for pages of `challenge /blame/*` since") ||
		!strings.Contains(text, `"Handled: `) || !strings.Contains(text, `"severity":"note"`) {
		t.Errorf("%s", text)
	}
	set := func(query string) response {
		return s.do(http.MethodPost, fmt.Sprintf("http://localhost:%d/robots/challenge?%s", s.admin, query), "test", "", nil)
	}
	for _, site := range []string{"", "&site=example.com"} {
		s.wants(200, set("set=off"+site), "set=off"+site)
		if isAsked() {
			t.Errorf("set=off%s: strangers are asked", site)
		}
		if text := health(); site == "" && !strings.Contains(text, "at this server, and challenge is switched off") {
			t.Errorf("set=off%s: %s", site, text)
		}
		s.wants(200, set("set=configured"+site), "set=configured"+site)
		if s.storm(); !isAsked() {
			t.Errorf("set=configured%s: strangers are not asked", site)
		}
	}
	s.wants(400, set("set=on"), "set=on")
	s.wants(400, set(""), "without set")
	for i := range 20 {
		addr := fmt.Sprintf("198.51.%d.1", i)
		page, _ := s.from(addr, "GET", "/blame/x")
		m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">`).FindStringSubmatch(page.body)
		s.from(addr, "GET", "/blame/x"+m[1], "Sec-Fetch-Dest", "style")
	}
	s.pass(15 * time.Second)
	if isAsked() {
		t.Error("strangers are asked although nobody comes back")
	}
	if text := health(); !strings.Contains(text, `"kind":"challenge_broken"`) || !strings.Contains(text, "come back without the cookie") {
		t.Errorf("%s", text)
	}
}

// A storm at a site is no storm at other sites with the same line.
func TestStormIsOfOneSite(t *testing.T) {
	t.Parallel()
	config := stormedSite(t.TempDir(), "")
	_, site, _ := strings.Cut(config, "http://")
	for _, host := range []string{"other.example", "third.example"} {
		config += "\nhttp://" + host + site
	}
	s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
	s.eventually("strangers are asked", func() bool {
		s.storm()
		page, _ := s.from("192.0.2.1", "GET", "/blame/x")
		return page.status == 429
	})
	text := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots/health", s.admin), "test", "", nil).body
	if n := strings.Count(text, `"kind":"strangers"`); n != 1 || strings.Contains(text, " more at ") {
		t.Errorf("%d accidents: %s", n, text)
	}
}

// Without the setting, the operator hears of a storm, with the line to write.
func TestStormWithoutChallenge(t *testing.T) {
	t.Parallel()
	config := strings.Replace(stormedSite(t.TempDir(), ""), "challenge /blame/* {\n\t\t\tover 20/1m\n\t\t}", "", 1)
	config = strings.Replace(config, "Disallow: /private/", "Disallow: /blame/", 1)
	s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
	s.eventually("there is an accident", func() bool {
		for i := range 40 {
			page, _ := s.from(fmt.Sprintf("203.0.%d.17", i), "GET", fmt.Sprintf("/blame/%d", i))
			s.wants(200, page, "a stranger")
		}
		s.pass(30 * time.Second)
		s.from("203.0.113.17", "GET", "/blame/x")
		text := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots/health", s.admin), "test", "", nil).body
		return strings.Contains(text, `"kind":"strangers"`) && strings.Contains(text, "challenge disallowed")
	})
}
