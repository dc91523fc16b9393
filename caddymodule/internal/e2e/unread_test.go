package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

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
