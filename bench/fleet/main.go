// Command fleet runs servers that share budgets through Redis, and crawlers that
// send more than the budgets allow, while Redis fails in different ways. It prints
// how many requests the servers accepted. It needs redis-server and redis-cli.
// Run it in bench/: go run ./fleet
package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Each of the crawlers may send one request in ten seconds. It sends ten, so each
// of many servers sees a crawler only now and then.
const (
	crawlers     = 500
	crawlerPause = time.Second
	people       = 10
	peoplePause  = 200 * time.Millisecond
	browser      = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	window       = 10 * time.Second
)

const caddyfile = `{
	admin off
	persist_config off
	storage file_system %[1]s
}
http://:%[2]d {
	bind %[3]s
	robots {
		source inline <<TXT
			User-agent: *
			Crawl-delay: 10
			TXT
		fleet %[4]s {
			instances %[5]d
		}
	}
	respond "page"
}
`

func main() {
	dir, err := os.MkdirTemp("", "fleet-")
	check(err)
	defer os.RemoveAll(dir)
	caddy := filepath.Join(dir, "caddy")
	build := exec.Command("go", "build", "-C", "..", "-o", caddy, "./caddymodule/cmd/caddy")
	build.Stderr = os.Stderr
	check(build.Run())
	fmt.Printf("%[1]d crawlers with a Crawl-delay of 10 seconds send a request each second to random servers: %[1]d are allowed in 10 seconds.\n\n",
		crawlers)
	fmt.Println("| Redis | servers | fault | accepted in 10 s, at most | of the allowed | at least | people p50 | p99 | failed | log lines |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, kind := range []string{"single", "sentinel", "cluster"} {
		for _, n := range []int{2, 8, 16} {
			run(filepath.Join(dir, fmt.Sprint(kind, n)), caddy, kind, n)
		}
	}
}

// run runs one fleet, with one fault after the other.
func run(dir, caddy, kind string, n int) {
	r := newRedis(filepath.Join(dir, "redis"), kind)
	defer r.stop()
	const port = 18480
	var hosts, logs []string
	for i := range n {
		host := fmt.Sprintf("127.0.0.%d", i+2)
		home := filepath.Join(dir, host)
		check(os.MkdirAll(home, 0o700))
		config := filepath.Join(home, "Caddyfile")
		check(os.WriteFile(config, fmt.Appendf(nil, caddyfile, home, port, host, r.url, n), 0o600))
		logs = append(logs, filepath.Join(home, "log"))
		server := start(logs[i], caddy, "run", "--config", config)
		defer end(server)
		hosts = append(hosts, fmt.Sprintf("http://%s:%d/", host, port))
	}
	for _, host := range hosts {
		for !get(host, browser) {
			time.Sleep(50 * time.Millisecond)
		}
	}
	var t traffic
	defer t.run(hosts)()
	time.Sleep(3 * window) // the crawlers' first requests
	for _, fault := range slices.Sorted(maps.Keys(r.faults)) {
		lines := fleetLines(logs)
		begin := time.Now()
		r.faults[fault]()
		time.Sleep(time.Until(begin.Add(25 * time.Second)))
		t.print(kind, n, strings.TrimLeft(fault, "0123456789 "), begin, fleetLines(logs)-lines)
	}
}

// traffic has the results of all requests.
type traffic struct {
	mu       sync.Mutex
	accepted []time.Time // the crawlers' requests
	waits    []time.Duration
	failed   int
}

// run sends requests until the function that it returns is called.
func (t *traffic) run(hosts []string) (stop func()) {
	var group sync.WaitGroup
	done := make(chan struct{})
	send := func(agent string, pause time.Duration, note func(ok bool, took time.Duration)) {
		group.Go(func() {
			time.Sleep(rand.N(window)) // not all at once
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Duration((0.5 + rand.Float64()) * float64(pause))):
				}
				began := time.Now()
				ok, took := get(hosts[rand.IntN(len(hosts))], agent), time.Since(began)
				t.mu.Lock()
				note(ok, took)
				t.mu.Unlock()
			}
		})
	}
	for i := range crawlers {
		send(fmt.Sprintf("examplebot%c%c/1.0 (+https://example.com/bot)", 'a'+i/26, 'a'+i%26), crawlerPause, func(ok bool, _ time.Duration) {
			if ok {
				t.accepted = append(t.accepted, time.Now())
			}
		})
	}
	for range people {
		send(browser, peoplePause, func(ok bool, took time.Duration) {
			if t.waits = append(t.waits, took); !ok {
				t.failed++
			}
		})
	}
	return func() { close(done); group.Wait() }
}

// print prints the results since a time, and forgets them.
func (t *traffic) print(kind string, n int, fault string, begin time.Time, lines int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortFunc(t.accepted, time.Time.Compare)
	most, least := 0, len(t.accepted)
	for from := begin.Add(-window / 4); time.Since(from) > window; from = from.Add(window / 100) {
		first, _ := slices.BinarySearchFunc(t.accepted, from, time.Time.Compare)
		last, _ := slices.BinarySearchFunc(t.accepted, from.Add(window), time.Time.Compare)
		most = max(most, last-first)
		if !from.Before(begin) {
			least = min(least, last-first)
		}
	}
	slices.Sort(t.waits)
	percentile := func(p int) time.Duration { return t.waits[len(t.waits)*p/100].Round(100 * time.Microsecond) }
	fmt.Printf("| %s | %d | %s | %d | %.2f | %d | %v | %v | %d | %d |\n", kind, n, fault, most, float64(most)/crawlers, least,
		percentile(50), percentile(99), t.failed, lines)
	keep, _ := slices.BinarySearchFunc(t.accepted, time.Now().Add(-window), time.Time.Compare)
	t.accepted, t.waits, t.failed = t.accepted[keep:], nil, 0
}

var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

// get reports whether the server sends the page.
func get(url, agent string) bool {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	check(err)
	req.Host = "site.test"
	req.Header.Set("User-Agent", agent)
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK && err == nil
}

// fleetLines counts the lines about the fleet in logs.
func fleetLines(logs []string) (n int) {
	for _, name := range logs {
		text, err := os.ReadFile(name)
		check(err)
		n += strings.Count(string(text), `"fleet: `)
	}
	return n
}

// start starts a command that writes to a file.
func start(output, name string, args ...string) *exec.Cmd {
	file, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(err)
	defer file.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(output), file, file
	check(cmd.Start())
	return cmd
}

// end kills a command.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
