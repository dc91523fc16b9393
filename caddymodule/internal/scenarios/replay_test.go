package scenarios_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

// replayedSites have what a log can say everything about.
var replayedSites = map[string]string{
	"rules": `
		source file robots.txt`,
	"policy": `
		source file robots.txt
		policy no-training {
			deny seo
			hidden /secret/
		}`,
	"exempt, programs": `
		source file robots.txt
		exempt GPTBot from 192.0.2.2
		programs on
		http_clients on`,
	"strict": `
		source file robots.txt
		strict on`,
	"limit": `
		source file robots.txt
		limit /search* {
			each 6/1m
		}`,
}

const replayedRobots = `User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 5

User-agent: GPTBot
Disallow: /a
Request-rate: 1/10s

User-agent: bingbot
Crawl-delay: 3
`

// The audit of a log decides about each request as the server did that answered it: the verdicts of
// each crawler are the same.
func TestAuditDecidesAsTheServer(t *testing.T) {
	for name, lines := range replayedSites {
		t.Run(name, func(t *testing.T) {
			s := inProcess{t.TempDir()}
			caddyfile := "http://site.test {\n\trobots {" + lines + "\n\t}\n\trespond page\n}\n"
			writeFile(t, s.dir, "Caddyfile", strings.ReplaceAll(caddyfile, "robots.txt", filepath.Join(s.dir, "robots.txt")))
			writeFile(t, s.dir, "robots.txt", replayedRobots)
			if err := s.Load("Caddyfile"); err != nil {
				t.Fatal(err)
			}
			defer s.Stop()
			log, want := replayed(t, s)
			writeFile(t, s.dir, "access.log", log)
			got := audited(t, s.dir)
			if !maps.Equal(got, want) {
				for crawler := range want {
					if got[crawler] != want[crawler] {
						t.Errorf("%s: the audit has %+v, the server had %+v", crawler, got[crawler], want[crawler])
					}
				}
			}
			refused := 0
			for _, n := range want {
				refused += n.Denied + n.Throttled
			}
			if refused < 50 || len(got) < 5 {
				t.Errorf("only %d requests of %d crawlers were refused: %+v", refused, len(got), want)
			}
		})
	}
}

// The audit of a log says how many pages of a storm `challenge` holds, and whom else it asks, as a
// server that has the line does with the same requests.
func TestAuditHoldsAStormAsTheServer(t *testing.T) {
	const line = "challenge /blame/* {\n\t\t\tover 30/1m\n\t\t}"
	type asked struct{ Requests, Addresses, Others int }
	var log string
	var want, got asked
	for _, lines := range []string{"", line} { // the log is that of a server without the line
		s := inProcess{t.TempDir()}
		writeFile(t, s.dir, "Caddyfile", "http://site.test {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t\t"+lines+"\n\t}\n"+
			"\troot "+s.dir+"\n\trewrite /blame/* /page.html\n\tfile_server\n}\n"+
			"http://ready.test {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t\tchallenge /* {\n\t\t\talways\n\t\t}\n\t}\n}\n")
		writeFile(t, s.dir, "page.html", "page")
		writeFile(t, s.dir, "style.css", "style")
		if err := s.Load("Caddyfile"); err != nil {
			t.Fatal(err)
		}
		answers := stormed(t, s)
		s.Stop()
		if lines == "" {
			log = answers.log
			continue
		}
		writeFile(t, s.dir, "access.log", log)
		want = asked{answers.lone, answers.lone, len(answers.others)}
		if rows := audit(t, s.dir, "asked"); len(rows) == 1 {
			got = asked{rows[0].number("pages not answered"), rows[0].number("addresses"), rows[0].number("others asked once")}
		}
	}
	if got != want || got.Requests < 500 || got.Others < 3 {
		t.Errorf("the audit has %+v, the server had %+v", got, want)
	}
}

// storm is what a server did in a storm.
type storm struct {
	log    string
	lone   int             // pages of lone addresses that were asked for
	others map[string]bool // other addresses that were asked
}

// stormed sends requests of 700 lone addresses, and of people who read a page and what it embeds.
func stormed(t *testing.T, s inProcess) (answers storm) {
	answers.others = make(map[string]bool)
	var b strings.Builder
	get := func(host, client, target string) (status int) {
		answer, err := s.Do(&scenario.Request{Method: http.MethodGet, Scheme: "http", Host: host, Target: target, Port: "80", Client: client,
			Header: http.Header{"User-Agent": {fake.Agents["chrome"]}}})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status
	}
	for get("ready.test", "192.0.2.1", "/") == http.StatusOK { // until the keys of passes were read, beside requests
		time.Sleep(time.Millisecond)
	}
	do := func(client, target string) (status int) {
		status = get("site.test", client, target)
		b.WriteString(logLine(http.MethodGet, client, target, fake.Agents["chrome"], status))
		return status
	}
	for i := range 700 {
		passed.Add(int64(400 * time.Millisecond))
		if do(fmt.Sprintf("198.51.%d.%d", i/250, i%250), fmt.Sprintf("/blame/%d", i)) != http.StatusOK {
			answers.lone++
		}
		if i%50 == 0 {
			reader := fmt.Sprintf("192.0.2.%d", i/50)
			if do(reader, "/blame/x") != http.StatusOK {
				answers.others[reader] = true
			}
			do(reader, "/style.css")
			do(reader, "/page.html")
		}
	}
	answers.log = b.String()
	return answers
}

// logLine returns a line of Caddy's access log for a request at the present time.
func logLine(method, client, target, agent string, status int) string {
	return fmt.Sprintf(`{"ts":%.6f,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":%q,"client_ip":%q,"method":%q,"host":"site.test","uri":%q,"headers":{"User-Agent":[%q]}},"duration":0,"size":4,"status":%d}`+"\n",
		float64(begin.UnixMicro()+passed.Load()/1000)/1e6, client, client, method, target, agent, status)
}

// verdicts are those on the requests of a crawler.
type verdicts struct{ Requests, Denied, Throttled int }

// replayed sends requests to a server, and returns their log and the verdicts by crawler.
func replayed(t *testing.T, s inProcess) (log string, want map[string]verdicts) {
	random := rand.New(rand.NewPCG(3, 4))
	crawlers := map[string]string{"GPTBot": "gptbot", "bingbot": "bingbot", "Googlebot": "googlebot", "AhrefsBot": "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
		"ExampleSpider": "ExampleSpider/1.0 (+https://example.org/spider)", "curl": "curl/8.5.0", "UptimeRobot": "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "": "chrome"}
	targets := []string{"/", "/a", "/ab?x=1", "/private/x", "/private/open", "/%70rivate/y", "/search?q=1", "/secret/x", "/robots.txt", "/page/7"}
	names := []string{"GPTBot", "bingbot", "Googlebot", "AhrefsBot", "ExampleSpider", "curl", "UptimeRobot", ""}
	var b strings.Builder
	want = make(map[string]verdicts)
	for range 2000 {
		passed.Add(int64(random.IntN(3000)+1) * int64(time.Millisecond))
		name, target, client := names[random.IntN(len(names))], targets[random.IntN(len(targets))], fmt.Sprintf("192.0.2.%d", 1+random.IntN(3))
		agent := crawlers[name]
		if ua, known := fake.Agents[agent]; known {
			agent = ua
		}
		method := []string{http.MethodGet, http.MethodGet, http.MethodGet, http.MethodHead, http.MethodPost}[random.IntN(5)]
		answer, err := s.Do(&scenario.Request{Method: method, Scheme: "http", Host: "site.test", Target: target, Port: "80", Client: client, Header: http.Header{"User-Agent": {agent}}})
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(logLine(method, client, target, agent, answer.Status))
		if name == "" {
			if answer.Status != http.StatusOK && target != "/secret/x" {
				t.Errorf("a browser gets %d for %s", answer.Status, target)
			}
			continue
		}
		n := want[name]
		n.Requests++
		switch answer.Status {
		case http.StatusForbidden, http.StatusNotFound:
			n.Denied++
		case http.StatusTooManyRequests:
			n.Throttled++
		}
		want[name] = n
	}
	return b.String(), want
}

// audit returns the rows of a table of an audit of access.log with the Caddyfile.
func audit(t *testing.T, dir, table string) (rows []tableRow) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "robots", "audit", "--json", "--config", "Caddyfile", "access.log")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asCaddy+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, string(out))
	}
	var report struct {
		Unreadable int
		Sections   []struct {
			Name    string
			Columns []struct{ Name string }
			Rows    [][]any
		}
	}
	if err := json.Unmarshal(out, &report); err != nil || report.Unreadable > 0 {
		t.Fatal(err, report.Unreadable)
	}
	for _, s := range report.Sections {
		for _, values := range s.Rows {
			row := make(tableRow)
			for i, column := range s.Columns {
				row[column.Name] = values[i]
			}
			if s.Name == table {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// tableRow has the values of a row by the names of the columns.
type tableRow map[string]any

func (r tableRow) number(name string) int {
	n, _ := r[name].(float64)
	return int(n)
}

// audited returns the verdicts of an audit by crawler.
func audited(t *testing.T, dir string) map[string]verdicts {
	got := make(map[string]verdicts)
	for _, row := range audit(t, dir, "crawlers") {
		got[row["name"].(string)] = verdicts{row.number("requests"), row.number("denied"), row.number("throttled")}
	}
	return got
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
