package memory

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// BenchmarkSites compares Caddy with 1,000 sites that each have a robots block
// and a robots.txt file of the usual size with the same sites without the block:
// the time of a reload, the resident memory after three reloads in a row, and the
// processor time from the start until the server is idle. The servers run in turns.
func BenchmarkSites(b *testing.B) {
	const sites = 1000
	folder, files := b.TempDir(), about(realFiles(b), 635)
	for i := range sites {
		site := filepath.Join(folder, fmt.Sprint(i))
		if err := os.Mkdir(site, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(site, "robots.txt"), vary(files[i%len(files)], uint64(i)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	kinds := []struct{ name, directive string }{
		{"plain", ""},
		{"site", "robots"},
		{"file", "robots {\n\t\tsource file " + folder + "/%d/robots.txt\n\t}"},
		{"verify", "robots {\n\t\tverify\n\t}"},
	}
	var figures [4][]cost
	for b.Loop() {
		for i, kind := range kinds {
			var text strings.Builder
			text.WriteString("{\n\tauto_https off\n}\n")
			for site := range sites {
				directive := strings.ReplaceAll(kind.directive, "%d", fmt.Sprint(site))
				fmt.Fprintf(&text, "http://s%d.test:$PORT {\n\troot * %s/%d\n\t%s\n\tfile_server\n}\n", site, folder, site, directive)
			}
			figures[i] = append(figures[i], measureSites(b, kind.name, text.String()))
		}
	}
	plain := leastCost(figures[0])
	for i, kind := range kinds {
		c := leastCost(figures[i])
		b.ReportMetric(float64(c.reload.Milliseconds()), kind.name+"-reload-ms")
		b.ReportMetric(float64(c.memory)/1e6, kind.name+"-RSS-MB")
		b.ReportMetric(float64(c.processor.Milliseconds()), kind.name+"-CPU-ms")
		if i > 0 {
			b.ReportMetric(float64(c.reload)/float64(plain.reload), kind.name+"-reload-ratio")
			b.ReportMetric(float64(c.memory)/float64(plain.memory), kind.name+"-RSS-ratio")
			b.ReportMetric(float64(c.processor)/float64(plain.processor), kind.name+"-CPU-ratio")
		}
	}
}

// BenchmarkIdle measures the heap of Caddy with one site after a request for its
// robots.txt and one of a crawler, without and with the directive.
func BenchmarkIdle(b *testing.B) {
	folder := b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "robots.txt"), []byte("User-agent: *\nDisallow: /private/\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var heaps [2]float64
		for i, directive := range []string{"", "robots"} {
			s := server.Start(b, "{\n\tauto_https off\n}\nhttp://:$PORT {\n\troot * "+folder+"\n\t"+directive+"\n\tfile_server\n}\n")
			for _, path := range []string{"/robots.txt", "/private/"} {
				r, _ := http.NewRequest(http.MethodGet, s.URL(path), nil)
				r.Header.Set("User-Agent", "GPTBot/1.2")
				if resp, err := http.DefaultClient.Do(r); err != nil {
					b.Fatal(err)
				} else {
					resp.Body.Close()
				}
			}
			for range 2 { // the second one sees the end of the first one's collection
				heaps[i] = heapOf(b, s)
			}
			s.Stop()
		}
		b.ReportMetric(heaps[0]/1e6, "plain-MB")
		b.ReportMetric((heaps[1]-heaps[0])/1e6, "robots-MB-more")
	}
}

// heapOf returns the octets in a server's heap after a garbage collection.
func heapOf(b *testing.B, s *server.Server) float64 {
	b.Helper()
	text := string(fromAdmin(b, s, "/debug/pprof/heap?gc=1&debug=1"))
	_, after, _ := strings.Cut(text, "\n# HeapAlloc = ")
	n, err := strconv.ParseFloat(strings.SplitN(after, "\n", 2)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// cost is what a server with many sites takes.
type cost struct {
	reload, processor time.Duration
	memory            int64
}

// leastCost returns the least of each figure: other programs only add to it.
func leastCost(all []cost) cost {
	least := all[0]
	for _, c := range all {
		least = cost{min(least.reload, c.reload), min(least.processor, c.processor), min(least.memory, c.memory)}
	}
	return least
}

func measureSites(b *testing.B, name, caddyfile string) (c cost) {
	b.Helper()
	s := server.Start(b, caddyfile)
	defer s.Stop()
	c.processor = idle(s)
	config := adapted(b, s)
	var reloads []time.Duration
	for range 3 {
		start := time.Now()
		load(b, s, config)
		reloads = append(reloads, time.Since(start))
	}
	c.reload, c.memory = slices.Min(reloads), s.Memory()
	b.Logf("%s: CPU %v, reloads %v, RSS %d MB", name, c.processor, reloads, c.memory/1e6)
	if prefix := os.Getenv("PROFILE"); prefix != "" && name != "plain" {
		saveProfile(b, s, prefix+"."+name+".heap")
	}
	return c
}

// idle waits until a server has nothing more to do, and returns the processor
// time that it took.
func idle(s *server.Server) time.Duration {
	for before := s.Processor(); ; {
		time.Sleep(time.Second)
		now := s.Processor()
		if now-before <= 30*time.Millisecond {
			return now
		}
		before = now
	}
}

// adapted returns the configuration of a server in JSON.
func adapted(b *testing.B, s *server.Server) []byte {
	b.Helper()
	out, err := exec.Command(server.Binary(b), "adapt", "--config", filepath.Join(s.Dir, "Caddyfile")).Output()
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// load loads a configuration in JSON, also if it is the one that runs.
func load(b *testing.B, s *server.Server, config []byte) {
	b.Helper()
	r, _ := http.NewRequest(http.MethodPost, s.AdminURL("/load"), bytes.NewReader(config))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cache-Control", "must-revalidate")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("status %d", resp.StatusCode)
	}
}
