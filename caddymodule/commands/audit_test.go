package commands_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// audited runs the command with --json and returns its report.
func audited(t *testing.T, stdin string, args ...string) (*audit.Report, string) {
	t.Helper()
	status, stdout, stderr := commandline.Run(stdin, append([]string{"audit", "--json"}, args...)...)
	if status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	r := new(audit.Report)
	if err := json.Unmarshal([]byte(stdout), r); err != nil {
		t.Fatal(err)
	}
	return r, stderr
}

// lineOfGPTBot is a request of GPTBot to a host.
func lineOfGPTBot(host, target string) string {
	return host + ` 192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET ` + target + ` HTTP/1.1" 200 5 "-" "GPTBot/1.2"` + "\n"
}

// Without --robots, the robots.txt of the hosts in the log is fetched. Rare hosts are
// left out, because clients can make up hosts.
func TestAuditFetches(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(robotsOf("User-agent: *\nDisallow: /private/\n", &asked))
	defer srv.Close()
	host := srv.Listener.Addr().String()
	log := filepath.Join(t.TempDir(), "access.log")
	text := strings.Repeat(lineOfGPTBot(host, "/private/"), 20) + lineOfGPTBot("made-up.test", "/private/")
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, stderr := audited(t, "", log)
	if r.WouldHave.Denied != 20 || len(r.Sources) != 1 || r.Sources[0].Name != "http://"+host+"/robots.txt" || fmt.Sprint(asked) != "[/robots.txt]" {
		t.Errorf("%+v %+v %v", r.WouldHave, r.Sources, asked)
	}
	if !strings.Contains(stderr, "The robots.txt of "+host+": http://"+host+"/robots.txt\n") || strings.Contains(stderr, "made-up.test") {
		t.Errorf("standard error: %q", stderr)
	}
	srv.Close()
	r, stderr = audited(t, "", log)
	if r.WouldHave.Known || r.WouldHave.Judged != 0 || !strings.Contains(stderr, "Warning: The robots.txt of "+host+" is not known: ") {
		t.Errorf("without an answer: %+v, standard error %q", r.WouldHave, stderr)
	}
	// Nothing is fetched where the operator says so, nor for what is piped in.
	asked = nil
	if _, stderr := audited(t, "", "--robots", "none", log); stderr != "" {
		t.Errorf("standard error: %q", stderr)
	}
	if _, stderr := audited(t, text, "-"); stderr != "" || asked != nil {
		t.Errorf("standard error: %q", stderr)
	}
}

// With a configuration, the file of a site with the source site is fetched as
// well, and requests are judged by the site's settings.
func TestAuditFetchesForConfiguration(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(robotsOf("User-agent: *\nDisallow: /private/\n", &asked))
	defer srv.Close()
	host := srv.Listener.Addr().String()
	name, _, _ := strings.Cut(host, ":")
	dir := t.TempDir()
	log, withoutHosts, robots := filepath.Join(dir, "access.log"), filepath.Join(dir, "combined.log"), filepath.Join(dir, "robots.txt")
	writeText(t, robots, "User-agent: *\nDisallow: /private/\n")
	line := lineOfGPTBot(host, "/private/")
	writeText(t, log, strings.Repeat(line, 20)+lineOfGPTBot("made-up.test", "/private/"))
	writeText(t, withoutHosts, strings.Repeat(strings.TrimPrefix(line, host+" "), 20))
	const other = "other.test {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t}\n}\n"
	for _, tt := range []struct {
		name, sites string
		args        []string
		fetched     int
		denied      int64
		stderr      string
	}{
		{"a site that names the host", other + "http://" + host + " {\n\trobots\n}\n", []string{log}, 1, 20, ": http://" + host + "/robots.txt\n"},
		{"a site for any host", other + ":8080 {\n\trobots\n}\n", []string{log}, 1, 20, ": http://" + host + "/robots.txt\n"},
		{"the settings of the site", other + "http://" + host + " {\n\trobots {\n\t\texempt GPTBot\n\t}\n}\n", []string{log}, 1, 0, ": http://" + host + "/robots.txt\n"},
		{"--site", other + "http://" + host + " {\n\trobots\n}\n", []string{"--site", name, log}, 1, 20, ": http://" + host + "/robots.txt\n"},
		{"--site, a log without hosts", other + "http://" + host + " {\n\trobots\n}\n", []string{"--site", name, "--robots", "ROBOTS", withoutHosts}, 0, 20, ""},
		{"--site that is not in the log", "http://" + host + " {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t}\n}\n" + other, []string{"--site", "other.test", log}, 0, 0, "The robots.txt of other.test: the configuration\n"},
		{"--site of any host", other + "http://" + host + " {\n\trobots\n}\n:8080 {\n\trobots\n}\n", []string{"--site", "*", "--robots", "ROBOTS", log}, 0, 1, ""},
		{"--robots", other + ":8080 {\n\trobots\n}\n", []string{"--robots", "none", log}, 0, 0, ""},
		{"a site that is not in the log", other + "http://else.localhost:1 {\n\trobots\n}\n", []string{log}, 0, 0, "Warning: The robots.txt of else.localhost is not known: "},
		{"a log without hosts", other + "http://" + host + " {\n\trobots\n}\n", []string{withoutHosts}, 0, 0, "Pass the file or its URL with --robots, and the site with --site."},
	} {
		asked = nil
		config := filepath.Join(dir, "Caddyfile")
		writeText(t, config, tt.sites)
		if i := slices.Index(tt.args, "ROBOTS"); i >= 0 {
			tt.args[i] = robots
		}
		r, stderr := audited(t, "", append([]string{"--config", config}, tt.args...)...)
		if len(asked) != tt.fetched || r.WouldHave.Denied != tt.denied || !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
			t.Errorf("%s: asked %v, denied %d of %d judged, standard error %q", tt.name, asked, r.WouldHave.Denied, r.WouldHave.Judged, stderr)
		}
	}
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asking guards the records of robotsOf.
var asking sync.Mutex

// robotsOf returns a handler that serves a robots.txt and records the paths of requests.
func robotsOf(text string, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asking.Lock()
		defer asking.Unlock()
		*asked = append(*asked, r.URL.Path)
		fmt.Fprint(w, text)
	}
}
