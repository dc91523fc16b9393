package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// Behind each proxy of docs/cdn.md, software that anyone runs is counted by the
// client's own address, whatever X-Forwarded-For the client sends.
func TestDocumentedProxies(t *testing.T) {
	t.Parallel()
	const header = "\t\tclient_ip_headers CF-Connecting-IP\n"
	for _, tt := range []struct{ proxy, field, replacement string }{
		{"Cloudflare", "CF-Connecting-IP", header},
		{"Fastly", "Fastly-Client-IP", "\t\tclient_ip_headers Fastly-Client-IP\n"},
		{"a balancer that appends", "X-Forwarded-For", ""},
	} {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			if !regexp.MustCompile(`(?m)^\| ` + tt.proxy + `.*(` + tt.field + `|leave the line out)`).MatchString(readFile(t, filepath.Join(root(t), "docs", "cdn.md"))) {
				t.Errorf("the page has no row for %s with %s", tt.proxy, tt.field)
			}
			b := newBackend(t, page("User-agent: *\nCrawl-delay: 600\n"))
			s := start(t, documented(t, "cdn.md", "caddyfile", "trusted_proxies_strict", header, tt.replacement, "2001:db8::/32", "2001:db8::/32 127.0.0.0/8 ::1/128",
				"example.com {", "http://localhost:$PORT {", "localhost:9000", b.address(), "\t\tverify\n", ""))
			from := func(addr, sent string) response {
				fields := http.Header{"X-Forwarded-For": {sent}}
				fields.Set(tt.field, strings.TrimPrefix(fields.Get(tt.field)+", "+addr, ", ")) // Cloudflare and Fastly replace it
				return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), "Wget/1.21.3", "", fields)
			}
			s.wants(200, from("203.0.113.1", ""), "one client")
			s.wants(200, from("203.0.113.2", ""), "another client")
			s.wants(429, from("203.0.113.1", ""), "the first client again")
			s.wants(429, from("203.0.113.1", "198.51.100.7"), "the first client with an invented address")
		})
	}
}

// The example with the PROXY protocol takes the client's address from it.
func TestDocumentedProxyProtocol(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page("User-agent: *\nCrawl-delay: 600\n"))
	s := start(t, documented(t, "cdn.md", "caddyfile", "proxy_protocol", "10.0.0.0/8", "127.0.0.0/8 ::1/128", "example.com {", "http://localhost:$PORT {", "localhost:9000", b.address()))
	for _, tt := range []struct {
		addr string
		want int
	}{{"203.0.113.1", 200}, {"203.0.113.2", 200}, {"203.0.113.1", 429}} {
		conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "PROXY TCP4 %s 127.0.0.1 4711 %d\r\nGET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Wget/1.21.3\r\nConnection: close\r\n\r\n", tt.addr, s.port)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", tt.addr, resp.StatusCode, tt.want)
		}
		conn.Close()
	}
}

// The commands of docs/grace.md show what a new file will do on its first day,
// and end the grace period.
func TestDocumentedGrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "old.txt"), "User-agent: *\nAllow: /\n")
	writeFile(t, filepath.Join(dir, "new.txt"), disallow("/archive/"))
	_, command, _ := strings.Cut(documented(t, "grace.md", "sh", "--before"), "caddy ")
	cmd := exec.Command(binary, strings.Fields(command)...)
	cmd.Dir = dir
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "pass     /archive/  Googlebot (crawler): grace") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the other command is not run")
		return
	}
	var file atomic.Value
	file.Store("User-agent: *\nAllow: /\n")
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) { page(file.Load().(string))(w, r) })
	s := start(t, "http://localhost:$PORT {\n\trobots\n\treverse_proxy "+b.address()+"\n}\n")
	s.wants(200, s.get(googlebot, "/archive/"), "before the change")
	file.Store(disallow("/archive/"))
	refresh := func(command string) string {
		t.Helper()
		out, err := exec.Command("bash", "-c", strings.ReplaceAll(command, "localhost:2019", fmt.Sprintf("localhost:%d", s.admin))).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	refresh("curl -s -X POST http://localhost:2019/robots/refresh")
	s.wants(200, s.get(googlebot, "/archive/"), "in the grace period")
	if got := refresh(documented(t, "grace.md", "sh", "grace=off", "curl", "curl -s")); !strings.Contains(got, `"grace":1`) {
		t.Errorf("the answer: %s", got)
	}
	s.wants(403, s.get(googlebot, "/archive/"), "after the grace period")
}

// The examples in the table of docs/who-is-bound.md have the class of their row,
// and * applies to them as the row says.
func TestDocumentedClasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	robotsTxt := filepath.Join(dir, "robots.txt")
	writeFile(t, robotsTxt, disallow("/")+"\nUser-agent: AcmeThing\nUser-agent: Chrome\nDisallow: /\n")
	rows := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)`[^|]*\\|(.*)$").FindAllStringSubmatch(readFile(t, filepath.Join(root(t), "docs", "who-is-bound.md")), -1) {
		rows[m[1]] = m[2]
	}
	for _, tt := range []struct{ class, example, ua, want string }{
		{"person", "browsers", chrome, "pass"},
		{"person", "apps", "Chatbot/42 CFNetwork/1485 Darwin/23.1.0", "pass"},
		{"crawler", "Googlebot", googlebot, "deny"},
		{"crawler", "GPTBot", gptbot, "deny"},
		{"crawler", "AhrefsBot", "AhrefsBot/7.0", "deny"},
		{"crawler", "AdsBot-Google", "AdsBot-Google (+http://www.google.com/adsbot.html)", "pass"},
		{"self-declared", "bot", "ShopSyncBot/2.1", "deny"},
		{"self-declared", "contact", "mytool/1.0 (admin@example.org)", "deny"},
		{"self-declared", "(compatible; X/1.0)", "Mozilla/5.0 (compatible; X/1.0)", "deny"},
		{"scraper", "wget", "Wget/1.21.3", "deny"},
		{"scraper", "HTTrack", "Mozilla/4.5 (compatible; HTTrack 3.0x; Windows 98)", "deny"},
		{"scraper", "Scrapy", "Scrapy/2.11.0 (+https://scrapy.org)", "deny"},
		{"user-triggered", "ChatGPT-User", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "deny"},
		{"library", "curl", "curl/8.5.0", "pass"},
		{"library", "python-requests", "python-requests/2.31.0", "pass"},
		{"library", "`okhttp/4.12` alone", "okhttp/4.12", "pass"},
		{"program", "`SiteSweeper/2.0`", "SiteSweeper/2.0", "pass"},
		{"program", "Terraform", "Terraform/1.9.0", "pass"},
		{"program", "Nextcloud", "Nextcloud Server Crawler", "pass"},
		{"webhook", "Stripe", "Stripe/1.0 (+https://stripe.com/docs/webhooks)", "pass"},
		{"webhook", "PayPal", "PayPal/AUHR-214.0-58843267", "pass"},
		{"webhook", "GitHub-Hookshot", "GitHub-Hookshot/044aadd", "pass"},
		{"probe", "kube-probe", "kube-probe/1.31", "pass"},
		{"probe", "ELB-HealthChecker", "ELB-HealthChecker/2.0", "pass"},
		{"probe", "UptimeRobot", "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "pass"},
		{"named", "any name in the file", chrome + " AcmeThing/1.0", "deny"},
	} {
		if !strings.Contains(rows[tt.class], tt.example) {
			t.Errorf("the row of %s does not have %s: %s", tt.class, tt.example, rows[tt.class])
		}
		out, _ := exec.Command(binary, "robots", "check", "--robots", robotsTxt, "--agent", tt.ua, "/").Output()
		line := string(out)
		class := strings.Contains(line, "("+tt.class+")") || tt.class == "person" && strings.Contains(line, "person")
		if !class || !strings.HasPrefix(line, tt.want) {
			t.Errorf("%s: %s; want %s, %s", tt.ua, line, tt.want, tt.class)
		}
	}
}

// The example of docs/who-is-bound.md adds a crawler that obeys another one's
// group, and a webhook, which is exempt at its addresses.
func TestDocumentedCrawlers(t *testing.T) {
	t.Parallel()
	const file = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /private\n"
	serve := func(file, address string) *server {
		b := newBackend(t, page(file))
		return start(t, documented(t, "who-is-bound.md", "caddyfile", "crawler PayHook", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address(), "198.51.100.0/24", address))
	}
	s := serve(file, "198.51.100.0/24")
	s.wants(403, s.get("our-indexer/1.0", "/private"), "a path that Googlebot's group disallows")
	s.wants(200, s.get("our-indexer/1.0", "/"), "a path that only * disallows")
	s.wants(200, s.get("payhook/1.0", "/"), "a webhook, to which * does not apply")
	const own = file + "\nUser-agent: PayHook\nDisallow: /\n"
	s = serve(own, "198.51.100.0/24")
	s.get(bingbot, "/") // crawlers wait until robots.txt has been read
	s.wants(403, s.get("payhook/1.0", "/"), "a webhook that a group names")
	s = serve(own, "127.0.0.0/8 ::1")
	s.get(bingbot, "/")
	s.wants(200, s.get("payhook/1.0", "/"), "the same at an exempt address")
}

// The URLs of docs/fleet.md can be loaded.
func TestDocumentedFleetURLs(t *testing.T) {
	t.Parallel()
	urls := regexp.MustCompile("`((?:redis|valkey)[a-z+]*://[^`\\[…]+)`").FindAllStringSubmatch(readFile(t, filepath.Join(root(t), "docs", "fleet.md")), -1)
	if len(urls) < 3 {
		t.Fatalf("only %d URLs were found", len(urls))
	}
	for i, u := range urls {
		address := regexp.MustCompile(`\{env\.\w+\}`).ReplaceAllString(u[1], "secret")
		validate(t, "caddyfile", fmt.Sprintf("http://%d.example.com {\n\trobots {\n\t\tfleet %s\n\t}\n}\n", i, address))
	}
}

// docs/grafana/README.md has a row for each alert, with the time that it takes.
func TestDocumentedAlerts(t *testing.T) {
	t.Parallel()
	page := readFile(t, filepath.Join(root(t), "docs", "grafana", "README.md"))
	alerts := regexp.MustCompile(`(?s)- alert: (\w+)\n.*?\n +for: (\d+)m\n`).FindAllStringSubmatch(readFile(t, filepath.Join(root(t), "docs", "grafana", "alerts.yml")), -1)
	for _, m := range alerts {
		row, _, _ := strings.Cut(page[max(0, strings.Index(page, "| "+m[1]+" |")):], "\n")
		if !strings.Contains(page, "\n| "+m[1]+" |") || regexp.MustCompile(`\(\d+ minutes?\)`).MatchString(row) && !strings.Contains(row, "("+m[2]+" minute") {
			t.Errorf("no row describes the alert %s, after %s minutes: %s", m[1], m[2], row)
		}
	}
	if rows := strings.Count(page, "\n| Robots"); rows != len(alerts) || rows < 5 {
		t.Errorf("the page has %d alerts, the file %d", rows, len(alerts))
	}
}

// docs/performance.md names benchmarks that exist.
func TestDocumentedBenchmarks(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile("`([A-Z][A-Za-z]+)` in `([a-z0-9/]+)`").FindAllStringSubmatch(readFile(t, filepath.Join(root(t), "docs", "performance.md")), -1)
	if len(names) < 3 {
		t.Fatalf("only %d benchmarks were found", len(names))
	}
	for _, m := range names {
		files, _ := filepath.Glob(filepath.Join(root(t), m[2], "*_test.go"))
		found := false
		for _, file := range files {
			found = found || strings.Contains(readFile(t, file), "func Benchmark"+m[1]+"(")
		}
		if !found {
			t.Errorf("%s has no benchmark %s", m[2], m[1])
		}
	}
}
