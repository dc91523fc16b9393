package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// world is the server of a scenario.
type world struct {
	*server.Server
	t      testing.TB
	file   string // robots.txt
	config string // the Caddyfile
}

// SearchBot's address, and one that is not its.
const (
	listedAddr   = "192.0.2.9"
	strangerAddr = "198.51.100.1"
)

const searchBot = "Mozilla/5.0 (compatible; SearchBot/1.0; +https://search.test/bot)"

// via sends a request to a host through a trusted proxy, for a client with an address,
// and returns the status.
func (w *world) via(address, host, ua, path string) int {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, w.URL(path), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Host = fmt.Sprintf("%s:%d", host, w.Port)
	r.Header.Set("User-Agent", ua)
	r.Header.Set("X-Forwarded-For", address)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// verified waits until SearchBot is verified: then a stranger with its name is denied.
func (w *world) verified() {
	w.t.Helper()
	for end := time.Now().Add(2 * time.Minute); w.via(strangerAddr, "localhost", searchBot, "/") != http.StatusForbidden; time.Sleep(time.Second) {
		w.via(listedAddr, "localhost", searchBot, "/")
		if time.Now().After(end) {
			w.t.Fatal("the list was not read")
		}
	}
}

// post sends a request to the admin API.
func (w *world) post(route string) {
	w.t.Helper()
	resp, err := http.Post(w.AdminURL("/robots/"+route), "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
}

// shell runs a command as an operator pastes it.
func (w *world) shell(command string) {
	w.t.Helper()
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// configure adds lines to the first block robots of the Caddyfile, and loads it.
func (w *world) configure(lines string) {
	w.t.Helper()
	w.load(strings.Replace(w.config, "robots {\n", "robots {\n"+lines+"\n", 1))
}

func (w *world) load(config string) {
	w.t.Helper()
	if err := w.Reload(config); err != nil {
		w.t.Fatal(err)
	}
}

// statuses returns those of n requests of a crawler.
func (w *world) statuses(n int, ua, path string) (list []int) {
	w.t.Helper()
	for range n {
		list = append(list, crawl(w.t, w.Server, ua, path))
	}
	return list
}

// write writes robots.txt.
func (w *world) write(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// ops is the part of a site with the dashboard.
const ops = "\thandle_path /ops/* {\n\t\trobots_dashboard {\n\t\t\taccess external\n\t\t}\n\t}\n\trespond hello\n}\n"

// verifying is a site that verifies SearchBot. Its robots.txt is a file.
const verifying = "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\nhttp://localhost:$PORT {\n\trobots {\n\t\tsource file $FILE\n\t\tverify {\n\t\t\tresolver 127.0.0.1:1\n\t\t}\n" +
	"\t\tcrawler SearchBot {\n\t\t\tpurpose search\n\t\t\tverify lists $LIST\n\t\t}\n\t}\n" + ops

// forOwner makes a page show all sites.
func forOwner(config string) string {
	return strings.Replace(config, "access external", "access external\n\t\t\tall_sites", 1)
}

const ahrefs = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"

// manySites returns a configuration with the page at localhost and n-1 other sites.
func manySites(n int) string {
	var b strings.Builder
	const robots = " {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /shop/\n\"\n\t\tpublish\n\t}\n"
	fmt.Fprintf(&b, "http://localhost:$PORT%s%s", robots, strings.Replace(ops, "external", "external\n\t\t\tall_sites", 1))
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "http://s%d.test:$PORT%s\trespond hello\n}\n", i, robots)
	}
	return b.String()
}

// visitAll sends requests of crawlers to n sites, and most refused ones to site 17.
func visitAll(n int) func(w *world) {
	return func(w *world) {
		for i := 1; i < n; i++ {
			host := fmt.Sprintf("s%d.test", i)
			w.via(listedAddr, host, bingbot, "/")
			w.via(listedAddr, host, gptbot, "/about")
			if i == 17 {
				for range 9 {
					w.via(listedAddr, host, gptbot, "/shop/x")
				}
			}
		}
	}
}

// ask asks the admin API.
func (w *world) ask(route string, into any) {
	w.t.Helper()
	resp, err := http.Get(w.AdminURL("/robots/" + route))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		w.t.Fatal(err)
	}
}

// isWell reports whether there is no problem.
func (w *world) isWell() bool {
	var health struct{ OK bool }
	w.ask("health", &health)
	return health.OK
}
