package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// at returns a time on 22 November 2026.
func at(hour, minute int) time.Time { return time.Date(2026, 11, 22, hour, minute, 0, 0, time.UTC) }

// windowsOf returns windows that have these counts in the last day.
func windowsOf(c statusapi.Counts) statusapi.Windows[statusapi.Counts] {
	return statusapi.Windows[statusapi.Counts]{Day: c, Total: c}
}

// reasonCounts returns the counts of reasons with their actions in the last day.
func reasonCounts(list ...any) (counts []statusapi.ReasonCounts) {
	for i := 0; i < len(list); i += 2 {
		reason, action, _ := strings.Cut(list[i].(string), " ")
		counts = append(counts, statusapi.ReasonCounts{Reason: reason, Action: action, Windows: statusapi.Windows[uint64]{Day: uint64(list[i+1].(int))}})
	}
	return counts
}

// longPath is longer than a cell on a terminal.
var longPath = "/" + strings.Repeat("path-", 20) + "end"

// enforcing is the state of one site in enforce mode.
func enforcing() *statusapi.Status {
	c := statusapi.Counts{Requests: 13, Verified: 3, Unverified: 1, Impostors: 2, VerifiedRefused: 1, Decided: statusapi.Decided[uint64]{Passed: 9, Denied: 3, Throttled: 1}}
	return &statusapi.Status{
		Summary: &statusapi.Summary{
			Since: at(8, 0), Crawlers: windowsOf(c), Programs: statusapi.Windows[uint64]{Day: 7}, People: statusapi.Windows[uint64]{Day: 40}, Strangers: statusapi.Windows[uint64]{Day: 300},
			Search:  windowsOf(statusapi.Counts{Requests: 10, Verified: 3, VerifiedRefused: 1}),
			Reasons: reasonCounts("disallowed deny", 2, "hidden deny", 1, "crawl_delay throttle", 1, "allowed pass", 9),
		},
		Sites: []statusapi.Site{{Name: "shop.test", Mode: statusapi.Enforce, Counts: c, People: 40}},
		Health: statusapi.Health{Problems: []statusapi.Problem{
			{Severity: statusapi.Warning, Kind: statusapi.NewAccident("shedding", "It is that of a step."), Subject: "api.test", Message: "api.test is busy, with 70 requests that wait for an answer"},
		}, Sections: []statusapi.Section{{
			Title:   "Robots that are refused while the server is busy",
			Columns: []statusapi.Column{{Name: "sites"}, {Name: "busy since"}, {Name: "in flight", Number: true}, {Name: "are refused"}},
			Rows: [][]string{
				{"shop.test", "", "3", ""},
				{"api.test, www.api.test", "2026-11-22 14:02", "70", "self-declared, ai-*"},
			},
		}}},
		CrawlersTotal: 2, RulesTotal: 5, Origins: statusapi.OriginTally{Origins: 1},
		Busiest: []statusapi.Crawler{
			{Name: "Googlebot", Class: "crawler", Purposes: []string{"search"}, Last: at(14, 13), Windows: windowsOf(statusapi.Counts{Requests: 10, Verified: 3, Unverified: 1, Impostors: 2, VerifiedRefused: 1, Decided: statusapi.Decided[uint64]{Passed: 9, Throttled: 1}})},
			{Name: "Evil\x1b[2JBot", Class: "self-declared", Last: at(9, 0), Windows: windowsOf(statusapi.Counts{Requests: 3, Decided: statusapi.Decided[uint64]{Denied: 3}})},
		},
		Rules: []statusapi.Line{
			{Origin: "https://shop.test", Layer: "file", Number: 9, Group: "GPTBot", Tokens: []string{"GPTBot", "CCBot", "ClaudeBot", "Bytespider", "Amazonbot"}, Rule: "Disallow: /", LineCounts: statusapi.LineCounts{Hour: 1, Day: 3, Decided: statusapi.Decided[uint64]{Denied: 5}}},
			{Origin: "https://shop.test", Layer: "policy", File: "Caddyfile", Number: 4, Group: "*", Tokens: []string{"*"}, Rule: "Crawl-delay: 10", LineCounts: statusapi.LineCounts{Day: 1, Decided: statusapi.Decided[uint64]{Throttled: 1}}},
			{Origin: "https://shop.test", Layer: "hidden", Number: 7, LineCounts: statusapi.LineCounts{Day: 1, Decided: statusapi.Decided[uint64]{Denied: 1}}},
			{Origin: "https://shop.test", Layer: "hidden", LineCounts: statusapi.LineCounts{Day: 1, Decided: statusapi.Decided[uint64]{Denied: 1}}},
			{Origin: "https://shop.test", Layer: "file", Number: 3, Group: "*", Tokens: []string{"*"}, Rule: "Disallow: /old/", Removed: true, LineCounts: statusapi.LineCounts{Decided: statusapi.Decided[uint64]{Denied: 2}}},
		},
		Files: []statusapi.Origin{
			{Origin: "https://shop.test", State: "loaded", OK: true, Rules: 3, ReadAt: new(at(14, 2)), Message: "robots.txt of shop.test is in force: 3 rules, fetched at 14:02 UTC"},
		},
		Recent: []statusapi.Refusal{
			{Time: at(14, 10), Host: "shop.test", Path: longPath, Client: "192.0.2.0/24", Decision: verdict.Decision{Crawler: "GPTBot", Verdict: verdict.Verdict{Action: "deny", Reason: "disallowed", Layer: "file", Line: 9}}},
			{Time: at(10, 0), Host: "shop.test", Path: "/list/", Client: "198.51.100.0/24", Decision: verdict.Decision{Class: "person", Verdict: verdict.Verdict{Action: "challenge", Reason: "challenge", Layer: "challenge", Line: 3}}},
			{Time: at(9, 0), Host: "shop.test", Client: "192.0.2.0/24", Decision: verdict.Decision{Crawler: "GPTBot", Verdict: verdict.Verdict{Action: "deny", Reason: "hidden", Layer: "hidden", File: "shop.caddy", Line: 7}}},
		},
	}
}

// monitoring is the state of one site in monitor mode, after a change of its
// robots.txt, and with a problem.
func monitoring() *statusapi.Status {
	c := statusapi.Counts{Requests: 13, Decided: statusapi.Decided[uint64]{Passed: 9, WouldDeny: 3, WouldThrottle: 1}}
	changed := statusapi.Origin{Sites: []string{"shop.test", "*.shop.test"}, State: "failed", Rules: 3, Message: "robots.txt of shop.test could not be fetched for 5 minutes", Grace: []statusapi.Grace{
		{Crawler: "search", Version: "3v5wq8j4l9268", Replaced: at(13, 0), Until: at(13, 0).Add(24 * time.Hour)},
		{Crawler: "all", Version: "1mh5vtx8q2k0c", State: "loaded", Replaced: at(9, 0), Until: at(9, 0).Add(24 * time.Hour)},
		{Crawler: "search", State: "forbidden", Status: 403, Replaced: at(8, 30), Until: at(8, 30).Add(24 * time.Hour)},
		{Crawler: "search", State: "not_robots", Replaced: at(8, 0), Until: at(8, 0).Add(24 * time.Hour)},
	}}
	return &statusapi.Status{
		Summary: &statusapi.Summary{
			Since: at(8, 0), Crawlers: statusapi.Windows[statusapi.Counts]{Day: c}, People: statusapi.Windows[uint64]{Day: 40}, Search: windowsOf(statusapi.Counts{Requests: 10, ClaimsRefused: 2}),
			Reasons: reasonCounts("disallowed would_deny", 3, "limit would_throttle", 1, "allowed pass", 9),
		},
		Modes: map[string]int{statusapi.Monitor: 1},
		Sites: []statusapi.Site{{Name: "shop.test", Mode: statusapi.Monitor, Overridden: true, Counts: c, People: 40}},
		Health: statusapi.Health{Problems: []statusapi.Problem{
			{Severity: statusapi.Severe, Message: "robots.txt of shop.test could not be fetched for 5 minutes", Advice: "Check the file."},
			{Severity: statusapi.Warning, Message: "robots.txt of two.test could not be fetched", Advice: "The last fetch failed with: status 503. Check the file."},
			{Severity: statusapi.Warning, Message: "robots.txt of three.test could not be fetched", Advice: "Check the file.", Actions: []statusapi.Action{
				{What: "Put the former file back, or end the warning", Where: statusapi.Command,
					Text: "curl -X POST --unix-socket '/run/caddy/admin.sock' 'http://localhost/robots/refresh?accept=on&site=three.test'"}}},
			{Severity: statusapi.Warning, Message: "GPTBot sends 150 requests a minute", Advice: "A limit slows it down.", Actions: []statusapi.Action{
				{What: "Limit how often each crawler comes", Text: "limit /shop/* {\n\teach 10/1m\n}", Where: statusapi.Caddyfile}, {What: "Deny it", Text: "policy {\n\tdeny GPTBot\n}"}}},
			{Severity: statusapi.Remark, Message: "Handled: impostors of Googlebot get 403", Advice: "Nothing to do."},
		}},
		CrawlersTotal: 12, RulesTotal: 1, Origins: statusapi.OriginTally{Origins: 2},
		Busiest: []statusapi.Crawler{
			{Name: "GPTBot", Class: "crawler", Purposes: []string{"ai-training"}, Last: at(14, 13), Windows: windowsOf(c)},
		},
		Rules: []statusapi.Line{
			{Origin: "https://shop.test", Layer: "file", Number: 2, Group: "*", Tokens: []string{"*"}, Rule: "Disallow: /private/", LineCounts: statusapi.LineCounts{Hour: 1, Day: 3, Decided: statusapi.Decided[uint64]{Denied: 1, WouldDeny: 3}}},
		},
		Files: []statusapi.Origin{changed, {
			Origin: "https://open.test", State: "forbidden", OK: true,
			Message: "robots.txt of open.test can't be used: status 403; there is no earlier copy, so crawlers may fetch everything",
		}},
		Recent: []statusapi.Refusal{
			{Time: at(14, 10), Host: "shop.test", Path: "/private/x", Client: "2001:db8::/48", Decision: verdict.Decision{Crawler: "GPTBot", Verdict: verdict.Verdict{Action: "would_deny", Reason: "disallowed", Layer: "file", Line: 2}}},
		},
	}
}

// adminEndpoint returns the address of an admin endpoint that answers with a status.
func adminEndpoint(t *testing.T, status *statusapi.Status) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, query := any(status), r.URL.Query()
		if query.Has("site") && query.Get("site") != "shop.test" {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]string{"error": "robots: there is no such site"}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

func TestStatusTables(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer *statusapi.Status
		exit   int
	}{
		{"status-enforce", enforcing(), 2}, // a server with shed is busy
		{"status-monitor", monitoring(), 2},
	} {
		exit, stdout, stderr := commandline.Run("", "status", "--address", adminEndpoint(t, tt.answer))
		if exit != tt.exit || stderr != "" {
			t.Errorf("%s: exit status %d, want %d; standard error %q", tt.name, exit, tt.exit, stderr)
		}
		commandline.Compare(t, filepath.Join(commandline.Folder(t), tt.name+".golden"), stdout)
		if strings.ContainsRune(stdout, '\x1b') {
			t.Errorf("%s: control characters are printed: %q", tt.name, stdout)
		}
	}
}

func TestStatusOfUnknownSite(t *testing.T) {
	quiet := enforcing()
	quiet.Health.Problems = nil
	exit, _, stderr := commandline.Run("", "status", "--site", "shop.test", "--site", "elsewhere.test", "--address", adminEndpoint(t, quiet))
	if exit != 0 {
		t.Errorf("a known site: exit status %d, %s", exit, stderr)
	}
	exit, stdout, stderr := commandline.Run("", "status", "--site", "elsewhere.test", "--address", adminEndpoint(t, enforcing()))
	if exit != 1 || stdout != "" || !strings.Contains(stderr, "robots: there is no such site") {
		t.Errorf("exit status %d, %q, %q", exit, stdout, stderr)
	}
}

// --json has the grace periods too.
func TestStatusJSON(t *testing.T) {
	exit, stdout, stderr := commandline.Run("", "status", "--json", "--address", adminEndpoint(t, monitoring()))
	var report struct {
		Files []statusapi.Origin `json:"robots_txt"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || exit != 2 {
		t.Fatalf("%v, exit status %d, %s", err, exit, stderr)
	}
	if len(report.Files) != 2 || len(report.Files[0].Grace) != 4 {
		t.Errorf("%s", stdout)
	}
}

// The help explains each heading of the tables.
func TestStatusHelpExplainsColumns(t *testing.T) {
	cmd, _, err := commandline.Command().Find([]string{"status"})
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range []string{
		"MODE", "CRAWLERS", "PEOPLE", "PASSED", "DENIED", "THROTTLED", "WOULD DENY", "WOULD THROTTLE", "IMPOSTORS", "VERIFIED REFUSED", "CLASS", "PURPOSE", "VERIFIED",
		"LINE", "GROUP", "ACTION", "REFUSED", "CLIENT", "VERSION", "ENDS", "STATE",
	} {
		if !strings.Contains(cmd.Long, heading) {
			t.Errorf("the help does not explain %s", heading)
		}
	}
}
