package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
	"github.com/caddy-robots/caddy-robots/internal/test/child"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

const (
	chrome  = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	gptbot  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	servers = 3
	// pages is how many hosts have a dashboard of their own, at /page/NUMBER.
	pages = 500
)

// name returns the name of a host. No name is a part of another.
func name(i int) string { return fmt.Sprintf("t%05d-shop.test", i) }

var names = regexp.MustCompile(`t\d{5}-shop\.test`)

// visits returns the requests to a host at one of the servers: more or less for each.
func visits(i, at int) (list [][2]string) {
	for range (i+at)%3 + 1 {
		list = append(list, [2]string{gptbot, "/private/x"})
	}
	for range i%2 + 1 {
		list = append(list, [2]string{gptbot, "/page"})
	}
	return append(list, [2]string{chrome, "/private/x"})
}

// tally has the numbers of a host: requests of crawlers, refused ones, and requests of people.
type tally struct{ requests, denied, people uint64 }

// BenchmarkHosts sends requests to each host at each server, compares all numbers with the
// access logs, and reports memory, and processor time per request with known rules, beside
// the same servers without the directive. HOSTS=10000 in the environment adds that number of
// hosts, which takes minutes.
func BenchmarkHosts(b *testing.B) {
	sizes := []int{500}
	if more, err := strconv.Atoi(os.Getenv("HOSTS")); err == nil {
		sizes = append(sizes, more)
	}
	for _, hosts := range sizes {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			redis := startRedis(b)
			for b.Loop() {
				_, plain := run(b, hosts, "http://:$PORT {\n\tlog {\n\t\toutput file $DIR/access.log\n\t}\n\trespond page\n}")
				fleet, robots := run(b, hosts, catchAll(redis))
				b.ReportMetric(plain.memory/1e6, "plain-RSS-MB")
				b.ReportMetric(robots.memory/1e6, "robots-RSS-MB")
				b.ReportMetric(plain.processor, "plain-CPU-µs/request")
				b.ReportMetric(robots.processor, "robots-CPU-µs/request")
				fleet.check(b, hosts)
			}
		})
	}
}

// catchAll returns a configuration of one site for all hosts, each with a robots.txt of its
// own, with dashboards.
func catchAll(redis string) string {
	var dashboards strings.Builder
	for i := range pages {
		fmt.Fprintf(&dashboards, "\thandle /page/%d {\n\t\trobots_dashboard {\n\t\t\thosts %s\n\t\t\taccess external\n\t\t}\n\t}\n", i, name(i))
	}
	return `{
	robots {
		max_memory 1GiB
	}
}
http://:$PORT {
	log {
		output file $DIR/access.log
	}
	robots {
		max_origins 10000
		fleet ` + redis + `
	}
	respond /robots.txt "User-agent: *
Disallow: /private/
Disallow: /of-{http.request.host}/
"
	respond page
}
http://localhost:$TLSPORT {
	handle /all {
		robots_dashboard {
			all_sites
			access external
		}
	}
` + dashboards.String() + "}\n"
}

// fleet is servers after requests to each host, and what their access logs say.
type fleet struct {
	servers [servers]*server.Server
	logged  [servers]map[string]tally
}

// cost is what a server of a fleet takes: octets, and microseconds for a request.
type cost struct{ memory, processor float64 }

func run(b *testing.B, hosts int, config string) (f fleet, c cost) {
	b.Helper()
	for at := range f.servers {
		port, err := freeport.Take()
		if err != nil {
			b.Fatal(err)
		}
		own := strings.ReplaceAll(config, "$PORT", fmt.Sprint(port))
		s := server.Start(b, own)
		s.Port = port
		f.servers[at] = s
		first := crawl(b, s, hosts, at) // with the fetch of each robots.txt
		before := s.Processor()
		second := crawl(b, s, hosts, at)
		f.logged[at] = logged(b, s, first+second)
		c.processor += float64((s.Processor() - before).Microseconds()) / float64(second) / servers
		c.memory += float64(s.Memory()) / servers
		if !strings.Contains(config, "robots_dashboard") { // nothing is asked of it
			s.Stop()
		}
	}
	return f, c
}

// crawl sends the requests of each host to a server, and returns their number.
func crawl(b *testing.B, s *server.Server, hosts, at int) int {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	var next, sent atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < hosts; i = int(next.Add(1)) - 1 {
				for _, v := range visits(i, at) {
					get(b, transport, s.URL(v[1]), name(i), v[0])
					sent.Add(1)
				}
			}
		})
	}
	all.Wait()
	return int(sent.Load())
}

// get returns the body of an answer to a request with a Host and a User-Agent.
func get(b *testing.B, transport http.RoundTripper, url, host, agent string) []byte {
	b.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		b.Error(err)
		return nil
	}
	r.Host = host
	r.Header.Set("User-Agent", agent)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Error(err)
	}
	return body
}

// logged returns what a server's access log says, when it has all requests.
func logged(b *testing.B, s *server.Server, requests int) map[string]tally {
	b.Helper()
	var text []byte
	for bytes.Count(text, []byte("\n")) < requests {
		text, _ = os.ReadFile(filepath.Join(s.Dir, "access.log"))
		time.Sleep(50 * time.Millisecond)
	}
	all := make(map[string]tally)
	for line := range bytes.Lines(text) {
		var e struct {
			Status  int
			Request struct {
				Host    string
				Headers http.Header
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			b.Fatal(err)
		}
		n := all[e.Request.Host]
		switch {
		case e.Request.Headers.Get("User-Agent") == chrome:
			n.people++
		case e.Status == http.StatusForbidden:
			n.denied++
			n.requests++
		default:
			n.requests++
		}
		all[e.Request.Host] = n
	}
	return all
}

// startRedis runs redis-server until the test ends, and returns its URL.
func startRedis(b *testing.B) string {
	b.Helper()
	port, err := freeport.Take()
	if err != nil {
		b.Fatal(err)
	}
	cmd := child.Command("redis-server", "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", b.TempDir())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return fmt.Sprintf("redis://127.0.0.1:%d", port)
}
