package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
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
