package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestReloadsUnderLoadFailNoRequestAndForgetNoBudget(t *testing.T) {
	t.Parallel()
	config := func(body string) string {
		return `
http://:$PORT {
	respond /robots.txt "User-agent: *
Disallow: /private/

User-agent: bingbot
Crawl-delay: 600
"
	robots
	respond "` + body + `"
}`
	}
	s := start(t, config("one"))
	s.wants(200, s.get(bingbot, "/"), "the one request in ten minutes")
	s.wants(429, s.get(bingbot, "/"), "the second")

	var stop atomic.Bool
	var wg sync.WaitGroup
	var sent atomic.Int64
	url := fmt.Sprintf("http://localhost:%d", s.port)
	for _, load := range []struct {
		ua, path string
		want     int
	}{{chrome, "/private/x", 200}, {chrome, "/", 200}, {googlebot, "/", 200}, {googlebot, "/private/x", 403}} {
		wg.Go(func() {
			for !stop.Load() {
				resp := s.do(http.MethodGet, url+load.path, load.ua, "", nil)
				if resp.status != load.want {
					t.Errorf("%s for %.30s: status %d, want %d", load.path, load.ua, resp.status, load.want)
					return
				}
				sent.Add(1)
			}
		})
	}
	for i, body := range []string{"two", "three"} {
		before := sent.Load()
		if err := s.reload(config(body)); err != nil {
			t.Fatal(err)
		}
		s.eventually("the new configuration answers under load", func() bool {
			return strings.Contains(s.get(chrome, "/").body, body) && sent.Load() > before+100
		})
		s.wants(429, s.get(bingbot, "/"), fmt.Sprintf("after reload %d", i+1))
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d requests through two reloads", sent.Load())
}
