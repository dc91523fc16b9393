package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"time"
)

// A policy is in force whatever the back end does. A robots.txt without the
// site's own rules is published only if the site has none.
func TestPolicyWhileTheFileIsUnread(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		answer    http.HandlerFunc
		published int
	}{
		{"404", text(404, ""), 200},
		{"410", text(410, ""), 200},
		{"401", text(401, ""), 200},
		{"403", text(403, ""), 200},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.invalid/", http.StatusFound)
		}, 200},
		{"500", text(500, ""), 503},
		{"429", text(429, ""), 503},
		{"no answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			back := newFlaky(t)
			back.answerWith(tt.answer)
			s := start(t, proxied(back.URL, "policy {\n\t\t\tdeny GPTBot\n\t\t}"))
			s.wants(403, s.get(gptbot, "/x"), "the first request of a crawler that the policy denies")
			s.wants(403, s.get(gptbot, "/x"), "another one")
			s.wants(200, s.get(chrome, "/x"), "a person")
			resp := s.get(googlebot, "/robots.txt")
			if s.wants(tt.published, resp, "robots.txt"); resp.status == 503 && (resp.header.Get("Retry-After") == "" || resp.header.Get("Cache-Control") != "no-store") {
				t.Errorf("the 503 has the header %v", resp.header)
			}
			if resp.status == 200 && !strings.Contains(resp.body, "GPTBot") {
				t.Errorf("published is %q", resp.body)
			}
			s.wants(200, s.get(googlebot, "/x"), "a crawler that nothing denies")
			back.answerWith(rules("/private/"))
			s.eventually("the merged file is published", func() bool {
				body := s.get(chrome, "/robots.txt").body
				return strings.Contains(body, "GPTBot") && strings.Contains(body, "/private/")
			})
			back.answerWith(tt.answer)
			if tt.published == 503 {
				s.wants(200, s.get(chrome, "/robots.txt"), "robots.txt with a good copy")
			}
			s.wants(403, s.get(gptbot, "/x"), "a crawler that the policy denies, with a good copy")
		})
	}
}

// The first one who reads robots.txt after a start does not get it without the
// lines of the policy.
func TestFirstReadIsMerged(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(200 * time.Millisecond)
		rules("/private/")(w, r)
	})
	s := start(t, proxied(back.URL, "policy {\n\t\t\tdeny GPTBot\n\t\t}"))
	if body := s.get(chrome, "/robots.txt").body; !strings.Contains(body, "GPTBot") || !strings.Contains(body, "/private/") {
		t.Errorf("the first answer is %q", body)
	}
}

// A redirect to a host that this server serves leads to the rules that the host
// publishes. Any other redirect is no failure.
func TestRedirectsOfRobotsTxtToOtherHosts(t *testing.T) {
	t.Parallel()
	s := start(t, `{
	robots {
		on_error deny
	}
}
http://old.test:$PORT, http://loop.test:$PORT, http://tenant.old.test:$PORT {
	robots
	redir http://{http.request.host.labels.1}.example.test:$PORT{uri}
}
http://away.test:$PORT {
	robots
	redir https://elsewhere.invalid{uri}
}
http://old.example.test:$PORT {
	robots {
		policy {
			deny GPTBot
			hidden /backup/*
		}
	}
	respond /robots.txt "User-agent: *
Disallow: /private/"
	respond page
}
http://*.example.test:$PORT {
	robots
	respond /robots.txt "User-agent: *
Disallow: /tenants/"
	respond page
}
`)
	s.eventually("the rules of the other host are published there", func() bool {
		return strings.Contains(s.at("old.example.test", chrome, "/robots.txt").body, "GPTBot")
	})
	s.wants(403, s.at("old.test", googlebot, "/private/x"), "what the other host disallows")
	s.wants(403, s.at("old.test", gptbot, "/x"), "what the other host's policy disallows")
	s.wants(302, s.at("old.test", googlebot, "/backup/x"), "what the other host hides")
	s.wants(302, s.at("old.test", googlebot, "/x"), "another path")
	s.wants(403, s.at("loop.test", googlebot, "/tenants/x"), "what a host of the wildcard disallows")
	for _, path := range []string{"/", "/private/x", "/robots.txt"} {
		s.wants(302, s.at("away.test", googlebot, path), "a host that redirects elsewhere: "+path)
	}
	if lines := s.lines("robots.txt can't be fetched"); len(lines) != 0 {
		t.Errorf("it counts as a failure: %v", lines)
	}
	if health := s.health(); len(health.Problems) != 1 || health.Problems[0].Kind != statusapi.NoRules {
		t.Errorf("health, of the host that redirects elsewhere: %+v", health)
	}
}

// Hosts whose back end is slow do not keep others from being read.
func TestSlowHostsDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "slow") {
			<-r.Context().Done()
			return
		}
		rules("/private/")(w, r)
	})
	s := start(t, "http://:$PORT {\n\trobots\n\treverse_proxy "+back.URL+"\n}\n")
	for i := range 40 {
		s.at(fmt.Sprintf("slow%d.test", i), chrome, "/x")
	}
	s.wants(200, s.at("fast.test", googlebot, "/x"), "a crawler at a host that answers")
	s.wants(403, s.at("fast.test", googlebot, "/private/x"), "what that host disallows")
}
