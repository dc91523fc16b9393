package e2e_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// proxied returns a configuration of one site with a back end. A change of
// robots.txt applies at once, because grace is off.
func proxied(back, options string) string {
	return "http://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t\tgrace off\n\t\t" + options + "\n\t}\n\treverse_proxy " + back + "\n}\n"
}

// flood sends n requests for disallowed pages at the same time, request i to
// host(i). The returned channel is closed after the last response.
func (s *server) flood(n int, ua string, host func(i int) string) <-chan response {
	s.t.Helper()
	got := make(chan response, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			resp, err := send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/private/%d", s.port, i), ua, host(i), nil)
			if err != nil {
				s.t.Errorf("request %d: %v", i, err)
			}
			got <- resp
		})
	}
	go func() { all.Wait(); close(got) }()
	return got
}

func oneHost(int) string { return "site.test" }

// The back end holds its robots.txt back for longer than any crawler waits.
func TestColdStartWhileRobotsTxtDoesNotArrive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, options string
		host          func(i int) string
	}{
		{"one host", "", oneHost},
		{"a hundred hosts", "", func(i int) string { return fmt.Sprintf("h%d.test", i%100) }},
		{"on_error deny", "on_error deny", oneHost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			back, door := newFlaky(t), newGate(t)
			back.answerWith(door.before(rules("/private/")))
			s := start(t, proxied(back.URL, tt.options))
			crawlers := s.flood(200, gptbot, tt.host)
			<-door.asked
			for _, ua := range []string{chrome, "okhttp/4.12.0", "curl/8.5.0", "", "ShopApp/5.1 okhttp/4.12.0", "Chatbot/42 CFNetwork/1485 Darwin/23.1.0"} {
				s.wants(200, s.rawAt("site.test", "/private/x", ua), ua+" while robots.txt is read")
			}
			s.wants(200, s.at("site.test", gptbot, "/.well-known/x"), "a crawler on an exempt path")
			for got := range crawlers {
				if got.status != 429 || got.header.Get("Retry-After") != "5" {
					t.Errorf("a crawler: status %d, Retry-After %q, %q", got.status, got.header.Get("Retry-After"), got.body)
				}
			}
			door.open()
			s.eventually("the rules are in force", func() bool { return s.at("site.test", gptbot, "/private/x").status == 403 })
			s.wants(200, s.at("site.test", gptbot, "/x"), "a crawler on another path")
			s.reasonsAddUp("pending", "disallowed")
		})
	}
}
