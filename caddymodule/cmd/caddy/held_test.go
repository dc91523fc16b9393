package main_test

import (
	"fmt"
	"strings"
	"testing"
)

// Requests that are held for their turn keep it through a reload.
func TestHeldRequestsOutliveAReload(t *testing.T) {
	t.Parallel()
	config := func(body string) string {
		return `http://:$PORT {
	robots {
		source inline "User-agent: bingbot
Crawl-delay: 2"
		crawl_delay {
			wait 1m
		}
	}
	respond "` + body + `"
}`
	}
	s := start(t, config("one"))
	s.wants(200, s.get(bingbot, "/"), "the first request")
	const n = 2
	held := make(chan response, n)
	for range n {
		go func() {
			got, err := send(client, "GET", fmt.Sprintf("http://localhost:%d/", s.port), bingbot, "", nil)
			if err != nil {
				t.Errorf("a held request: %v", err)
			}
			held <- got
		}()
	}
	// The old configuration ends while requests wait in it.
	if err := s.reload(config("two")); err != nil {
		t.Fatal(err)
	}
	s.eventually("the new configuration answers", func() bool { return s.get(chrome, "/").body == "two" })
	for range n {
		if got := <-held; got.status != 200 || !strings.Contains("one two", got.body) {
			t.Errorf("a request that was held at a reload: status %d, %q", got.status, got.body)
		}
	}
}
