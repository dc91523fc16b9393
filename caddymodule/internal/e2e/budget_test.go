package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A reload does not end the requests that are held until they are allowed.
func TestHeldRequestsSurviveAReload(t *testing.T) {
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
	// The old configuration ends while it holds requests.
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

// Clients that hang up while they are held delay no others, with budgets in memory
// and in a fleet.
func TestClientsThatHangUpDelayNoOthers(t *testing.T) {
	t.Parallel()
	fleets := map[string]string{"memory": ""}
	if redis := newRedis(t); redis != nil {
		fleets["fleet"] = fmt.Sprintf("fleet redis://127.0.0.1:%d", redis.port)
	} else {
		t.Log("redis-server is not installed: a fleet is not tested")
	}
	for name, fleet := range fleets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, `{
	metrics
}
http://:$PORT {
	robots {
		source inline "User-agent: bingbot
Crawl-delay: 5"
		crawl_delay {
			wait 10m
		}
		`+fleet+`
	}
	respond "page"
}`)
			if fleet != "" {
				s.eventually("the server shares budgets", func() bool { s.get(chrome, "/"); return s.metric("caddy_robots_fleet_up") == 1 })
			}
			s.wants(200, s.get(bingbot, "/"), "the first request")
			var held []net.Conn
			hangUp := func() {
				for _, conn := range held {
					conn.Close()
				}
			}
			defer hangUp()
			for range 150 { // 134 of them fill ten minutes
				conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, conn)
				fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: %s\r\n\r\n", bingbot)
			}
			get := func() int {
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("User-Agent", bingbot)
				resp, err := client.Do(r)
				if err != nil {
					return 0
				}
				resp.Body.Close()
				return resp.StatusCode
			}
			s.eventually("all turns of ten minutes are taken", func() bool {
				return s.metric(`caddy_robots_decisions_total{action="throttle",crawler="bingbot",reason="crawl_delay"}`) > 0
			})
			hangUp()
			s.eventually("a request goes on in its time", func() bool { return get() == 200 })
		})
	}
}

// A request with a body is not held, because its client's hang-up would not be
// noticed while the body is unread.
func TestRequestsWithABodyAreNotHeld(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	robots {
		source inline "User-agent: bingbot
Crawl-delay: 600"
		crawl_delay {
			wait 10m
		}
	}
	respond "page"
}`)
	s.wants(200, s.get(bingbot, "/"), "the first request")
	for _, request := range []string{
		"POST / HTTP/1.1\r\nContent-Length: 5",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked",
		"GET / HTTP/1.1\r\nContent-Length: 5",
	} {
		got := s.raw(request + "\r\nHost: localhost\r\nConnection: close\r\nUser-Agent: " + bingbot + "\r\n\r\n")
		if after, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != 429 || err != nil || after < 1 || after > 300 {
			t.Errorf("%q: status %d, Retry-After %s", request, got.status, got.header.Get("Retry-After"))
		}
	}
}

// A reload can raise max_entries, and keeps all budgets.
func TestReloadWithMoreEntriesKeepsBudgets(t *testing.T) {
	t.Parallel()
	const first = "FirstBot/1.0 (+https://first.example/)"
	config := func(entries int) string {
		return fmt.Sprintf("http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nCrawl-delay: 600\"\n\t\tcrawl_delay {\n\t\t\tmax_entries %d\n\t\t}\n\t}\n\trespond page\n}\n", entries)
	}
	made, s := 0, start(t, config(1))
	flood := func(n int) {
		for range n {
			made++
			s.get(fmt.Sprintf("MadeUp%dBot/1.0 (+https://%d.example/)", made, made), "/")
		}
	}
	s.wants(200, s.get(first, "/"), "the first request")
	s.eventually("its budget is dropped because of many other crawlers", func() bool {
		flood(100)
		return s.get(first, "/").status == 200
	})
	enough := 2 * made
	if err := s.reload(config(100_000)); err != nil {
		t.Fatal(err)
	}
	s.get(first, "/")
	s.wants(429, s.get(first, "/"), "the second request after the reload")
	flood(enough)
	s.wants(429, s.get(first, "/"), fmt.Sprintf("after %d other crawlers", enough))
	if err := s.reload(config(200_000)); err != nil {
		t.Fatal(err)
	}
	s.wants(429, s.get(first, "/"), "after another reload")
}
