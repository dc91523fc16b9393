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
	"testing"
	"time"
)

// BenchmarkOverload sends 20 requests of people a second to a back end of ten
// workers, which take a tenth of a second for each, and 200 robots at once. It
// reports how long people wait after the first second, the 99th percentile: alone,
// with robots, with in_flight, and with latency: when it has acted, and while robots
// are tried again, for which people may wait as long as latency says.
func BenchmarkOverload(b *testing.B) {
	workers := make(chan struct{}, 10)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		select {
		case workers <- struct{}{}:
			time.Sleep(100 * time.Millisecond)
			<-workers
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "page")
	}))
	b.Cleanup(backend.Close)
	for b.Loop() {
		p99 := make(map[string]time.Duration)
		for _, run := range []struct {
			name, shed string
			robots     int
			from, end  time.Duration
		}{
			{"alone", "", 0, time.Second, 15 * time.Second},
			{"robots", "", 200, time.Second, 15 * time.Second},
			{"in_flight", "in_flight 8", 200, time.Second, 15 * time.Second},
			{"latency", "latency 500ms", 200, 10 * time.Second, 18 * time.Second},
			{"trial", "latency 500ms", 200, 20 * time.Second, 25 * time.Second},
		} {
			site := "\nhttp://localhost:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy " + strings.TrimPrefix(backend.URL, "http://") + "\n}\n"
			if run.shed != "" {
				site = strings.Replace(site, "refresh 1h", "shed {\n\t\t\t"+run.shed+"\n\t\t}", 1)
			}
			s := start(b, site)
			p99[run.name] = overload(s, run.robots, run.from, run.end)
			_ = s.cmd.Process.Kill()
		}
		for _, name := range []string{"alone", "robots", "in_flight", "latency", "trial"} {
			b.ReportMetric(float64(p99[name].Milliseconds()), name+"-ms")
			b.ReportMetric(float64(p99[name])/float64(p99["alone"]), name+"-ratio")
		}
	}
}

// overload sends the requests until end, and returns the 99th percentile of the
// times for which people waited after from.
func overload(s *server, robots int, from, end time.Duration) time.Duration {
	ctx, stop := context.WithTimeout(context.Background(), end)
	defer stop()
	transport := &http.Transport{MaxIdleConnsPerHost: 500}
	defer transport.CloseIdleConnections()
	get := func(ua string) int {
		r, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), nil)
		r.Header.Set("User-Agent", ua)
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	get(gptbot) // robots.txt is read
	begin := time.Now()
	var running sync.WaitGroup
	for range robots {
		running.Go(func() {
			for ctx.Err() == nil {
				if get(gptbot) == http.StatusServiceUnavailable {
					time.Sleep(time.Second)
				}
			}
		})
	}
	var mu sync.Mutex
	var waits []time.Duration
	for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		at := time.Now()
		running.Go(func() {
			if get(chrome); at.Sub(begin) > from {
				mu.Lock()
				defer mu.Unlock()
				waits = append(waits, time.Since(at))
			}
		})
	}
	running.Wait()
	slices.Sort(waits)
	return waits[len(waits)*99/100]
}
