package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// deployed is a site whose robots.txt the back end serves.
func deployed(back *flaky, global string) string {
	return "{\n\t" + recorded + global + "}\nhttp://shop.test:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy " + back.Listener.Addr().String() + "\n}\n"
}

// refresh makes the server read robots.txt again.
func (s *server) refresh(query string) statusapi.Refresh {
	s.t.Helper()
	var answer statusapi.Refresh
	s.adminRequest(http.MethodPost, "refresh"+query, 200, &answer)
	return answer
}

// accidents returns the kinds of the problems.
func (s *server) accidents() (kinds []string) {
	s.t.Helper()
	for _, p := range adminValue[statusapi.Health](s, "health").Problems {
		if !statusapi.IsUnmeant(p.Kind) {
			kinds = append(kinds, p.Kind)
		}
	}
	return kinds
}

// exitStatus is the exit status of `caddy robots status`.
func (s *server) exitStatus() int {
	s.t.Helper()
	_, err := s.status()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	return 0
}

var manyRules = "User-agent: *\n" + strings.Repeat("Disallow: /private/\nAllow: /private/x\n", 12)

// hosts is a back end whose sites answer /robots.txt in ways of their own.
type hosts struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]http.HandlerFunc // by host
}

func (h *hosts) answer(host string, with http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[host] = with
}

func newHosts(t *testing.T) *hosts {
	h := &hosts{answers: make(map[string]http.HandlerFunc)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		name, _, _ := strings.Cut(r.Host, ":")
		answer := h.answers[name]
		h.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// Each way in which a deploy can lose the rules, or shut search engines out, and
// changes that do not. Each one is a site.
func TestFileAccidents(t *testing.T) {
	t.Parallel()
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.test/robots.txt", http.StatusFound)
	}
	file := func(body string) http.HandlerFunc { return text(200, body) }
	many := file(manyRules)
	const lost, shut = "rules_lost", "search_shut_out"
	cases := map[string]struct {
		before, after http.HandlerFunc
		kind, event   string // crawler, cause and line of the event
	}{
		"missing":                   {many, text(404, ""), lost, "missing 0"},
		"gone":                      {many, text(410, ""), lost, "missing 0"},
		"page":                      {many, file("<!DOCTYPE html><html><body>Back soon</body></html>"), lost, "not_robots 0"},
		"nuls":                      {many, file(strings.Repeat("\x00", 300)), lost, "nuls 0"},
		"empty":                     {many, file(""), lost, "empty 0"},
		"only-comments":             {many, file("# to do\n"), lost, "empty 0"},
		"unauthorized":              {many, text(401, ""), lost, "forbidden 0"},
		"forbidden":                 {many, text(403, ""), lost, "forbidden 0"},
		"redirect":                  {many, away, lost, "redirected 0"},
		"less-than-a-tenth":         {many, rules("/private/"), lost, "shrunk 0"},
		"shut-out":                  {many, file(strings.Replace(manyRules, "/private/", "/", 1)), shut, "all 2"},
		"one-engine-shut-out":       {many, file(manyRules + "\nUser-agent: bingbot\nDisallow: /\n"), shut, "bingbot 28"},
		"exception-removed":         {file("User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n"), rules("/"), shut, "Googlebot 2"},
		"shut-out-in-a-first-file":  {text(404, ""), rules("/"), shut, "all 2"},
		"edited":                    {many, file(manyRules + "Disallow: /more/\n"), "", ""},
		"half-of-it":                {many, file(manyRules[:len(manyRules)/2]), "", ""},
		"another-crawler-shut-out":  {many, file(manyRules + "\nUser-agent: GPTBot\nDisallow: /\n"), "", ""},
		"explicitly-open":           {rules("/private/"), file("User-agent: *\nDisallow:\n"), "", ""},
		"back-end-down":             {many, text(503, ""), "", ""},
		"never-had-rules":           {file("Sitemap: https://shop.test/s.xml\n"), text(404, ""), "", ""},
		"shut-out-on-purpose":       {rules("/"), file("User-agent: *\nDisallow: /\n# staging\n"), "", ""},
		"opened":                    {rules("/"), rules("/private/"), "", ""},
		"groups-become-one":         {file(strings.Repeat("User-agent: OneBot\nDisallow: /\n", 30)), file(strings.Repeat("User-agent: OneBot\n", 30) + "Disallow: /\n"), "", ""},
		"comments-removed":          {file("User-agent: *\nDisallow: /private/\n" + strings.Repeat("# a comment\n", 100)), rules("/private/"), "", ""},
		"forbidden-before-its-gone": {text(403, ""), text(404, ""), "", ""},
	}
	back := newHosts(t)
	config, began, ended := "{\n\t"+recorded+"}\n", []string{"started"}, []string{"started"}
	for name, tt := range cases {
		back.answer(name+".test", tt.before)
		config += "http://" + name + ".test:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy " + back.Listener.Addr().String() + "\n}\n"
		if tt.kind != "" {
			began = append(began, "robots_"+tt.kind+" begin "+name+".test "+tt.event)
			ended = append(ended, "robots_"+tt.kind+" end "+name+".test "+tt.event)
		}
	}
	s := startRecorded(t, config)
	s.eventually("all are read", func() bool {
		return len(adminValue[statusapi.Origins](s, "origins").Origins) == len(cases) && s.metric(`caddy_robots_origins{source="site",state="pending"}`) == 0
	})
	if s.refresh(""); len(s.accidents()) > 0 {
		t.Fatalf("before: %v", s.accidents())
	}
	change := func(after bool) {
		t.Helper()
		for name, tt := range cases {
			if back.answer(name+".test", tt.before); after || tt.kind == "" && name != "back-end-down" {
				back.answer(name+".test", tt.after)
			}
		}
		if answer := s.refresh(""); len(answer.Reads) != len(cases) {
			t.Fatalf("reads: %+v", answer)
		}
	}
	change(true)
	counts := make(map[string]int)
	for name, tt := range cases {
		var own []statusapi.Problem
		for _, p := range adminValue[statusapi.Health](s, "health?site="+name+".test").Problems {
			if p.Kind == lost || p.Kind == shut {
				own = append(own, p)
			}
		}
		switch {
		case tt.kind == "" && len(own) > 0:
			t.Errorf("%s: %+v", name, own)
		case tt.kind == "":
		case len(own) != 1 || own[0].Kind != tt.kind || own[0].Severity != statusapi.Severe || own[0].Subject != name+".test" || own[0].Since == nil || !strings.Contains(own[0].Advice, "accept=on"):
			t.Errorf("%s: %+v", name, own)
		default:
			counts[tt.kind]++
		}
	}
	for kind, n := range counts {
		if got := s.metric(fmt.Sprintf("caddy_robots_accidents{kind=%q}", kind)); int(got) != n {
			t.Errorf("the metric of %s is %v, want %d", kind, got, n)
		}
	}
	if out, _ := s.status(); s.exitStatus() != 2 || !strings.Contains(out, "error: robots.txt of shut-out.test now disallows / to all crawlers, by line 2") {
		t.Errorf("exit status %d: %s", s.exitStatus(), out)
	}
	s.eventually("the events", func() bool { return len(s.events()) >= len(began) })
	sorted := func(list []string) string { slices.Sort(list[1:]); return strings.Join(list, "\n") }
	if got := sorted(s.events("crawler", "cause", "line")); got != sorted(began) {
		t.Errorf("events:\n%s\nwant:\n%s", got, sorted(began))
	}
	lines := s.lines("an accident began")
	for _, line := range lines {
		if name := strings.TrimSuffix(fmt.Sprint(line["site"]), ".test"); line["kind"] != cases[name].kind || line["level"] != "warn" {
			t.Errorf("log: %v", line)
		}
	}
	if change(false); len(s.accidents()) > 0 || s.metric(`caddy_robots_accidents{kind="rules_lost"}`) != 0 || len(lines) != len(began)-1 {
		t.Errorf("when they are mended: %v, %d log lines", s.accidents(), len(lines))
	}
	s.eventually("the events of the ends", func() bool { return len(s.events()) >= len(began)+len(ended)-1 })
	if got := sorted(append([]string{"started"}, s.events("crawler", "cause", "line")[len(began):]...)); got != sorted(ended) {
		t.Errorf("events:\n%s\nwant:\n%s", got, sorted(ended))
	}
}

// A deploy that also reloads or restarts the server hides nothing, and nothing is
// told twice in one process.
func TestAccidentsAcrossReloads(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	config := deployed(back, "robots {\n\t\tpersist $DIR/robots.json\n\t}\n")
	s := startRecorded(t, config)
	if s.wants(403, s.at("shop.test", googlebot, "/private/x"), "a disallowed page"); len(s.accidents()) > 0 {
		t.Fatalf("before: %v", s.accidents())
	}
	back.answerWith(rules("/"))
	reload := func(response string) {
		t.Helper()
		if err := s.reload(config + "http://other.test:$PORT {\n\trespond " + response + "\n}\n"); err != nil {
			t.Fatal(err)
		}
	}
	reload("one")
	s.eventually("the accident is seen", func() bool { return slices.Equal(s.accidents(), []string{"search_shut_out"}) })
	s.wantEvents([]string{"crawler", "line"}, "started", "started", "robots_search_shut_out begin shop.test all 2")
	for i := range 3 {
		reload(fmt.Sprint("again", i))
	}
	back.answerWith(text(404, ""))
	s.refresh("")
	s.eventually("another accident", func() bool { return slices.Equal(s.accidents(), []string{"rules_lost"}) })
	s.eventually("the events", func() bool { return len(s.events()) == 8 })
	if got := s.events()[6:]; !slices.Contains(got, "robots_rules_lost begin shop.test") || !slices.Contains(got, "robots_search_shut_out end shop.test") {
		t.Errorf("events: %v", s.events())
	}
	s.end()

	again := &server{t: t, dir: s.dir, host: s.host, port: s.port, admin: freePort(t), program: s.program}
	again.run(config)
	again.eventually("it is seen after a restart", func() bool { return slices.Equal(again.accidents(), []string{"rules_lost"}) })
	if message := adminValue[statusapi.Health](again, "health").Problems[0].Message; !strings.Contains(message, "it had 1 rule") {
		t.Errorf("after a restart: %s", message)
	}
	if answer := again.refresh("?accept=on"); answer.Accepted != 1 || len(again.accidents()) > 0 {
		t.Errorf("accepted: %+v, %v", answer, again.accidents())
	}
	back.answerWith(rules("/private/"))
	again.refresh("")
	back.answerWith(text(404, ""))
	if again.refresh(""); !slices.Equal(again.accidents(), []string{"rules_lost"}) {
		t.Errorf("the same accident again: %v", again.accidents())
	}
}

// A handler that panics or never ends harms neither people nor a reload.
func TestEventHandlersThatFail(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"panic", "hang"} {
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			back := newFlaky(t)
			config := strings.Replace(deployed(back, ""), "events\n", "events "+then+"\n", 1)
			s := startRecorded(t, config)
			if s.at("shop.test", googlebot, "/x"); len(s.accidents()) > 0 {
				t.Fatalf("before: %v", s.accidents())
			}
			back.answerWith(text(404, ""))
			s.refresh("")
			s.wantEvents(nil, "started", "robots_rules_lost begin shop.test")
			s.wants(200, s.at("shop.test", chrome, "/x"), "a person")
			if err := s.reload(config + "# changed\nhttp://other.test:$PORT {\n}\n"); err != nil {
				t.Fatal(err)
			}
			want := []string{"rules_lost"}
			if then == "panic" {
				want = append(want, "panic")
			}
			if s.wants(200, s.at("shop.test", chrome, "/x"), "a person after a reload"); !slices.Equal(s.accidents(), want) {
				t.Errorf("problems: %v", s.accidents())
			}
		})
	}
}

// The file of a setting and the lines of a policy: the operator's own changes of the
// configuration are no accidents.
func TestSettingsAreNoAccidents(t *testing.T) {
	t.Parallel()
	s := startRecorded(t, "{\n\t"+recorded+"}\n"+`http://shop.test:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/
"
	}
}
`)
	for _, config := range []string{
		"source inline \"User-agent: *\nDisallow: /\n\"",
		"source inline \"# nothing\n\"",
		"source file $DIR/a.txt",
		"source file $DIR/b.txt",
		"source file $DIR/a.txt\npolicy {\n deny search\n}",
		"source file $DIR/a.txt\ncrawler Stranger {\n purpose search\n}",
		"source file $DIR/a.txt",
	} {
		writeFile(t, filepath.Join(s.dir, "a.txt"), "User-agent: *\nDisallow: /private/\n\nUser-agent: Stranger\nDisallow: /\n")
		writeFile(t, filepath.Join(s.dir, "b.txt"), "User-agent: *\nDisallow: /\n")
		if err := s.reload("{\n\t" + recorded + "}\nhttp://shop.test:$PORT {\n\trobots {\n" + config + "\n}\n}\n"); err != nil {
			t.Fatal(err)
		}
		if s.refresh(""); slices.Contains(s.accidents(), "rules_lost") || slices.Contains(s.accidents(), "search_shut_out") {
			t.Errorf("%s: %v", config, s.accidents())
		}
	}
	writeFile(t, filepath.Join(s.dir, "a.txt"), "User-agent: *\nDisallow: /\n")
	if s.refresh(""); !slices.Equal(s.accidents(), []string{"search_shut_out"}) {
		t.Errorf("a file that changes: %v", s.accidents())
	}
}

// A search engine that is refused for a minute where others are not. All sites get
// the same requests.
func TestSearchRefused(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	all := "/shop/x /shop/y"
	sites := []struct{ host, robots, paths, event string }{
		{"throttled-by-name.test", "User-agent: *\nAllow: /\n\nUser-agent: SearchBot\nCrawl-delay: 600\n", all, ""},
		{"staging.test", "User-agent: *\nDisallow: /\n", all, ""},
		{"mostly-served.test", "User-agent: *\nDisallow: /shop/\n", "/shop/x /a /b", ""},
		{"configured.test", "User-agent: *\nAllow: /\n", all, ""},
		{"monitored.test", "User-agent: *\nDisallow: /shop/\n", all, ""},
		{"by-name.test", "User-agent: *\nAllow: /\n\nUser-agent: SearchBot\nDisallow: /shop/\n", "/shop/x /a /b", "SearchBot 5"},
		{"mostly-refused.test", "User-agent: *\nDisallow: /shop/\n", all, "SearchBot 2"},
		{"throttled.test", "User-agent: *\nCrawl-delay: 600\n", all, "SearchBot 2"},
	}
	config, self, dir := "{\n\t"+trustedProxies+"\n\t"+recorded+"}\n", executable(t), t.TempDir()
	var want []string
	for _, site := range sites {
		options := map[string]string{"configured.test": "policy {\n deny SearchBot /shop/*\n}", "monitored.test": "mode monitor"}[site.host]
		config += fmt.Sprintf("http://%s:$PORT {\nrobots {\nsource file %s\ngrace off\n%s\nverify {\nresolver %s\n}\ncrawler SearchBot {\npurpose search\nverify lists %s/list.json\n}\n}\nheader >X-Verified {http.robots.verified}\nrespond hello\n}\n",
			site.host, filepath.Join(dir, site.host), options, o.resolver, o.web.URL)
		writeFile(t, filepath.Join(dir, site.host), site.robots)
		if site.event != "" {
			want = append(want, "robots_search_refused begin "+site.host+" "+site.event)
		}
	}
	s := (&server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t), program: self}).run(config)
	crawl := func() {
		for _, site := range sites {
			for path := range strings.FieldsSeq(site.paths) {
				s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), "SearchBot/1.0", site.host, http.Header{"X-Forwarded-For": {listedAddr}})
			}
		}
	}
	s.eventually("the crawler is verified", func() bool {
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/a", s.port), "SearchBot/1.0", "by-name.test", http.Header{"X-Forwarded-For": {listedAddr}}).header.Get("X-Verified") == "verified"
	})
	s.eventually("the events", func() bool {
		crawl()
		s.pass(20 * time.Second)
		return len(s.events()) > len(want)
	})
	got := s.events("crawler", "line")[1:]
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := s.metric(`caddy_robots_accidents{kind="search_refused"}`); int(n) != len(want) || s.exitStatus() != 2 {
		t.Errorf("the metric is %v, the exit status %d", n, s.exitStatus())
	}
	problems := slices.DeleteFunc(adminValue[statusapi.Health](s, "health?site=by-name.test").Problems, func(p statusapi.Problem) bool {
		return p.Kind == "busy" // before it was verified, which takes long on a busy machine
	})
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "SearchBot, a verified search engine, is refused at by-name.test") {
		t.Errorf("problems of one site: %+v", problems)
	}
}

// A crawler, and all robots together, at many times their usual rates. The usual
// rates come from the file of persist.
func TestFlood(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t), program: executable(t)}
	steady := fmt.Sprintf(`{"total": 1440, "series": [%s60%s]}`, strings.Repeat("0,", 60), strings.Repeat(",60", 23)+strings.Repeat(",0", 31))
	visitor := func(name, purpose string) string {
		return fmt.Sprintf(`{"name": %q, "class": "crawler", "known": true, "purposes": [%q], "last": %d, "past": {"requests": %s}}`, name, purpose, time.Now().Unix()/60, steady)
	}
	writeFile(t, s.dir+"/robots.json", fmt.Sprintf(`{"version": 1, "at": %d, "since": "2026-11-01T00:00:00Z", "sites": [
		{"name": "shop.test", "people": {"total": 0}, "crawlers": [%s, %s]}, {"name": "mixed.test", "people": {"total": 0}, "crawlers": [%[2]s]}
	]}`, time.Now().Unix()/60, visitor("GPTBot", "ai-training"), visitor("SearchBot", "search")))
	config := "{\n\t" + trustedProxies + "\n\t" + recorded + "robots {\n\t\tpersist $DIR/robots.json\n\t\tverify {\n\t\tresolver " + o.resolver + "\n\t}\n\tcrawler SearchBot {\n\tpurpose search\n\tverify lists " + o.web.URL + "/list.json\n\t}\n\t}\n}\n"
	for _, host := range []string{"shop.test", "mixed.test", "quiet.test"} {
		config += "http://" + host + ":$PORT {\n\trobots\n\theader >X-Verified {http.robots.verified}\n\trespond hello\n}\n"
	}
	s.run(config)
	requests := func(n int, host, ua string) {
		for i := range n {
			s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/%d", s.port, i), ua, host, http.Header{"X-Forwarded-For": {listedAddr}})
		}
	}
	s.eventually("the search engine is verified", func() bool {
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), "SearchBot/1.0", "quiet.test", http.Header{"X-Forwarded-For": {listedAddr}}).header.Get("X-Verified") == "verified"
	})
	requests(5, "quiet.test", gptbot)
	requests(300, "quiet.test", "NewBot/1.0 (+https://new.test/bot)") // has no usual rate
	requests(300, "shop.test", "SearchBot/1.0")
	if got := s.accidents(); slices.Contains(got, "flood") {
		t.Errorf("a search engine, and a site without a usual rate: %v", got)
	}
	requests(300, "mixed.test", "NewBot/1.0 (+https://new.test/bot)")
	s.wantEvents([]string{"crawler", "line"}, "started", "robots_flood begin mixed.test all 0")
	requests(300, "shop.test", gptbot)
	s.wantEvents([]string{"crawler", "line"}, "started", "robots_flood begin mixed.test all 0", "robots_flood begin shop.test GPTBot 0")
	if n := s.metric(`caddy_robots_accidents{kind="flood"}`); n != 2 || s.exitStatus() != 2 {
		t.Errorf("the metric is %v, the exit status %d", n, s.exitStatus())
	}
}
