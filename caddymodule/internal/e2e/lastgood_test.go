package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// read makes the server read robots.txt n more times. Reads run one after another,
// so all but the last have taken effect when read returns.
func (s *server) read(n int, back *flaky) {
	s.t.Helper()
	before := back.count()
	s.eventually("robots.txt is read again", func() bool {
		s.get(googlebot, "/x")
		return back.count() >= before+n
	})
}

func TestAnswersThatKeepTheLastGoodCopy(t *testing.T) {
	t.Parallel()
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.test/robots.txt", http.StatusFound)
	}
	tests := []struct {
		name          string
		answer        http.HandlerFunc
		first, second int // statuses of a disallowed page: without a copy, and with a copy
	}{
		{"401", text(401, ""), 200, 403},
		{"403", text(403, ""), 200, 403},
		{"451", text(451, ""), 200, 403},
		{"429", text(429, ""), 200, 403},
		{"500", text(500, ""), 200, 403},
		{"503", text(503, ""), 200, 403},
		{"a redirect to another host", away, 200, 403},
		{"404", text(404, ""), 200, 200},
		{"410", text(410, ""), 200, 200},
	}
	back := newHosts(t)
	host := func(i int) string { return fmt.Sprintf("h%d.test", i) }
	for i, tt := range tests {
		back.answer(host(i), onlyRobotsTxt(tt.answer))
	}
	config := proxied(back.URL, "")
	s := start(t, config)
	for i, tt := range tests {
		s.wants(tt.first, s.at(host(i), googlebot, "/private/x"), tt.name+": without a copy")
		back.answer(host(i), onlyRobotsTxt(rules("/private/")))
	}
	s.refresh("")
	for i, tt := range tests {
		s.wants(403, s.at(host(i), googlebot, "/private/x"), tt.name+": the good file")
		back.answer(host(i), onlyRobotsTxt(tt.answer))
	}
	check := func(when string) {
		t.Helper()
		s.refresh("")
		for i, tt := range tests {
			s.wants(tt.second, s.at(host(i), googlebot, "/private/x"), tt.name+when)
			s.wants(200, s.at(host(i), googlebot, "/x"), tt.name+": a crawler on another path")
			s.wants(200, s.at(host(i), chrome, "/private/x"), tt.name+": a person")
		}
	}
	check(": with a copy")
	if err := s.reload(strings.Replace(config, "refresh 1h", "refresh 1h\n\t\tmax_origins 70", 1)); err != nil {
		t.Fatal(err)
	}
	check(": with a copy, after a reload")
	for i := range tests {
		back.answer(host(i), onlyRobotsTxt(rules("/other/")))
	}
	s.refresh("")
	for i, tt := range tests {
		s.wants(403, s.at(host(i), googlebot, "/other/x"), tt.name+": the new file")
		s.wants(200, s.at(host(i), googlebot, "/private/x"), tt.name+": what the new file allows")
	}
}

// After a reload, a server enforces the good copy without an answer of the back
// end.
func TestReloadWhileRobotsTxtDoesNotArrive(t *testing.T) {
	t.Parallel()
	back, door := newFlaky(t), newGate(t)
	s := start(t, proxied(back.URL, ""))
	s.wants(403, s.get(googlebot, "/private/x"), "before the reload")
	back.answerWith(door.before(rules("/other/")))
	for _, options := range []string{"max_origins 7", "dialect 1994", "mode enforce", ""} {
		if err := s.reload(proxied(back.URL, options)); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			s.wants(403, s.get(gptbot, "/private/x"), "after a reload with "+options)
			s.wants(200, s.get(gptbot, "/x"), "what the copy allows, after a reload with "+options)
			s.wants(200, s.get(chrome, "/private/x"), "a person after a reload with "+options)
		}
	}
	door.open()
	s.eventually("the new file is in force", func() bool {
		return s.get(googlebot, "/other/x").status == 403 && s.get(googlebot, "/private/x").status == 200
	})
}

// With on_error deny, crawlers get 503, so that they try again. With 403, pages
// would drop out of search indexes.
func TestOnErrorDeny(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, strings.Replace(proxied(back.URL, "on_error deny"), "refresh 1h", "refresh 1s", 1))
	s.wants(403, s.get(googlebot, "/private/x"), "with the file")
	back.answerWith(text(500, ""))
	s.eventually("crawlers get 503", func() bool { return s.get(googlebot, "/x").status == 503 })
	got := s.get(googlebot, "/x")
	if got.status != 503 || got.header.Get("Retry-After") == "" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, %v", got.status, got.header)
	}
	s.wants(503, s.get(googlebot, "/private/x"), "a disallowed path")
	if list := adminValue[statusapi.Lines](s, "lines").Lines; len(list) == 0 || list[0].Removed {
		t.Errorf("rules %+v: a rule of a file that can't be read was not removed", list)
	}
	s.wants(200, s.get(googlebot, "/.well-known/x"), "an exempt path")
	s.wants(500, s.get(googlebot, "/robots.txt"), "robots.txt")
	s.wants(200, s.get(chrome, "/x"), "a person")
	s.wants(200, s.get("curl/8.5.0", "/x"), "an HTTP library")
	back.answerWith(rules("/other/"))
	s.eventually("the new file is in force", func() bool {
		return s.get(googlebot, "/other/x").status == 403 && s.get(googlebot, "/private/x").status == 200
	})
}
