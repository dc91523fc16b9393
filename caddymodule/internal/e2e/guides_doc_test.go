package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

const (
	shopSync    = "ShopSync-Bot/2.1 (ops@shop.example)"
	feedReader  = "FreshRSS/1.21.0 (Linux; https://freshrss.org)"
	uptimeRobot = "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"
	siteAudit   = "Mozilla/5.0 (compatible; AhrefsSiteAudit/6.1; +http://ahrefs.com/robot/site-audit)"
	chatGPTUser = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
)

// The Caddyfiles in the guides do what the pages say, for a robots.txt that
// disallows /private.
func TestGuideCaddyfiles(t *testing.T) {
	t.Parallel()
	type request struct {
		method, ua, path string
		status           int
	}
	for _, tt := range []struct {
		page, contains string
		oldnew         []string
		requests       []request
	}{
		{"before-you-enforce.md", "mode monitor\n", nil, []request{{"GET", gptbot, "/private", 200}}},
		{"before-you-enforce.md", "mode enforce", []string{"shop.example.com {", "http://shop.test:$PORT {", "blog.example.com {", "http://localhost:$PORT {"}, []request{{"GET", gptbot, "/private", 403}}},
		{"before-you-enforce.md", "mode enforce", []string{"shop.example.com {", "http://localhost:$PORT {", "blog.example.com {", "http://blog.test:$PORT {"}, []request{{"GET", gptbot, "/private", 200}}},
		{"before-you-enforce.md", "exempt ShopSync-Bot", nil, []request{{"GET", shopSync, "/private", 403}, {"POST", shopSync, "/private", 403}, {"POST", "OtherSync-Bot/2.1 (ops@shop.example)", "/private", 200}}},
		{"before-you-enforce.md", "exempt ShopSync-Bot", []string{"203.0.113.0/24", "127.0.0.1 ::1"}, []request{{"GET", shopSync, "/private", 200}}},
		{"before-you-enforce.md", "enforce ai-training", nil, []request{{"GET", gptbot, "/private", 403}, {"GET", "AhrefsBot/7.0", "/private", 403}, {"GET", "Bytespider", "/private", 403}, {"GET", bingbot, "/private", 200}}},
		{"policies.md", "policy no-training\n", nil, []request{{"GET", gptbot, "/", 403}, {"GET", "CCBot/2.0", "/", 403}, {"GET", googlebot, "/", 200}, {"GET", bingbot, "/", 200}, {"GET", "PerplexityBot/1.0", "/", 200}, {"GET", chrome, "/", 200}}},
		{"policies.md", "policy no-training\n", []string{"no-training", "no-ai"}, []request{{"GET", gptbot, "/", 403}, {"GET", "PerplexityBot/1.0", "/", 403}, {"GET", chatGPTUser, "/", 403}, {"GET", googlebot, "/", 200}}},
		{"migrate.md", "header_regexp", nil, []request{{"GET", gptbot, "/", 403}, {"GET", "AhrefsBot/7.0", "/", 403}, {"GET", "ClaudeBot/1.0", "/", 200}, {"GET", gptbot, "/robots.txt", 403}, {"GET", bingbot, "/", 200}, {"GET", chrome, "/", 200}}},
		{"migrate.md", "deny AhrefsBot", nil, []request{{"GET", gptbot, "/", 403}, {"GET", "AhrefsBot/7.0", "/", 403}, {"GET", "ClaudeBot/1.0", "/", 403}, {"GET", gptbot, "/robots.txt", 200}, {"GET", "EvilScraper/1.0", "/", 403}, {"GET", bingbot, "/", 200}, {"GET", chrome, "/", 200}}},
		{"hosting.md", "policy no-training", []string{"http:// {\n", "http://:$PORT {\n", "t1.example", "localhost"}, []request{{"GET", gptbot, "/", 403}, {"GET", bingbot, "/", 200}, {"GET", bingbot, "/private", 403}}},
		{"hosting.md", "policy no-training", []string{"http:// {\n", "http://:$PORT {\n"}, []request{{"GET", gptbot, "/", 200}, {"GET", gptbot, "/private", 403}}},
	} {
		t.Run(tt.page+" "+strings.TrimSpace(tt.contains), func(t *testing.T) {
			t.Parallel()
			b := newBackend(t, page(disallow("/private")+"\nUser-agent: EvilScraper\nDisallow: /\n"))
			oldnew := append(tt.oldnew, "localhost:8080", b.address())
			if tt.page != "hosting.md" { // which has a site for any host
				oldnew = append(oldnew, "example.com {", "http://localhost:$PORT {")
			}
			s := start(t, documented(t, tt.page, "caddyfile", tt.contains, oldnew...))
			for _, r := range tt.requests {
				s.wants(r.status, s.do(r.method, fmt.Sprintf("http://localhost:%d%s", s.port, r.path), r.ua, "", nil), r.method+" "+r.path+" "+r.ua)
			}
		})
	}
}

// What docs/why.md and docs/before-you-enforce.md say of clients is true where the group
// for * disallows everything, and the line that they name changes it.
func TestDocumentedClients(t *testing.T) {
	t.Parallel()
	const from = " from 203.0.113.7"
	rows := []struct {
		client, line string // in a line of the pages
		ua           string
		status       int    // without the line
		with, always string // lines of the block: the page's, and those of both sites
	}{
		{"UptimeRobot", "exempt UptimeRobot from ADDRESS", uptimeRobot, 200, "exempt UptimeRobot" + from, ""},
		{"HAProxy", "", "HAProxy", 200, "", ""},
		{"ELB", "", "ELB-HealthChecker/2.0", 200, "", ""},
		{"Health checks", "`class probe`", "acme-lb-check/1.0", 403, "crawler acme-lb-check {\nuser_agents acme-lb-check\nclass probe\n}", ""},
		{"curl", "", "curl/8.5.0", 200, "", ""},
		{"curl", "exempt curl from ADDRESS", "curl/8.5.0", 403, "exempt curl" + from, "http_clients on\n"},
		{"an unknown name with a contact", "", "deploy-checker/1.0 (ops@example.com)", 403, "crawler deploy-checker {\nuser_agents deploy-checker\n}\nexempt deploy-checker" + from, ""},
		{"Miniflux", "", "Miniflux/2.0.49; (+https://miniflux.app)", 403, "exempt Miniflux", ""},
		{"Feedly", "", "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)", 403, "exempt Feedly", ""},
		{"Slack", "user_triggered off", slackPreview, 403, "user_triggered off", ""},
		{"Slack", "`exempt Slackbot Mastodon \"Synapse URL preview\"`", slackPreview, 403, "exempt Slackbot Mastodon \"Synapse URL preview\"", ""},
		{"Matrix", "", "Synapse (bot; +https://github.com/matrix-org/synapse)", 403, "exempt Slackbot Mastodon \"Synapse URL preview\"", ""},
		{"Mastodon", "", "Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.social/)", 403, "exempt Slackbot Mastodon \"Synapse URL preview\"", ""},
		{"Stripe", "", "Stripe/1.0 (+https://stripe.com/docs/webhooks)", 200, "", ""},
		{"Mollie", "", "Mollie HTTP client/1.0", 200, "", ""},
		{"payment webhooks", "`class webhook`", "payhook/1.0 (dev@shop.example)", 403, "crawler PayHook {\nuser_agents payhook\nclass webhook\n}", ""},
		{"AhrefsSiteAudit", "exempt AhrefsSiteAudit from ADDRESS", siteAudit, 403, "exempt AhrefsSiteAudit" + from, ""},
		{"Screaming Frog", "", "Screaming Frog SEO Spider/20.0", 403, `exempt "Screaming Frog SEO Spider"` + from, ""},
		{"ChatGPT-User", "user_triggered off", chatGPTUser, 403, "user_triggered off", ""},
		{"ChatGPT-User", "allow ChatGPT-User", chatGPTUser, 403, "user_triggered off\npolicy no-ai {\nallow ChatGPT-User\n}", ""},
	}
	b := newBackend(t, page(disallow("/")))
	config := "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.0/8 ::1/128\n\t}\n}\n"
	for i, r := range rows {
		for name, lines := range map[string]string{"without": r.always, "with": r.always + r.with} {
			config += fmt.Sprintf("http://%s-%d.test:$PORT {\n\trobots {\n%s\n\t}\n\treverse_proxy %s\n}\n", name, i, lines, b.address())
		}
	}
	s := start(t, config)
	text := readFile(t, filepath.Join(root(t), "docs", "why.md")) + readFile(t, filepath.Join(root(t), "docs", "before-you-enforce.md"))
	get := func(host, ua, path string) response {
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, host, http.Header{"X-Forwarded-For": {"203.0.113.7"}})
	}
	for i, r := range rows {
		found := false
		for line := range strings.Lines(text) {
			found = found || strings.Contains(line, r.client) && strings.Contains(line, r.line)
		}
		if !found {
			t.Errorf("no line has %q and %q", r.client, r.line)
		}
		s.wants(r.status, get(fmt.Sprintf("without-%d.test", i), r.ua, "/page"), r.ua)
		s.wants(200, get(fmt.Sprintf("with-%d.test", i), r.ua, "/page"), r.ua+" with "+r.with)
	}
	for n := range 20 {
		want := 200
		if n >= 15 { // /page above is the first URL of the hour
			want = 403
		}
		path := fmt.Sprintf("/other-%d", n)
		s.wants(want, get("without-0.test", uptimeRobot, path), "UptimeRobot "+path)
		s.wants(200, get("with-0.test", uptimeRobot, path), "exempt UptimeRobot "+path)
	}
	s = start(t, "http://localhost:$PORT {\n\trobots\n\treverse_proxy "+newBackend(t, page("User-agent: *\nDisallow: /\nAllow: /feed.xml\n")).address()+"\n}\n")
	s.wants(200, s.get(feedReader, "/feed.xml"), "a feed that the file allows")
	s.wants(403, s.get(feedReader, "/"), "another page for the feed reader")
}

// Each line that docs/migrate.md writes for one of Apache or nginx does the same, in
// a site of its own.
func TestDocumentedPairs(t *testing.T) {
	t.Parallel()
	const semrushbot = "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".rtf") {
			w.Header().Set("Content-Type", "application/rtf")
		}
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	type request struct{ ua, path, tag string }
	rows := []struct {
		line     string
		requests []request
	}{
		{"x_robots_tag *.pdf noindex", []request{{chrome, "/a/b.pdf?x", "noindex"}, {chrome, "/b.html", ""}}},
		{`x_robots_tag ~ \.(docx?|xlsx?)$ noindex`, []request{{chrome, "/a/b.docx", "noindex"}, {chrome, "/b.xls", "noindex"}, {chrome, "/b.docs", ""}}},
		{`x_robots_tag ~ (?i)\.zip$ noindex`, []request{{chrome, "/a/b.ZIP", "noindex"}, {chrome, "/zip", ""}}},
		{"x_robots_tag /drafts/ noindex", []request{{chrome, "/drafts/a/b", "noindex"}, {chrome, "/a/drafts/b", ""}}},
		{"x_robots_tag /terms$ noindex", []request{{chrome, "/terms", "noindex"}, {chrome, "/terms/a", ""}, {chrome, "/terms?a", ""}}},
		{"x_robots_tag */print/ noindex", []request{{chrome, "/a/print/b", "noindex"}, {chrome, "/print/b", "noindex"}, {chrome, "/printer", ""}}},
		{"x_robots_tag type application/rtf noindex", []request{{chrome, "/a.rtf", "noindex"}, {chrome, "/a", ""}}},
		{`x_robots_tag * "googlebot: only nosnippet"`, []request{{googlebot, "/", "googlebot: nosnippet"}, {chrome, "/", ""}}},
		{"x_robots_tag status 404 noindex", []request{{chrome, "/missing", "noindex"}, {chrome, "/", ""}}},
		{"x_robots_tag * noindex", []request{{chrome, "/a/", "noindex"}, {chrome, "/missing", "noindex"}}},
		{"deny AhrefsBot MJ12bot", []request{{"AhrefsBot/7.0", "/", "403"}, {"MJ12bot/1.4", "/", "403"}, {googlebot, "/", ""}, {chrome, "/", ""}}},
		{"deny SemrushBot /gallery/", []request{{semrushbot, "/gallery/1", "403"}, {semrushbot, "/", ""}, {chrome, "/gallery/1", ""}}},
	}
	text, config := strings.ReplaceAll(readFile(t, filepath.Join(root(t), "docs", "migrate.md")), `\|`, "|"), ""
	for i, row := range rows {
		if !strings.Contains(text, "`"+row.line+"`") {
			t.Errorf("no row has %q", row.line)
		}
		if strings.HasPrefix(row.line, "deny") {
			row.line = "policy {\n" + row.line + "\n}"
		}
		config += fmt.Sprintf("http://row-%d.test:$PORT {\n\trobots {\nsource inline \"User-agent: *\"\n%s\n\t}\n\treverse_proxy %s\n}\n", i, row.line, b.address())
	}
	s := start(t, config)
	for i, row := range rows {
		for _, r := range row.requests {
			resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, r.path), r.ua, fmt.Sprintf("row-%d.test", i), nil)
			got := strings.Join(resp.header.Values("X-Robots-Tag"), ", ")
			if resp.status == http.StatusForbidden {
				got = "403"
			}
			if got != r.tag {
				t.Errorf("%s: %s %.40s: %q, want %q", row.line, r.path, r.ua, got, r.tag)
			}
		}
	}
}

// Of crawlers, nginx with the lines of docs/migrate.md and Caddy with the ones in
// their place let as many requests pass at once.
func TestDocumentedLimitOfNginx(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(""))
	s := start(t, documented(t, "migrate.md", "caddyfile", "all 30/1m", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	const nginx = "/usr/sbin/nginx"
	ports := map[int]int{s.port: 429}
	if _, err := exec.LookPath(nginx); err != nil {
		t.Logf("%s is not installed: only the Caddyfile is run", nginx)
	} else {
		dir, port := t.TempDir(), freePort(t)
		ports[port] = 503
		file := filepath.Join(dir, "nginx.conf")
		writeFile(t, file, fmt.Sprintf("daemon off;\npid %s/pid;\nerror_log %[1]s/error.log;\nevents {}\nhttp {\naccess_log off;\n%s}\n", dir,
			documented(t, "migrate.md", "nginx", "limit_req", "listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", port), "localhost:8080", b.address())))
		theirs := child.SignalledCommand(syscall.SIGTERM, nginx, "-c", file, "-p", dir)
		if err := theirs.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = theirs.Process.Signal(os.Interrupt); _ = theirs.Wait() })
		s.eventually("nginx is up", func() bool {
			_, err := send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/", port), chrome, "", nil)
			return err == nil
		})
	}
	for port, refused := range ports {
		url := fmt.Sprintf("http://localhost:%d/archive/x", port)
		passed := 0
		for range 10 { // a machine that is slow earns one request in two seconds
			resp := s.do(http.MethodGet, url, gptbot, "", nil)
			if resp.status == refused {
				break
			}
			s.wants(200, resp, url)
			passed++
		}
		if passed < 3 || passed == 10 {
			t.Errorf("%s: %d requests of a crawler passed at once, want 3", url, passed)
		}
		s.wants(200, s.do(http.MethodGet, url, chrome, "", nil), url+" for a person")
	}
}

// The lines for the first minutes refuse crawlers while the server is busy, and
// serve people.
func TestDocumentedFirstMinutes(t *testing.T) {
	t.Parallel()
	b := newCrowd(t)
	s := start(t, documented(t, "overload.md", "caddyfile", "first ai-training seo", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	s.wants(200, s.get(gptbot, "/page"), "GPTBot, before the load")
	b.wait(s, 9)
	s.eventually("GPTBot is refused", func() bool { return s.get(gptbot, "/page").status == 503 })
	if got := s.get(gptbot, "/page"); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("GPTBot: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	s.wants(200, s.get(chrome, "/page"), "a person")
	b.gate.open()
	b.sent.Wait()
}

// The fields of the example in docs/headers.md are sent.
func TestDocumentedHeaders(t *testing.T) {
	t.Parallel()
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/missing") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		page("")(w, r)
	})
	s := start(t, documented(t, "headers.md", "caddyfile", "x_robots_tag *.pdf", "example.com {", "http://localhost:$PORT {", "file_server", "reverse_proxy "+b.address()))
	for _, tt := range []struct{ ua, path, want string }{
		{chrome, "/a/b.pdf", "noindex, nofollow, noarchive"}, {chrome, "/b.html", ""}, {chrome, "/b.txt", "noarchive"}, {chrome, "/missing.html", "noindex"},
		{chrome, "/events/2026/x.html", "unavailable_after: 2027-01-31"}, {googlebot, "/b.html", "googlebot: nosnippet"},
	} {
		if got := strings.Join(s.get(tt.ua, tt.path).header.Values("X-Robots-Tag"), ", "); got != tt.want {
			t.Errorf("%s %.20s: X-Robots-Tag %q, want %q", tt.path, tt.ua, got, tt.want)
		}
	}
}

// The shell commands of the guides run, with the files that they name, and end with
// the exit statuses that the pages say. The network is replaced by a back end.
func TestGuideCommands(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page("User-agent: *\nAllow: /terms$\nDisallow: /private\n"))
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "robots.txt"), disallow("/private"))
	writeFile(t, filepath.Join(dir, "public", "robots.txt"), "User-agent: *\nAllow: /terms$\n")
	var log strings.Builder
	for i, host := range []string{"example.com", "shop.example.com", "blog.example.com"} {
		for _, path := range []string{"/robots.txt", "/", "/private"} {
			fmt.Fprintf(&log, "%s 192.0.2.%d - - [07/Nov/2026:12:00:0%d +0000] \"GET %s HTTP/1.1\" 200 120 \"-\" \"%s\"\n", host, i+1, i, path, gptbot)
		}
	}
	writeFile(t, filepath.Join(dir, "access.log"), log.String())
	writeFile(t, filepath.Join(dir, "decided.log"), readFile(t, filepath.Join(root(t), "testdata", "commands", "decided.log")))
	writeFile(t, filepath.Join(dir, "other.log"), fmt.Sprintf("example.com 192.0.2.1 [07/Nov/2026:12:00:00 +0000] \"GET /private HTTP/1.1\" 200 \"%s\"\n", gptbot))
	writeFile(t, filepath.Join(dir, "Caddyfile.new"), "example.com {\n\trobots {\n\t\tsource file robots.txt\n\t\tpolicy no-training\n\t}\n}\n")
	terms := documented(t, "answers.md", "caddyfile", "deny ai-training ai-data /")
	replace := strings.NewReplacer("https://example.com", b.URL, "/var/log/caddy/", dir+"/", " --verify", "", `--host "$host"`, `--host "$host" --robots robots.txt`,
		"--host shop.example.com access.log", "--host t401.example decided.log", "14:03 access.log", "14:03 decided.log", "--requests GPTBot access.log", "--requests GPTBot decided.log")
	for _, tt := range []struct {
		page, contains, config string
		exits                  []int // of the lines, or of the only command
		want                   string
	}{
		{"before-you-enforce.md", "audit", "", []int{0}, "Rules of"},
		{"audit.md", "--html report.html", "example.com {\n\trobots {\n\t\tsource file robots.txt\n\t}\n}\n", []int{0, 0, 0, 0}, "3 days"},
		{"audit.md", "merged.txt", "example.com {\n\trobots {\n\t\tsource file robots.txt\n\t\tpolicy no-training\n\t}\n}\n", []int{0, 0}, "GPTBot"},
		{"audit.md", "Caddyfile.new", "example.com {\n\trobots {\n\t\tsource file robots.txt\n\t}\n}\n", []int{0}, "1 more requests are refused, 0 more are allowed"},
		{"audit.md", "for host in", "", []int{0}, ""},
		{"audit.md", "--decided", "", []int{0, 0}, "Caddy refused 1 of 2 requests"},
		{"audit.md", "--requests", "", []int{0}, "Disallow: "},
		{"policies.md", "--check", "example.com {\n\trobots {\n\t\tpolicy no-training\n\t}\n}\n", []int{0, 2}, "User-agent: GPTBot"},
		{"answers.md", "/terms /", terms, []int{2}, "pass     /terms"},
	} {
		writeFile(t, filepath.Join(dir, "Caddyfile"), tt.config)
		commands := strings.Split(strings.TrimSpace(documented(t, tt.page, "sh", tt.contains)), "\n")
		if len(tt.exits) == 1 {
			commands = []string{strings.Join(commands, "\n")}
		}
		if len(commands) != len(tt.exits) {
			t.Errorf("%s: %d commands, want %d", tt.page, len(commands), len(tt.exits))
			continue
		}
		var all strings.Builder
		for i, command := range commands {
			cmd := exec.Command("bash", "-c", replace.Replace(command))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_DATA_HOME="+dir)
			out, err := cmd.CombinedOutput()
			all.Write(out)
			if got := cmd.ProcessState.ExitCode(); got != tt.exits[i] {
				t.Errorf("%s: $ %s\nexit status %d, want %d (%v):\n%s", tt.page, command, got, tt.exits[i], err, out)
			}
		}
		if !strings.Contains(all.String(), tt.want) {
			t.Errorf("%s: %s prints no %q:\n%s", tt.page, tt.contains, tt.want, all.String())
		}
	}
	for _, name := range []string{"report.html", "merged.txt", "shop.example.com.html", "blog.example.com.txt", "blog.example.com.caddyfile"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("the commands wrote no %s: %v", name, err)
		}
	}
}

// Each way to put the trap into a page that docs/suspects.md shows gives the client
// a URL below the trap's path.
func TestDocumentedTraps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trapIn := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, `<a href="/calendar-all/`) {
			t.Errorf("%s: there is no trap in %q", what, text)
		}
	}
	open := func(s *server, tlsPort int) (page string) {
		t.Helper()
		c := http2Client(tlsPort)
		t.Cleanup(c.CloseIdleConnections)
		s.eventually("the page is served", func() bool {
			resp, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d/", tlsPort), chrome, "", nil)
			page = resp.body
			return err == nil && resp.status == 200
		})
		return page
	}
	const proxied = "php_fastcgi unix//run/php/php-fpm.sock {\n\t\tenv ROBOTS_TRAP {http.robots.trap}\n\t}\n\tfile_server"
	adapt := func(contains string, tlsPort int, oldnew ...string) string {
		return documented(t, "suspects.md", "caddyfile", contains, append(oldnew, "example.com {", fmt.Sprintf("https://localhost:%d {", tlsPort), "robots {", "robots {\n"+trapRules)...)
	}

	writeFile(t, filepath.Join(dir, "templates", "index.html"), documented(t, "suspects.md", "html", "http.robots.trap"))
	port := freePort(t)
	trapIn("templates", open(start(t, adapt("action observe", port, "/srv/www", filepath.Join(dir, "templates"))), port))

	b := newBackend(t, page(""))
	port = freePort(t)
	open(start(t, adapt("ROBOTS_TRAP", port, "/var/www/app", dir, proxied, "reverse_proxy "+b.address()+" {\n\t\theader_up X-Trap {http.robots.trap}\n\t}")), port)
	if got := b.requests("/"); len(got) == 0 || !strings.HasPrefix(got[len(got)-1].Header.Get("X-Trap"), "/calendar-all/") {
		t.Errorf("header_up: the back end got no trap in %d requests", len(got))
	}
	if !strings.Contains(readFile(t, filepath.Join(root(t), "docs", "suspects.md")), "`header_up X-Trap {http.robots.trap}`") {
		t.Error("the page does not show header_up")
	}

	programs, _ := filepath.Glob("/usr/sbin/php-fpm*")
	if len(programs) == 0 {
		t.Log("php-fpm is not installed: the lines for PHP are not run")
		return
	}
	socket := filepath.Join(dir, "fpm.sock")
	writeFile(t, filepath.Join(dir, "php", "index.php"), documented(t, "suspects.md", "php", "ROBOTS_TRAP"))
	writeFile(t, filepath.Join(dir, "fpm.conf"), fmt.Sprintf("[global]\nerror_log = %s/fpm.log\n[www]\nlisten = %s\npm = static\npm.max_children = 1\n", dir, socket))
	startPHP(t, programs[0], dir)
	port = freePort(t)
	trapIn("PHP", open(start(t, adapt("ROBOTS_TRAP", port, "/var/www/app", filepath.Join(dir, "php"), "/run/php/php-fpm.sock", socket)), port))
}
