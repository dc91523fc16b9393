package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// visit is a request of a log.
type visit struct{ agent, target string }

// forgeVisits returns the requests of a week on a forge, in order: robots ask for pages
// that are made on request, people and a search engine for others.
func forgeVisits() (list []visit) {
	for i := range 700 {
		list = append(list,
			visit{gptbot, fmt.Sprintf("/ann/app/blame/branch/main/file%d.go", i)},
			visit{"ExampleSpider/1.0 (+https://example.org/spider)", fmt.Sprintf("/ann/app/raw/commit/ab%d/x", i)},
			visit{chrome, []string{"/ann/app", "/explore/repos", "/user/login", "/ann/app/src/branch/main/x.go"}[i%4]},
		)
		if i%10 == 0 {
			list = append(list, visit{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "/ann/app"})
		}
	}
	return list
}

// forgeLog returns a log with these requests, evenly over a week.
func forgeLog(visits []visit) string {
	var b strings.Builder
	at, step := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 7*24*time.Hour/time.Duration(len(visits))
	for i, v := range visits {
		at = at.Add(step)
		fmt.Fprintf(&b, `{"ts":%.6f,"logger":"http.log.access","request":{"client_ip":"198.51.100.%d","method":"GET","host":"localhost","uri":%q,"headers":{"Referer":["http://localhost/"],"User-Agent":[%q]}},"duration":1.5,"size":500,"status":200}`+"\n",
			float64(at.UnixMicro())/1e6, i%97, v.target, v.agent)
	}
	return b.String()
}

// auditJSON runs an audit.
func auditJSON(t *testing.T, args ...string) *audit.Report {
	t.Helper()
	out, err := exec.Command(binary, append([]string{"robots", "audit", "--json"}, args...)...).Output()
	r := new(audit.Report)
	if err == nil {
		err = json.Unmarshal(out, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// close1Percent reports whether two numbers differ by at most one percent.
func close1Percent(a, b int64) bool { return 100*max(a-b, b-a) <= max(a, b) }

// What `caddy robots audit --suggest` prints is a Caddyfile. With it, an audit of the same
// log and a running server refuse what was announced.
func TestSuggestionsHold(t *testing.T) {
	t.Parallel()
	folder, visits := t.TempDir(), forgeVisits()
	file := func(name, text string) string {
		name = filepath.Join(folder, name)
		writeFile(t, name, text)
		return name
	}
	const own = "User-agent: *\nDisallow: /private/\n"
	log, old := file("week.log", forgeLog(visits)), file("old.txt", own)
	block, err := exec.Command(binary, "robots", "audit", "--suggest", "--robots", old, log).Output()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(binary, "adapt", "--adapter", "caddyfile", "--config", file("block.caddyfile", string(block))).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, block)
	}
	announced := auditJSON(t, "--suggest", "--robots", old, log)
	kinds := map[string]int{}
	for _, s := range announced.Suggestions {
		kinds[s.Kind]++
	}
	if kinds["policy"] != 1 || kinds["limit"] == 0 {
		t.Fatalf("kinds %v\n%s", kinds, block)
	}

	// The text as an operator pastes it.
	if !strings.Contains(string(block), "localhost {\n\trobots {\n") {
		t.Fatalf("%s", block)
	}
	logs := filepath.Join(folder, "access.json")
	site := strings.Replace(string(block), "localhost {\n\trobots {\n", "http://localhost:$PORT {\n\tlog {\n\t\toutput file "+logs+"\n\t}\n\trespond page\n\trobots {\n\t\tpublish\n\t\tsource file "+old+"\n", 1)
	config := file("Caddyfile", strings.ReplaceAll(site, "$PORT", "8080"))
	again := auditJSON(t, "--config", config, log)
	if got, want := again.WouldHave.Refused, announced.Suggested.Together.Requests; got != want {
		t.Errorf("with the text, %d requests would have been refused: announced were %d", got, want)
	}

	s := start(t, site)
	statuses := map[int]int64{}
	for _, v := range visits {
		status := s.get(v.agent, v.target).status
		statuses[status]++
		if (v.agent == chrome || strings.Contains(v.agent, "Googlebot")) && status != 200 {
			t.Fatalf("%s %s: %d", v.agent, v.target, status)
		}
	}
	if !close1Percent(statuses[403], again.WouldHave.Denied) {
		t.Errorf("the server answered %v, announced were %d with 403", statuses, again.WouldHave.Denied)
	}
	s.eventually("a log of all requests", func() bool {
		text, _ := os.ReadFile(logs)
		return bytes.Count(text, []byte("\n")) >= len(visits)
	})
	served := auditJSON(t, "--config", config, logs).WouldHave
	if !close1Percent(statuses[429], served.Throttled) || !close1Percent(statuses[403], served.Denied) || statuses[429] == 0 {
		t.Errorf("the server answered %v, by its log it would have refused %+v", statuses, served)
	}
}
