package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// caddyLine returns a line of Caddy's JSON log of a request that took half a second.
func caddyLine(agent, target string, octets int) string {
	return fmt.Sprintf(`{"ts":1794052800.5,"logger":"http.log.access","request":{"client_ip":"192.0.2.1","method":"GET","host":"example.com","uri":%q,"headers":{"User-Agent":[%q]}},"duration":0.5,"size":%d,"status":200}`+"\n", target, agent, octets)
}

// The report has what all requests cost, what those of each robot cost, and which path
// patterns robots fetched for that.
func TestCosts(t *testing.T) {
	var log strings.Builder
	const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	for i := range 100 {
		log.WriteString(caddyLine("GPTBot/1.2", fmt.Sprintf("/ann/app/blame/%03d", i), 1000))
		log.WriteString(caddyLine("ClaudeBot/1.0", fmt.Sprintf("/ann/app/blame/%03d", i), 10))
		log.WriteString(caddyLine("GPTBot/1.2", fmt.Sprintf("/list?sort=%d", i), 100))
		log.WriteString(caddyLine(browser, "/", 5))
	}
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log.String()))}})
	c := r.Costs
	if want := (cost.Sum{Requests: 400, Octets: 111_500, Seconds: 200}); c.All != want {
		t.Errorf("all: %v", c.All)
	}
	if want := (cost.Sum{Requests: 300, Octets: 111_000, Seconds: 150}); c.Robots != want {
		t.Errorf("robots: %v", c.Robots)
	}
	if s := crawlerOf(t, r, "GPTBot").Seconds; s != 100 {
		t.Errorf("GPTBot took %v s", s)
	}
	want := `[{/ann/app/blame/* {200 101000 100 0} [{ClaudeBot {100 1000 50 0}} {GPTBot {100 100000 50 0}}]} {/list?sort= {100 10000 50 0} [{GPTBot {100 10000 50 0}}]}]`
	if got := fmt.Sprint(c.Patterns); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Of a log that has the durations of some requests, times are said of these, and what costs much by
// requests is a cost too.
func TestCostsOfSomeDurations(t *testing.T) {
	var log strings.Builder
	for i := range 2000 {
		log.WriteString(strings.Replace(caddyLine("GPTBot/1.2", fmt.Sprintf("/new/%03d", i), 1000), `"duration":0.5,`, "", 1))
		if i < 1000 {
			log.WriteString(caddyLine("ClaudeBot/1.0", fmt.Sprintf("/old/%03d", i), 1000))
		}
	}
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log.String()))}})
	if c := r.Costs; c.Timed != 1000 || c.All.Seconds != 500 || c.Patterns[0].Pattern != "/old/*" || c.Patterns[1].Share(c.All) < 0.6 {
		t.Errorf("%d have a duration: %+v", c.Timed, c)
	}
	const of = "1,000 of 3,000 requests have a duration"
	if text := findingOf(r, "costs").Text; !warned(r, "partly_timed") || !strings.Contains(text, "(100 % of the time that is known)") || strings.Contains(text, "cost most") {
		t.Errorf("%q: %q", text, r.Warnings)
	}
	if s := r.Sections(10)[1]; !strings.HasSuffix(s.Title, "(100 % of the time that is known)") || !strings.Contains(s.Note, of) {
		t.Errorf("%q: %q", s.Title, s.Note)
	}
}

// The durations may begin in the middle of a log.
func TestCostsOfALogThatGetsDurations(t *testing.T) {
	var log, cached strings.Builder
	line := func(to *strings.Builder, i int, end string) {
		fmt.Fprintf(to, "192.0.2.%d - - [07/Nov/2026:12:%02d:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 512 \"-\" \"GPTBot/1.2\"%s\n", i%250, i/60, i%60, i, end)
	}
	for i := range 2000 {
		line(&log, i, []string{"", ` "-" 0.500`}[i/1000])
		line(&cached, i, []string{" -", " 0.500"}[i%2])
	}
	half := strings.Index(log.String(), "GET /page/1000 ")
	half = strings.LastIndexByte(log.String()[:half], '\n') + 1
	for what, text := range map[string]string{"gets": log.String(), "loses": log.String()[half:] + log.String()[:half], "has - for some": cached.String()} {
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}})
		if c := r.Costs; r.Unreadable != 0 || c.Timed != 1000 || c.All.Seconds != 500 || !warned(r, "partly_timed") {
			t.Errorf("%s: %d unreadable, %d have a duration, %v", what, r.Unreadable, c.Timed, c.All)
		}
	}
}

// Hidden paths are not shown unless Options.Full is set.
func TestCostsHideHiddenPaths(t *testing.T) {
	policy := managed.Policy{Hidden: []managed.Statement{{Paths: []string{"/vault/"}}}}
	log := []byte(strings.Repeat(caddyLine("GPTBot/1.2", "/vault/plan", 5), 3))
	for full, want := range map[bool]string{false: "/…", true: "/vault/plan"} {
		sites := oneSite("User-agent: *\nDisallow: /x\n")
		sites[0].Rules.Edit = policy.Additions
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", log)}, Sites: sites, Full: full})
		if got := r.Costs.Patterns[0].Pattern; got != want {
			t.Errorf("full %v: %q, want %q", full, got, want)
		}
	}
}
