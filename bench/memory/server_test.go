package memory

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// BenchmarkServer measures the resident memory of Caddy with 10,000 hosts that
// each have a robots.txt of their own, without and with the plugin, and how many
// requests of crawlers get no decision (status 429) at three times the limit of
// max_origins.
func BenchmarkServer(b *testing.B) {
	source := perHost{realFiles(b)}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write(source.file(number(r.Host)))
		}
	}))
	defer backend.Close()
	for _, bb := range []struct {
		name, robots string
		hosts        int
	}{
		{"hosts=10000/plain", "", 10_000},
		{"hosts=10000/robots", "robots {\n\t\tmax_origins 10000\n\t}", 10_000},
		{"hosts=3000/max_origins=1000", "robots {\n\t\tmax_origins 1000\n\t}", 3000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				s := server.Start(b, "{\n\tauto_https off\n\trobots {\n\t\tmax_memory 1GiB\n\t}\n}\nhttp://:$PORT {\n\t"+bb.robots+"\n\treverse_proxy "+backend.Listener.Addr().String()+"\n}\n")
				crawl(b, s, bb.hosts, "AhrefsBot")
				crawl(b, s, bb.hosts, "SemrushBot") // another one, because of Crawl-delay
				if name := os.Getenv("HEAP_PROFILE"); name != "" {
					saveProfile(b, s, name)
				}
				b.ReportMetric(float64(s.Memory())/1e6, "RSS-MB")
				b.ReportMetric(100*pending(b, s)/float64(2*bb.hosts), "%pending")
			}
		})
	}
}

// crawl sends one request of a crawler to each host.
func crawl(b *testing.B, s *server.Server, hosts int, bot string) {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	var next atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(hosts); i = next.Add(1) - 1 {
				r, _ := http.NewRequest(http.MethodGet, s.URL("/"), nil)
				r.Host = fmt.Sprintf("h%d.test", i)
				r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; "+bot+"/7.0)")
				resp, err := transport.RoundTrip(r)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	all.Wait()
}

// pending returns how many requests of crawlers got no decision, by the metrics of
// the server.
func pending(b *testing.B, s *server.Server) (requests float64) {
	b.Helper()
	for line := range bytes.Lines(fromAdmin(b, s, "/metrics")) {
		if bytes.HasPrefix(line, []byte("caddy_robots_decisions_total{")) && bytes.Contains(line, []byte(`reason="pending"`)) {
			fields := strings.Fields(string(line))
			n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				b.Fatal(err)
			}
			requests += n
		}
	}
	return requests
}

// saveProfile writes a heap profile of the server to a file.
func saveProfile(b *testing.B, s *server.Server, name string) {
	b.Helper()
	if err := os.WriteFile(name, fromAdmin(b, s, "/debug/pprof/heap?gc=1"), 0o600); err != nil {
		b.Fatal(err)
	}
}

// fromAdmin returns what a server answers at a path of its admin API.
func fromAdmin(b *testing.B, s *server.Server, path string) []byte {
	b.Helper()
	resp, err := http.Get(s.AdminURL(path))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return body
}
