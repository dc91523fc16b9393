package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
