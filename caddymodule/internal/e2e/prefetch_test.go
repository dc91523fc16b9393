package e2e_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// siteBefore is a configuration of a site with robots before a back end.
func siteBefore(back *flaky, options string) string {
	return "http://localhost:$PORT {\nrobots {\n" + options + "\n}\nreverse_proxy " + back.Listener.Addr().String() + "\n}\n"
}

func (s *server) loaded() bool {
	return s.metric(`caddy_robots_origins{source="site",state="loaded"}`) == 1
}

// No request comes, so only the server itself can have caused the reads.
func TestRobotsTxtIsReadAtStart(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, siteBefore(back, "mode enforce"))
	s.eventually("robots.txt is read at the start", s.loaded)
	reads := back.count()
	if err := s.reload(siteBefore(back, "grace off")); err != nil {
		t.Fatal(err)
	}
	s.eventually("robots.txt is read after a reload", func() bool { return back.count() > reads && s.loaded() })
	s.wants(403, s.get(gptbot, "/private/"), "the first crawler")
}

// The first crawler after a quiet time waits for the read that it causes, for a
// second at most. On a busy machine the read can take longer, so the test makes
// several attempts, each with another file.
func TestFirstCrawlerAfterQuietTimeGetsTheNewRules(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, siteBefore(back, "refresh 1s\ngrace off"))
	s.eventually("robots.txt is read", s.loaded)
	attempt := 0
	s.eventually("the first crawler gets the new rules", func() bool {
		attempt++
		path := fmt.Sprintf("/attempt%d/", attempt)
		back.answerWith(rules(path))
		s.eventually("the next read is due", func() bool {
			var answer struct {
				Origins []struct {
					NextRead time.Time `json:"next_fetch"`
				}
			}
			s.adminRequest(http.MethodGet, "origins", http.StatusOK, &answer)
			return len(answer.Origins) == 1 && time.Now().After(answer.Origins[0].NextRead)
		})
		return s.get(gptbot, path).status == http.StatusForbidden
	})
}

// Behind a trusted proxy, clients may use another scheme than the proxy. So the
// origin is not known before the first request.
func TestNothingIsReadAtStartBehindTrustedProxies(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	s := start(t, "{\nservers {\ntrusted_proxies static private_ranges\n}\n}\n"+siteBefore(back, ""))
	header := http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {"192.0.2.7"}}
	s.wants(403, s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/private/", s.port), gptbot, "", header), "a crawler")
	var answer struct{ Origins []struct{ Origin string } }
	s.adminRequest(http.MethodGet, "origins", http.StatusOK, &answer)
	if want := fmt.Sprintf("https://localhost:%d", s.port); len(answer.Origins) != 1 || answer.Origins[0].Origin != want {
		t.Errorf("origins %v, want %s alone", answer.Origins, want)
	}
}

// After a reload, robots.txt is read as for the clients of the proxy: without TLS.
func TestReadAfterReloadBehindTrustedProxies(t *testing.T) {
	t.Parallel()
	config := `{
	servers {
		trusted_proxies static private_ranges
	}
}
http://localhost:$PORT {
	robots {
		refresh 1h
		%s
	}
	@tls protocol https
	respond @tls "User-agent: *
Disallow: /tls/"
	respond "User-agent: *
Disallow: /plain/"
}
`
	s := start(t, fmt.Sprintf(config, "mode enforce"))
	header := http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {"192.0.2.7"}}
	s.wants(403, s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/plain/", s.port), gptbot, "", header), "a crawler")
	if err := s.reload(fmt.Sprintf(config, "grace off")); err != nil {
		t.Fatal(err)
	}
	s.eventually("robots.txt is read after the reload", func() bool {
		return s.metric(`caddy_robots_fetches_total{outcome="unchanged",source="site"}`) > 0
	})
}
