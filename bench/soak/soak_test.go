package soak

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

const (
	sites    = 20
	requests = 200 // in a round
	chrome   = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	crawler  = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
)

// BenchmarkSoak sends requests of crawlers and people to a server, also for
// invented hosts. In each round, files change and the dashboard and the metrics are
// read; in every tenth, the server is reloaded. A line each minute compares what
// the server takes with its state after the first one. The only failure is a person
// without a page.
func BenchmarkSoak(b *testing.B) {
	folder := b.TempDir()
	for i := range sites {
		change(b, folder, i)
	}
	text := caddyfile(folder)
	s := server.Start(b, text)
	var first, now state
	began, last, rounds := time.Now(), time.Now(), 0
	for b.Loop() {
		change(b, folder, rand.IntN(sites))
		visit(b, s)
		for _, url := range []string{s.URL("/robots-dashboard"), s.URL("/robots-dashboard?data=live"), s.AdminURL("/robots/lines?text=1"), s.AdminURL("/robots/health"), s.AdminURL("/metrics")} {
			if status := get(b, url, "localhost", chrome); status != http.StatusOK {
				b.Fatalf("%s: status %d", url, status)
			}
		}
		if rounds++; rounds%10 == 0 {
			if err := s.Reload(text); err != nil {
				b.Fatal(err)
			}
		}
		if time.Since(last) >= time.Minute {
			last = time.Now()
			if now = stateOf(b, s); first == (state{}) {
				first = now
			}
			b.Logf("%s, %d rounds, %d people: RSS %d MB (%+.0f %%), %d goroutines (%+d), %d descriptors (%+d)", time.Since(began).Round(time.Second), rounds, rounds*requests/2,
				now.memory>>20, 100*float64(now.memory)/float64(first.memory)-100, now.goroutines, now.goroutines-first.goroutines, now.descriptors, now.descriptors-first.descriptors)
		}
	}
}

// caddyfile returns sites that read robots.txt from themselves or from a file, and
// one for all other hosts, with a dashboard.
func caddyfile(folder string) string {
	var text strings.Builder
	text.WriteString("{\n\tauto_https off\n\tmetrics\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n")
	for i := range sites {
		source := "robots"
		if i%2 == 0 {
			source = fmt.Sprintf("robots {\n\t\tsource file %s/%d/robots.txt\n\t}", folder, i)
		}
		fmt.Fprintf(&text, "http://s%d.test:$PORT {\n\troot * %s/%d\n\t%s\n\trespond / hello\n\tfile_server\n}\n", i, folder, i, source)
	}
	text.WriteString("http://:$PORT {\n\trobots {\n\t\tmax_origins 100\n\t}\n\trobots_dashboard /robots-dashboard* {\n\t\tall_sites\n\t\taccess external\n\t}\n\trespond hello\n}\n")
	return text.String()
}

// change writes another robots.txt for a site.
func change(b *testing.B, folder string, site int) {
	b.Helper()
	dir := filepath.Join(folder, fmt.Sprint(site))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("User-agent: *\n")
	for range 1 + rand.IntN(100) {
		fmt.Fprintf(&text, "Disallow: /%x/*/%x\n", rand.Uint32(), rand.Uint32())
	}
	if err := os.WriteFile(filepath.Join(dir, "robots.txt"), []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}

// visit sends the requests of a round: half of them are a person's.
func visit(b *testing.B, s *server.Server) {
	b.Helper()
	for i := range requests {
		host := fmt.Sprintf("s%d.test", rand.IntN(sites))
		if i%4 < 2 {
			host = fmt.Sprintf("invented%d.test", rand.Uint32())
		}
		if i%2 == 0 {
			get(b, s.URL("/"), host, crawler)
		} else if status := get(b, s.URL("/"), host, chrome); status != http.StatusOK {
			b.Fatalf("a person at %s: status %d", host, status)
		}
	}
}

func get(b *testing.B, url, host, agent string) (status int) {
	b.Helper()
	r, _ := http.NewRequest(http.MethodGet, url, nil)
	if !strings.Contains(url, "/robots/") && !strings.Contains(url, "/metrics") {
		r.Host = host
	}
	r.Header.Set("User-Agent", agent)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// state is what the server takes.
type state struct {
	memory                  int64
	goroutines, descriptors int
}

func stateOf(b *testing.B, s *server.Server) (now state) {
	b.Helper()
	resp, err := http.Get(s.AdminURL("/debug/pprof/goroutine?debug=1"))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := fmt.Fscanf(resp.Body, "goroutine profile: total %d", &now.goroutines); err != nil {
		b.Fatal(err)
	}
	now.memory, now.descriptors = s.Memory(), s.Descriptors()
	return now
}
