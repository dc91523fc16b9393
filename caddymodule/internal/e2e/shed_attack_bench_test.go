package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	attackTime  = 20 * time.Second // of one load
	attackWait  = 10 * time.Second // a client waits no longer
	feedlyAgent = "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)"
)

// attackBackend is a back end with eight workers, which hold a request from its header to
// the end of its body and of its answer, as PHP's do. stalled lets all of them hang.
func attackBackend(b *testing.B) (address string, stalled *atomic.Bool) {
	workers := make(chan struct{}, 8)
	stalled = new(atomic.Bool)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		select {
		case workers <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer func() { <-workers }()
		_, _ = io.Copy(io.Discard, r.Body)
		for time.Sleep(100 * time.Millisecond); stalled.Load() && r.Context().Err() == nil; {
			time.Sleep(10 * time.Millisecond)
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/archive/big" {
			_, _ = w.Write(make([]byte, 32<<20))
			return
		}
		fmt.Fprint(w, "page")
	}))
	b.Cleanup(backend.Close)
	return strings.TrimPrefix(backend.URL, "http://"), stalled
}

// kindOfClient is how one kind of clients fared.
type kindOfClient struct {
	mu     sync.Mutex
	waits  []time.Duration
	served int
}

// every sends a request n times a second, until ctx ends. Each comes from another address.
func (k *kindOfClient) every(ctx context.Context, s *server, all *sync.WaitGroup, n int, ua, path string) {
	tick := time.NewTicker(time.Second / time.Duration(n))
	defer tick.Stop()
	c := &http.Client{Timeout: attackWait, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	for i := 0; ctx.Err() == nil; i++ {
		all.Go(func() {
			began := time.Now()
			header := http.Header{"X-Forwarded-For": {fmt.Sprintf("198.51.%d.%d", len(ua)%200, i%250)}, "Accept": {"text/html"}}
			resp, err := send(c, http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", header)
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.waits = append(k.waits, time.Since(began)); err == nil && resp.status == 200 {
				k.served++
			}
		})
		<-tick.C
	}
}

// BenchmarkOverloadAttacks turns idle bodies, slow readers, disguised browsers and a back
// end that stalls against a site, without and with limit and shed, beside ten people, two
// AI crawlers, a feed reader and a search engine a second. It reports how long people
// wait, and what share of each kind is served.
func BenchmarkOverloadAttacks(b *testing.B) {
	loads := []struct {
		name string
		run  func(ctx context.Context, s *server, stalled *atomic.Bool, all *sync.WaitGroup)
	}{
		{"none", func(context.Context, *server, *atomic.Bool, *sync.WaitGroup) {}},
		{"idle_bodies", func(_ context.Context, s *server, _ *atomic.Bool, _ *sync.WaitGroup) {
			for i := range 40 {
				s.open([]string{"GET", "POST"}[i%2], "/archive/h", crawlerNo(i), strings.Replace(idleBody, "10", "1000", 1))
			}
		}},
		{"slow_readers", func(_ context.Context, s *server, _ *atomic.Bool, _ *sync.WaitGroup) {
			for i := range 20 {
				s.open("GET", "/archive/big", crawlerNo(i), "\r\n")
			}
		}},
		{"disguised", func(ctx context.Context, s *server, _ *atomic.Bool, all *sync.WaitGroup) {
			for range 3 {
				all.Go(func() { new(kindOfClient).every(ctx, s, all, 40, chrome, "/") })
			}
		}},
		{"stalled", func(ctx context.Context, _ *server, stalled *atomic.Bool, all *sync.WaitGroup) {
			stalled.Store(true)
			all.Go(func() { time.Sleep(attackTime / 2); stalled.Store(false) })
		}},
	}
	for b.Loop() {
		for _, load := range loads {
			for _, line := range []string{"without", "with"} {
				address, stalled := attackBackend(b)
				site := "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t\tTIMEOUTS\n\t}\n}\nhttp://localhost:$PORT {\n\trobots {\n\t\trefresh 1h\n\t\tLINES\n\t}\n\treverse_proxy " + address + "\n}\n"
				timeouts, lines := "", ""
				if line == "with" {
					timeouts = "timeouts {\n\t\t\twrite_idle 3s\n\t\t}"
					lines = "limit /archive/* {\n\t\t\tat_once 4\n\t\t}\n\t\tshed {\n\t\t\tin_flight 7\n\t\t\tlatency 1s\n\t\t}"
				}
				s := start(b, strings.NewReplacer("TIMEOUTS", timeouts, "LINES", lines).Replace(site))
				s.get(gptbot, "/robots.txt")
				ctx, stop := context.WithTimeout(context.Background(), attackTime)
				var all sync.WaitGroup
				load.run(ctx, s, stalled, &all)
				kinds := make([]kindOfClient, 4)
				for i, k := range []struct {
					n        int
					ua, path string
				}{{10, chrome, "/"}, {2, gptbot, "/archive/x"}, {1, feedlyAgent, "/feed"}, {1, googlebot, "/"}} {
					all.Go(func() { kinds[i].every(ctx, s, &all, k.n, k.ua, k.path) })
				}
				all.Wait()
				stop()
				slices.Sort(kinds[0].waits)
				result := fmt.Sprintf("%-12s %-7s people p50 %5d ms p95 %5d ms", load.name, line,
					kinds[0].waits[len(kinds[0].waits)/2].Milliseconds(), kinds[0].waits[len(kinds[0].waits)*95/100].Milliseconds())
				for i, name := range []string{"people", "robots", "feeds", "search"} {
					share := 100 * kinds[i].served / len(kinds[i].waits)
					result += fmt.Sprintf(", %s %d %%", name, share)
				}
				b.Log(result)
				b.ReportMetric(float64(kinds[0].waits[len(kinds[0].waits)*95/100].Milliseconds()), load.name+"-"+line+"-p95-ms")
				_ = s.cmd.Process.Kill()
			}
		}
	}
}
