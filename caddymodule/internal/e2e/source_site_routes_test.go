package e2e_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// slurp is a crawler whose User-Agent has none of the usual words for robots.
const slurp = "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)"

// The internal read gets the same robots.txt as a crawler, whatever handlers come
// before the file.
func TestInternalReadThroughTheSitesRoutes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "robots.txt"), disallow("/private/"))
	writeFile(t, filepath.Join(dir, "seo", "site.test.txt"), disallow("/private/"))
	writeFile(t, filepath.Join(dir, "site.test", "robots.txt"), disallow("/private/"))
	back := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt", "/prefix/robots.txt":
			fmt.Fprint(w, disallow("/private/"))
		default:
			fmt.Fprint(w, "page")
		}
	})
	const inline = `respond /robots.txt "User-agent: *
Disallow: /private/"`
	tests := []struct{ name, site string }{
		{"root before robots", "root $DIR\n\trobots\n\thandle /robots.txt {\n\t\tfile_server\n\t}\n\trespond page"},
		{"vars before robots", "vars folder $DIR/seo\n\trobots\n\thandle /robots.txt {\n\t\trewrite * /{host}.txt\n\t\troot {vars.folder}\n\t\tfile_server\n\t}\n\trespond page"},
		{"map before robots", "map {host} {folder} {\n\t\tsite.test $DIR/site.test\n\t\tdefault /nowhere\n\t}\n\troot {folder}\n\trobots\n\thandle /robots.txt {\n\t\tfile_server\n\t}\n\trespond page"},
		{"rewrite before robots", "root $DIR\n\troute {\n\t\trewrite /robots.txt /seo/site.test.txt\n\t\trobots\n\t\tfile_server /seo/*\n\t\trespond page\n\t}"},
		{"robots in handle_path", "handle_path /private/* {\n\t\trobots\n\t\trespond page\n\t}\n\thandle {\n\t\t" + inline + "\n\t\trobots\n\t\trespond page\n\t}"},
		{"robots.txt from handle_path", "robots\n\thandle_path /robots.txt {\n\t\trewrite * /robots.txt\n\t\treverse_proxy $BACK\n\t}\n\trespond page"},
		{"reverse_proxy", "robots\n\treverse_proxy $BACK"},
		{"reverse_proxy below a prefix", "robots\n\trewrite /robots.txt /prefix/robots.txt\n\treverse_proxy $BACK"},
		{"encode", "encode\n\trobots\n\treverse_proxy $BACK"},
		{"an error route", "root $DIR/none\n\trobots\n\thandle /robots.txt {\n\t\tfile_server\n\t}\n\trespond page\n\thandle_errors 404 {\n\t\t" + inline + " 200\n\t}"},
		{"an error route by file", "root $DIR/none\n\trobots\n\thandle /robots.txt {\n\t\tfile_server\n\t}\n\trespond page\n\thandle_errors 404 {\n\t\trewrite * /seo/site.test.txt\n\t\troot $DIR\n\t\tfile_server {\n\t\t\tstatus 200\n\t\t}\n\t}"},
		{"addresses of the machine", "@inside {\n\t\tpath /robots.txt\n\t\tremote_ip 127.0.0.1/8 ::1/128 private_ranges\n\t}\n\t@client {\n\t\tpath /robots.txt\n\t\tclient_ip 127.0.0.1/8 ::1/128 private_ranges\n\t}\n\troute {\n\t\trobots\n\t\trespond @inside \"no rules for us\"\n\t\trespond @client \"no rules for us\"\n\t\t" + inline + "\n\t\trespond page\n\t}"},
		{"robots denied by their names", "@robots header_regexp User-Agent (?i)(bot|crawl|spider)\n\troute {\n\t\trobots\n\t\trespond @robots \"no robots here\" 403\n\t\t" + inline + "\n\t\trespond page\n\t}"},
		{"placeholders of the request", "robots\n\trespond /robots.txt \"# {http.request.local} {http.request.local.port} {remote_host} {client_ip} {http.request.tls.version} {http.request.duration_ms} {http.request.uuid} {http.request.proto}\nUser-agent: *\nDisallow: /private/\"\n\trespond page"},
		{"requests without a User-Agent denied", "@nameless header_regexp User-Agent ^$\n\t@missing not header User-Agent *\n\troute {\n\t\trobots\n\t\trespond @nameless 403\n\t\trespond @missing 403\n\t\t" + inline + "\n\t\trespond page\n\t}"},
	}
	// One server has a site on a port of its own for each case.
	ports, config := make([]int, len(tests)), ""
	for i, tt := range tests {
		ports[i] = freePort(t)
		config += fmt.Sprintf("http://:%d {\n\t%s\n}\n", ports[i], strings.NewReplacer("$DIR", dir, "$BACK", back.URL).Replace(tt.site))
	}
	all := start(t, config)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{t: t, port: ports[i], log: all.log}
			got := s.at("site.test", slurp, "/private/x")
			if got.status != 403 || !strings.Contains(got.body, "robots.txt") {
				t.Errorf("a crawler on a disallowed path: status %d, %q", got.status, got.body)
			}
			s.wants(200, s.at("site.test", slurp, "/x"), "a crawler on another path")
			s.wants(200, s.at("site.test", chrome, "/private/x"), "a person")
		})
	}
}

// reverse_proxy panics if the back end closes the connection in the middle of an
// answer.
func TestInternalReadThroughAHandlerThatPanics(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, disallow("/"))
	})
	s := start(t, "http://:$PORT {\n\trobots {\n\t\trefresh 1s\n\t}\n\treverse_proxy "+back.URL+"\n}\n")
	s.wants(200, s.get(googlebot, "/x"), "a crawler while the file can't be read")
	back.answerWith(rules("/private/"))
	s.eventually("the good file is in force", func() bool { return s.get(googlebot, "/private/x").status == 403 })
	s.wants(200, s.get(googlebot, "/x"), "a crawler on another path")
}

// A site that aborts has no panic: health says what it does.
func TestInternalReadOfASiteThatAborts(t *testing.T) {
	t.Parallel()
	s := start(t, "http://shop.test:$PORT {\n\trobots\n\tabort\n}\n")
	s.eventually("the failure is a problem", func() bool {
		for _, p := range adminValue[statusapi.Health](s, "health").Problems {
			if p.Kind == "robots_txt" {
				if !strings.Contains(p.Advice, "by abort") || strings.Contains(p.Advice, "panic") || !strings.Contains(p.Message, "could not be fetched") {
					t.Errorf("%+v", p)
				}
				return true
			}
		}
		return false
	})
}

// The access log and the request metrics have requests of clients only.
func TestInternalReadIsInNoLogAndNoRequestMetric(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, "{\n\tmetrics\n}\nhttp://:$PORT {\n\tlog\n\trobots {\n\t\trefresh 1s\n\t}\n\treverse_proxy "+back.URL+"\n}\n")
	denied := 0
	s.eventually("robots.txt was read three times", func() bool {
		denied++
		s.wants(403, s.get(googlebot, "/private/x"), "a crawler")
		return back.count() >= 3
	})
	s.wants(200, s.get(chrome, "/marker"), "a person")
	s.eventually("the last request is in the log", func() bool {
		for _, l := range s.lines("handled request") {
			if request, ok := l["request"].(map[string]any); ok && request["uri"] == "/marker" {
				return true
			}
		}
		return false
	})
	handled := s.lines("handled request")
	if len(handled) != denied+1 {
		t.Errorf("%d requests are logged, want %d", len(handled), denied+1)
	}
	for _, l := range handled {
		request, _ := l["request"].(map[string]any)
		if request["uri"] == "/robots.txt" || request["remote_port"] == "0" {
			t.Errorf("a request that no client sent is logged: %v", request)
		}
	}
	if got := s.metric(`caddy_http_requests_total{handler="robots",server="srv0"}`); got != float64(denied+1) {
		t.Errorf("%v requests are counted, want %d", got, denied+1)
	}
}

// The internal read must not double the background work of the site's modules,
// such as active health checks.
func TestInternalReadDoublesNoHealthChecks(t *testing.T) {
	t.Parallel()
	pages := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, disallow("/private/"))
		}
	}
	with, without := newBackend(t, pages), newBackend(t, pages)
	site := func(host, directive string, b *backend) string {
		return "http://" + host + ":$PORT {\n\t" + directive + "\n\treverse_proxy " + b.URL + " {\n\t\thealth_uri /health\n\t\thealth_interval 50ms\n\t}\n}\n"
	}
	config := site("with.test", "robots {\n\t\trefresh 1s\n\t}", with) + site("without.test", "header X-Robots no", without)
	s := start(t, config)
	// Both timers run in one process, so a busy machine delays both. One begins
	// before the other, and a check may be running, so the numbers may differ by a
	// quarter.
	compare := func(when string) {
		t.Helper()
		s.wants(403, s.at("with.test", googlebot, "/private/x"), "a crawler "+when)
		const intervals = 40
		a, b := len(with.requests("/health")), len(without.requests("/health"))
		s.eventually("there were forty intervals", func() bool { return len(without.requests("/health")) >= b+intervals })
		got, want := len(with.requests("/health"))-a, len(without.requests("/health"))-b
		if got > want*5/4 || got < want*3/4 {
			t.Errorf("%s: %d health checks with robots, %d without", when, got, want)
		}
	}
	compare("at first")
	if err := s.reload(config); err != nil {
		t.Fatal(err)
	}
	compare("after a reload")
}
