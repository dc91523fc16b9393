package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// reloads is how often TestMixedLoad reloads: 40 take about a minute.
var reloads = flag.Int("reloads", 3, "how often TestMixedLoad reloads the configuration")

const mixedLoad = `{
	robots {
		persist $DIR/FILE.json
		registry $DIR/rows.jsonl
		verify {
			lists off
			dns off
		}
	}
	servers {
		trusted_proxies static 127.0.0.0/8 ::1/128
	}
}
http://:$PORT, http://*.example.test:$PORT {
	robots {
		forwarded_host on
		fleet redis://REDIS
		policy {
			hidden /hidden/
		}
		limit /paced/ {
			each 5/1m
		}
	}
	respond /robots.txt "User-agent: *
Disallow: /private/
Crawl-delay: 1
"
	handle /dash/* {
		robots_dashboard {
			all_sites
			access external
		}
	}
	respond "hello"
}
http://stormed.test:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /blame/"
		challenge disallowed {
			over 1/10s
		}
	}
	header Content-Type text/html
	respond "hello"
}`

// While clients invent a host for each request, reloads with another file of persist each time
// save and load the counters, reports read them, the registry changes, and the mode is switched,
// nothing ends the server, and each request
// is counted once: also behind a proxy that reports another host. With -race, the server has the
// race detector too.
func TestMixedLoad(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	configuration := func(n int) string {
		return strings.NewReplacer("FILE", fmt.Sprint("counts-", n%3), "REDIS", redis.Addr()).Replace(mixedLoad)
	}
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
	registry := func(rows string) {
		if err := os.WriteFile(filepath.Join(s.dir, "rows.jsonl"), []byte(rows), 0o600); err != nil {
			t.Error(err)
		}
	}
	registry("")
	s.run(configuration(0))

	var ended atomic.Bool
	var running sync.WaitGroup
	var crawlers, people, asked, n atomic.Uint64
	during := func(work func()) {
		running.Go(func() {
			for !ended.Load() && !t.Failed() {
				work()
			}
		})
	}
	url := fmt.Sprintf("http://localhost:%d", s.port)
	// Each request has its own connection. Of one that is kept, a reload may lose the answer to a
	// request that is counted already, and the client sends it again.
	do := func(url, ua, host string, header http.Header) response {
		if header == nil {
			header = make(http.Header)
		}
		header.Set("Connection", "close")
		return s.do(http.MethodGet, url, ua, host, header)
	}
	for _, path := range []string{"/private/x", "/hidden/x", "/paced/x", "/robots.txt"} {
		during(func() {
			i := n.Add(1)
			do(url+path, gptbot, fmt.Sprintf("n%d.example.test", i), nil)
			do(url+path, fmt.Sprintf("Bot%d/1.0 (+https://example.test/bot)", i), fmt.Sprintf("n%d.other.test", i), nil)
			crawlers.Add(2)
		})
	}
	during(func() {
		do(url+"/", chrome, "", http.Header{"X-Forwarded-Host": {fmt.Sprintf("n%d.example.test", n.Add(1))}})
		people.Add(1)
	})
	during(func() { // a storm of disguised browsers
		i := n.Add(1)
		address := fmt.Sprintf("198.%d.%d.%d", 18+i>>16&1, i>>8&255, i&255)
		resp := do(fmt.Sprintf("%s/blame/%d", url, i), chrome, "stormed.test", http.Header{
			"X-Forwarded-For": {address}, "Accept": {"text/html"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}})
		if people.Add(1); resp.status == http.StatusTooManyRequests || resp.status == http.StatusServiceUnavailable {
			asked.Add(1)
		}
	})
	during(func() { // is not counted
		do(url+"/dash/api/", chrome, "", http.Header{"X-Forwarded-Host": {fmt.Sprintf("n%d.example.test", n.Add(1))}})
	})
	for _, report := range []string{"lines", "lines?refused=true", "", "health", "lines?text=true"} {
		during(func() {
			_, _ = send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/robots/%s", s.admin, report), "test", "", nil)
		})
	}
	during(func() {
		_, _ = send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/metrics", s.admin), "test", "", nil)
	})
	during(func() {
		for _, mode := range []string{"monitor", "enforce"} {
			_, _ = send(client, http.MethodPost, fmt.Sprintf("http://localhost:%d/robots/mode?mode=%s&crawler=GPTBot", s.admin, mode), "test", "", nil)
		}
		registry(fmt.Sprintf("{\"name\": \"Row%d\", \"class\": \"crawler\"}\n", n.Load()))
	})
	for i := range *reloads {
		if err := s.reload(configuration(i + 1)); err != nil {
			t.Error(err)
			break
		}
	}
	s.eventually("the registry is replaced under load", func() bool { return len(s.lines("the registry file was read again")) > 1 })
	ended.Store(true)
	running.Wait()

	var sum statusapi.Status
	s.eventually("of many rows, the last second is counted", func() bool {
		sum = adminValue[statusapi.Status](s, "")
		return sum.Crawlers.Total.Requests >= crawlers.Load()
	})
	got := [...]uint64{sum.Crawlers.Total.Requests, sum.People.Total, sum.People.Hour, sum.Strangers.Total}
	persons := people.Load() - asked.Load() // whom the check asks is not counted as a person
	if want := [...]uint64{crawlers.Load(), persons, persons, asked.Load()}; got != want {
		t.Errorf("requests of crawlers, people, people in the last hour and strangers: %d are counted, want %d", got, want)
	}
	for _, p := range sum.Health.Problems {
		if p.Kind == "panic" {
			t.Errorf("%+v", p)
		}
	}
	for _, text := range []string{"DATA RACE", "panic", "goroutine "} {
		if log := string(s.log.bytes()); strings.Contains(log, text) {
			t.Errorf("the log has %q: %.4000s", text, log[strings.Index(log, text):])
			break
		}
	}
	t.Logf("%d requests of crawlers, %d of people, of which the check asked %d", crawlers.Load(), people.Load(), asked.Load())
}
