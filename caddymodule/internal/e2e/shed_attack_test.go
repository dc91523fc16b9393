package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// shedSite is a site with shed behind a trusted proxy, so that clients have addresses.
func shedSite(options, address string) string {
	return "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n\t" + recorded + "}\nhttp://localhost:$PORT {\n\trobots {\n\t\tshed {\n\t\t\t" +
		options + "\n\t\t}\n\t}\n\treverse_proxy " + address + "\n}\n"
}

// navigate sends a GET for a path from an address, as the document that a browser navigates to.
func (s *server) navigate(addr, ua, path string) int {
	header := http.Header{"X-Forwarded-For": {addr}, "Accept": {"text/html"}}
	resp, err := send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", header)
	if err != nil {
		return 0
	}
	return resp.status
}

// Forty browsers that do not send their bodies keep no robots out.
func TestIdleUploadsDoNotShed(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(""))
	s := startRecorded(t, shedSite("in_flight 8", b.address()))
	s.wants(200, s.get(gptbot, "/"), "before")
	for range 40 {
		s.open("POST", "/upload", chrome, strings.Replace(idleBody, "10", "1000", 1))
	}
	s.eventually("their requests are in flight", func() bool { return s.shedding().inFlight == 2 })
	for i := range 40 {
		s.wants(200, s.get([]string{gptbot, slackPreview, bingbot}[i%3], "/"), fmt.Sprintf("robot %d beside idle bodies", i))
	}
	if since := s.shedding().since; since != "" {
		t.Errorf("the server is busy since %v", since)
	}
}

// An address that came as bingbot for a day loses at most a fifth to strangers who send
// a search engine's name.
func TestStrangersDoNotDisplaceASearchEngine(t *testing.T) {
	t.Parallel()
	b := newCrowd(t)
	s := startRecorded(t, shedSite("in_flight 4", b.address()))
	s.wants(200, s.get(gptbot, "/robots.txt"), "robots.txt")
	for range 5 {
		if got := s.navigate("203.0.113.1", bingbot, "/"); got != 200 {
			t.Fatalf("before the load: %d", got)
		}
		s.pass(6*time.Hour + time.Minute)
	}
	b.wait(s, 5)
	var strangers sync.WaitGroup
	for i := range 30 {
		strangers.Go(func() { s.navigate(fmt.Sprintf("198.51.100.%d", i), []string{googlebot, bingbot}[i%2], "/slow/x") })
	}
	s.eventually("search engines are refused", func() bool {
		return s.navigate("192.0.2.1", slackPreview, "/") == 503 && s.navigate("192.0.2.2", googlebot, "/") == 503
	})
	served := 0
	for range 32 {
		if s.navigate("203.0.113.1", bingbot, "/") == 200 {
			served++
		}
	}
	if served < 25 {
		t.Errorf("%d of 32 requests of bingbot were served", served)
	}
	b.gate.open()
	b.sent.Wait()
	strangers.Wait()
}

// While browsers are the load, robots are served, and status says who it is.
func TestShedRefusesNobodyForBrowsers(t *testing.T) {
	t.Parallel()
	b := newCrowd(t)
	s := startRecorded(t, shedSite("in_flight 4", b.address()))
	s.wants(200, s.get(gptbot, "/"), "before")
	b.wait(s, 40)
	for i := range 3 {
		for range 15 {
			s.get(chrome, "/")
		}
		s.wants(200, s.get(slackPreview, "/"), fmt.Sprintf("preview %d", i))
	}
	s.eventually("the server is busy", func() bool { s.get(chrome, "/"); return s.shedding().since != "" })
	for range 20 {
		s.get(chrome, "/")
	}
	s.wants(200, s.get(slackPreview, "/"), "a preview while the server is busy")
	if state := s.shedding(); state.refused != "" {
		t.Errorf("%+v", state)
	}
	const want = "browsers'. Refusing robots would not help"
	if out, _ := s.status(); !strings.Contains(out, "localhost is busy: ") || !strings.Contains(out, want) {
		t.Errorf("status:\n%s", out)
	}
	b.gate.open()
	b.sent.Wait()
}
