package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented returns the block of a page in docs, in a language, that contains a
// text, with parts of it replaced. Each part must be there.
func documented(t *testing.T, page, language, contains string, oldnew ...string) string {
	t.Helper()
	for _, block := range fenced(readFile(t, filepath.Join(root(t), "docs", page)))[language] {
		if !strings.Contains(block, contains) {
			continue
		}
		for i := 0; i < len(oldnew); i += 2 {
			if !strings.Contains(block, oldnew[i]) {
				t.Fatalf("the example of %s does not contain %q:\n%s", page, oldnew[i], block)
			}
		}
		return strings.NewReplacer(oldnew...).Replace(block)
	}
	t.Fatalf("%s has no %s with %q", page, language, contains)
	return ""
}

// address returns the host and port of a back end.
func (b *backend) address() string { return strings.TrimPrefix(b.URL, "http://") }

// An error route answers refusals, and leaves other errors alone.
func TestDocumentedErrorRoute(t *testing.T) {
	t.Parallel()
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
		page(disallow("/private"))(w, r)
	})
	s := start(t, documented(t, "metrics-and-logs.md", "caddyfile", "handle_errors", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	for _, tt := range []struct {
		ua, path string
		want     response
	}{
		{gptbot, "/private", response{status: 403, body: "GPTBot was refused: disallowed Disallow: /private"}},
		{gptbot, "/broken", response{status: 502}},
		{chrome, "/broken", response{status: 502}},
		{chrome, "/private", response{status: 200, body: "page /private"}},
	} {
		if got := s.get(tt.ua, tt.path); got.status != tt.want.status || got.body != tt.want.body {
			t.Errorf("%.60s %s: %d %q, want %d %q", tt.ua, tt.path, got.status, got.body, tt.want.status, tt.want.body)
		}
	}
}

// The matcher works in the example for a crawler that only the handler knows.
func TestDocumentedMatcher(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(""))
	s := start(t, documented(t, "metrics-and-logs.md", "caddyfile", "X-Crawler-Terms", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address(),
		"\trobots\n", "\trobots {\n\t\tcrawler OurIndexer {\n\t\t\tuser_agents our-indexer\n\t\t\tpurpose ai-training\n\t\t}\n\t}\n"))
	for _, tt := range []struct {
		ua     string
		status int
		terms  string
	}{
		{gptbot, 402, "https://example.com/terms"},
		{"our-indexer/1.0", 402, "https://example.com/terms"},
		{googlebot, 200, ""},
		{chrome, 200, ""},
	} {
		if got := s.get(tt.ua, "/"); got.status != tt.status || got.header.Get("X-Crawler-Terms") != tt.terms {
			t.Errorf("%.60s: status %d, X-Crawler-Terms %q; want %d, %q", tt.ua, got.status, got.header.Get("X-Crawler-Terms"), tt.status, tt.terms)
		}
	}
}

// The directive header runs before robots. docs/metrics-and-logs.md says which
// forms of it work, and which other directives.
func TestPlacesOfPlaceholdersAndMatchers(t *testing.T) {
	t.Parallel()
	const deferred = "header >X-Crawler {http.robots.crawler}"
	if !strings.Contains(readFile(t, filepath.Join(root(t), "docs", "metrics-and-logs.md")), "`"+deferred+"`") {
		t.Errorf("the page does not show %s", deferred)
	}
	b := newBackend(t, page(disallow("/search")))
	s := start(t, fmt.Sprintf(`http://localhost:$PORT {
	%s
	robots
	@search robots disallowed
	header X-Plain {http.robots.crawler}
	header @search X-Matched plain
	header @search >X-Deferred deferred
	route {
		header X-Class {http.robots.class}
	}
	redir @search /elsewhere 307
	reverse_proxy %[2]s
}
http://other.test:$PORT {
	robots
	@search robots disallowed
	handle /search/* {
		header @search X-Handled yes
		reverse_proxy %[2]s
	}
	reverse_proxy %[2]s
}
http://third.test:$PORT {
	robots
	@search robots disallowed
	request_header @search X-Back-End yes
	reverse_proxy %[2]s {
		header_up X-Class {http.robots.class}
	}
}
`, deferred, b.address()))
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	bot := s.get(bingbot, "/") // crawlers wait until robots.txt has been read
	s.at("other.test", bingbot, "/")
	s.at("third.test", bingbot, "/")
	want("header > with a placeholder", bot.header.Get("X-Crawler"), "bingbot")
	want("header with a placeholder", bot.header.Get("X-Plain"), "{http.robots.crawler}")
	want("a placeholder in route", bot.header.Get("X-Class"), "crawler")
	redirected := s.get(chrome, "/search/x")
	s.wants(307, redirected, "redir with the matcher")
	want("header with the matcher", redirected.header.Get("X-Matched"), "")
	want("header > with the matcher", redirected.header.Get("X-Deferred"), "")
	want("header in handle", s.at("other.test", chrome, "/search/x").header.Get("X-Handled"), "yes")
	s.at("third.test", chrome, "/search/third")
	if got := b.requests("/search/third"); len(got) != 1 || got[0].Header.Get("X-Back-End") != "yes" || got[0].Header.Get("X-Class") != "person" {
		t.Errorf("the back end got %d requests, the last one with %v", len(got), got)
	}
}

// The back end gets the field of the example for suspects only.
func TestDocumentedMatcherOfSuspects(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	tlsPort := freePort(t)
	s := start(t, documented(t, "suspects.md", "caddyfile", "@suspect robots suspect", "example.com {", fmt.Sprintf("https://localhost:%d {", tlsPort), "localhost:8080", b.address()))
	c := http2Client(tlsPort)
	t.Cleanup(c.CloseIdleConnections)
	get := func(ua, path string) {
		t.Helper()
		if _, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d%s", tlsPort, path), ua, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	s.eventually("there is a certificate", func() bool {
		_, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d/", tlsPort), "curl/8.5.0", "", nil)
		return err == nil
	})
	get(firefox, "/robots.txt")
	for i := range 60 {
		get(firefox, fmt.Sprintf("/page-%d.html", i))
	}
	get(firefox, "/by-a-suspect")
	get(chrome, "/by-a-person")
	for path, want := range map[string]string{"/by-a-suspect": "yes", "/by-a-person": ""} {
		if got := b.requests(path)[0].Header.Get("X-Suspect"); got != want {
			t.Errorf("%s: X-Suspect %q, want %q", path, got, want)
		}
	}
}

// The commands of the page, run against its first example, make a suspect.
func TestDocumentedSuspect(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the commands are not run")
		return
	}
	tlsPort := freePort(t)
	s := start(t, documented(t, "suspects.md", "caddyfile", "action observe", "example.com {", fmt.Sprintf("https://localhost:%d {", tlsPort),
		"root * /srv/www", "root * "+trapSite(t), "robots {", "robots {\n"+trapRules))
	c := http2Client(tlsPort)
	t.Cleanup(c.CloseIdleConnections)
	s.eventually("there is a certificate", func() bool {
		_, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d/", tlsPort), "curl/8.5.0", "", nil)
		return err == nil
	})
	commands := documented(t, "suspects.md", "sh", "/calendar-all/", "https://localhost", fmt.Sprintf("https://localhost:%d", tlsPort), "localhost:2019", fmt.Sprintf("localhost:%d", s.admin))
	out, err := exec.Command("bash", "-c", commands).Output()
	if err != nil || !strings.Contains(string(out), `"signals":["robots_txt","trap"]`) && !strings.Contains(string(out), `"signals":["trap","robots_txt"]`) {
		t.Errorf("%v: %s", err, out)
	}
}

// The statements of the policy in the example have their effects.
func TestDocumentedPolicy(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	s := start(t, documented(t, "policies.md", "caddyfile", "allow CCBot", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	const ahrefs = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	for _, tt := range []struct {
		ua, path string
		status   int
	}{
		{gptbot, "/", 403}, {"Bytespider", "/", 403}, {"CCBot/2.0", "/", 200}, {"CCBot/2.0", "/private", 403}, {ahrefs, "/archive/x", 403}, {ahrefs, "/", 200}, {ahrefs, "/", 429},
		{googlebot, "/archive/x", 200}, {googlebot, "/backup/x", 404}, {chrome, "/backup/x", 200},
	} {
		s.wants(tt.status, s.get(tt.ua, tt.path), tt.ua+" "+tt.path)
	}
	if got := s.get(chrome, "/"); got.header.Get("Content-Usage") != "train-ai=n" || got.header.Get("Content-Signal") != "" {
		t.Errorf("the fields of a response: %v", got.header)
	}
	refused := s.get(gptbot, "/")
	if link := refused.header.Values("Link"); len(link) != 1 || link[0] != `<https://example.com/rsl.xml>; rel="license"` || !strings.HasSuffix(refused.body, "\nLicense: https://example.com/rsl.xml\n") {
		t.Errorf("a refusal: %v\n%s", refused.header, refused.body)
	}
	if got := s.get(googlebot, "/backup/x"); got.header.Get("Link") != "" {
		t.Errorf("the answer to a hidden path: %v", got.header)
	}
	text := s.get(chrome, "/robots.txt").body
	for _, line := range []string{"License: https://example.com/rsl.xml", "Content-Signal: search=yes, ai-train=no", "Crawl-delay: 10"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the published robots.txt has no line %s:\n%s", line, text)
		}
	}
	if strings.Contains(text, "Content-Usage") {
		t.Errorf("Lighthouse would report the published file:\n%s", text)
	}
	if strings.Contains(text, "backup") {
		t.Errorf("a hidden path is published:\n%s", text)
	}
}

// hidden wins over a longer Allow, but not over exempt_paths.
func TestDocumentedHiddenPaths(t *testing.T) {
	t.Parallel()
	pages := "respond /robots.txt <<TXT\n\t\tUser-agent: *\n\t\tDisallow: /wp-admin/\n\t\tAllow: /wp-admin/admin-ajax.php\n\t\tAllow: /wp-admin/open.php\n\t\tTXT\n\trespond page"
	adapt := func(more string) string {
		return documented(t, "policies.md", "caddyfile", "admin-ajax.php", "example.com {", "http://localhost:$PORT {", "php_fastcgi unix//run/php/php-fpm.sock", pages, "\t\tpolicy {", more+"\t\tpolicy {")
	}
	s := start(t, adapt(""))
	for path, status := range map[string]int{"/": 200, "/wp-admin": 404, "/wp-admin/": 404, "/wp-admin/options.php": 404, "/wp-admin/open.php": 404, "/wp-admin/admin-ajax.php": 200, "/WP-ADMIN/": 200} {
		s.wants(status, s.get(googlebot, path), path)
		s.wants(200, s.get(chrome, path), path+" for a person")
	}
	s = start(t, adapt("\t\tpaths ignore_case\n"))
	s.wants(404, s.get(googlebot, "/WP-ADMIN/"), "with ignore_case")
}

// Of a named route, Caddy keeps only the first directive, so docs/configuration.md
// wraps them in route.
func TestDocumentedNamedRoute(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	config := documented(t, "configuration.md", "caddyfile", "&(app)", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address())
	s := start(t, config)
	s.wants(403, s.get(googlebot, "/private"), "a crawler")
	if got := s.get(chrome, "/private"); got.body != "page /private" {
		t.Errorf("a browser gets %q", got.body)
	}
	alone := strings.NewReplacer("\troute {\n", "", "\t}\n}\nhttp", "}\nhttp").Replace(config)
	if alone == config {
		t.Fatalf("the example is %s", config)
	}
	s = start(t, alone)
	if got := s.get(chrome, "/private"); got.body != "" {
		t.Errorf("without route, a browser gets %q: the page says that it would be empty", got.body)
	}
}

// The answers of the example are sent, and the page that they name can be fetched
// by crawlers that may fetch nothing else.
func TestDocumentedAnswers(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page("User-agent: *\nCrawl-delay: 600\n"))
	adapt := func(oldnew ...string) string {
		return documented(t, "answers.md", "caddyfile", "answer hidden", append(oldnew, "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address(),
			"\trobots {\n", "\trobots {\n\t\tpolicy no-training {\n\t\t\thidden /backup/*\n\t\t}\n")...)
	}
	s := start(t, adapt())
	if got := s.get(gptbot, "/"); got.status != 451 || !strings.Contains(got.body, "https://example.com/terms") {
		t.Errorf("disallowed: %d %s", got.status, got.body)
	}
	s.wants(200, s.get(gptbot, "/terms"), "the page that the text names")
	s.wants(451, s.get(gptbot, "/terms/more"), "another page")
	s.wants(200, s.get(bingbot, "/"), "a search engine")
	if got := s.get(bingbot, "/"); got.status != 429 || !strings.Contains(got.body, "Please keep to the Crawl-delay") {
		t.Errorf("throttled: %d %s", got.status, got.body)
	}
	if _, err := send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/backup/x", s.port), googlebot, "", nil); err == nil {
		t.Error("hidden: there is an answer")
	}
	const text = `451 "Crawlers may not use this content: see https://example.com/terms"`
	s = start(t, adapt(text, "redir /terms"))
	if got := s.get(gptbot, "/"); got.status != 302 || got.header.Get("Location") != "/terms" {
		t.Errorf("redir: %d, Location %s", got.status, got.header.Get("Location"))
	}
	s = start(t, adapt(text, "redir /terms", "/terms$", ""))
	s.wants(403, s.get(gptbot, "/"), "redir to a page that is refused too")
}

// The published exception lets a denied crawler read the terms, and nothing else.
func TestDocumentedTerms(t *testing.T) {
	t.Parallel()
	const text = "User-agent: *\nAllow: /terms$\n"
	if !strings.Contains(readFile(t, filepath.Join(root(t), "docs", "answers.md")), "```\n"+text) {
		t.Errorf("the page does not show %s", text)
	}
	b := newBackend(t, page(text))
	s := start(t, documented(t, "answers.md", "caddyfile", "deny ai-training ai-data /", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	for _, tt := range []struct {
		ua, path string
		status   int
	}{
		{gptbot, "/terms", 200}, {gptbot, "/terms/more", 451}, {gptbot, "/", 451}, {"CCBot/2.0", "/terms", 200}, {"CCBot/2.0", "/", 451}, {googlebot, "/", 200}, {chrome, "/", 200},
	} {
		s.wants(tt.status, s.get(tt.ua, tt.path), tt.ua+" "+tt.path)
	}
	if _, group, _ := strings.Cut(s.get(gptbot, "/robots.txt").body, "User-agent: GPTBot\n"); !strings.Contains(group, "Allow: /terms$\n") || !strings.Contains(group, "Disallow: /\n") {
		t.Errorf("the group of GPTBot:\n%s", group)
	}
}

// The error route has an answer for each purpose. Other refusals get the default.
func TestDocumentedAnswerForEachPurpose(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	s := start(t, documented(t, "metrics-and-logs.md", "caddyfile", "@seo expression", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	for _, tt := range []struct {
		ua, path string
		status   int
		body     string
	}{
		{gptbot, "/", 402, "For models"}, {"CCBot/2.0", "/", 402, "For models"}, {"AhrefsBot/7.0", "/", 403, "Link indexes"}, {bingbot, "/private", 403, "robots.txt of this site"}, {bingbot, "/", 200, ""},
	} {
		if got := s.get(tt.ua, tt.path); got.status != tt.status || !strings.Contains(got.body, tt.body) {
			t.Errorf("%s %s: %d %s; want %d %s", tt.ua, tt.path, got.status, got.body, tt.status, tt.body)
		}
	}
}

// The example of a request to /robots/check with curl sends the whole values.
func TestDocumentedCheckWithCurl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the command is not run")
		return
	}
	s := start(t, "http://shop.example.com:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t}\n\trespond page\n}\n")
	out, err := exec.Command("bash", "-c", documented(t, "admin-api.md", "sh", "robots/check", "localhost:2019", fmt.Sprintf("localhost:%d", s.admin))).Output()
	var answer struct {
		URL, Crawler string
		UserAgent    string `json:"user_agent"`
	}
	if json.Unmarshal(out, &answer) != nil || answer.Crawler != "GPTBot" || !strings.HasSuffix(answer.URL, "/search?q=a&p=2") || !strings.Contains(answer.UserAgent, "; GPTBot/1.2)") {
		t.Errorf("%v: %s", err, out)
	}
}

// The command verify knows the crawler that the example defines.
func TestDocumentedVerifyCommand(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, path, documented(t, "verification.md", "caddyfile", "crawler OurIndexer"))
	_, command, _ := strings.Cut(documented(t, "verification.md", "sh", "--config Caddyfile"), "--agent OurIndexer ")
	args := strings.Fields(strings.NewReplacer("Caddyfile", path, "203.0.113.7", "127.0.0.1").Replace(command)) // a loopback address is not looked up
	out, _ := exec.Command(binary, append([]string{"robots", "verify", "--agent", "OurIndexer"}, args...)...).CombinedOutput()
	if string(out) != "unverified 127.0.0.1 OurIndexer  address_special\n" {
		t.Errorf("it prints %s", out)
	}
}

// The example in docs/fleet.md is the file that it names.
func TestDocumentedFleet(t *testing.T) {
	t.Parallel()
	file := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(readFile(t, filepath.Join(root(t), "testdata", "examples", "fleet.Caddyfile")), "")
	if got := documented(t, "fleet.md", "caddyfile", "fleet redis:"); got != file {
		t.Errorf("the page has\n%s\nthe file has\n%s", got, file)
	}
}
