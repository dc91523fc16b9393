package commands_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver" // the directive file_server

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

// Without --robots, each site of a configuration is judged by the robots.txt of its source, of its
// root folder, or of the address of its first host, and --host names one without a configuration. No
// host that only the log names is asked.
func TestAuditReadsRobots(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(robotsOf("User-agent: *\nDisallow: /private/\n", &asked))
	defer srv.Close()
	host := srv.Listener.Addr().String()
	name, port, _ := strings.Cut(host, ":")
	dir := t.TempDir()
	log, withoutHosts := filepath.Join(dir, "access.log"), filepath.Join(dir, "combined.log")
	rooted := filepath.Join(dir, "rooted")
	if err := os.Mkdir(rooted, 0o700); err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(rooted, "robots.txt"), "User-agent: *\nDisallow: /private/\n")
	line := lineOfGPTBot(host, "/private/")
	writeText(t, log, strings.Repeat(line, 20)+lineOfGPTBot("other.test", "/private/"))
	writeText(t, withoutHosts, strings.Repeat(strings.TrimPrefix(line, host+" "), 20))
	const other = "other.test {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\"\n\t}\n}\n"
	const block = " {\n\trobots\n}\n"
	for _, tt := range []struct {
		name, sites string // without sites, there is no configuration
		args        []string
		fetched     int
		denied      int64
		stderr      string
	}{
		{"without a configuration", "", []string{log}, 0, 0, ""},
		{"--host without a configuration", "", []string{"--host", host, log}, 1, 20, "The robots.txt of * (any host): http://" + host + "/robots.txt\n"},
		{"a host of a configuration", other + "http://" + host + block, []string{log}, 1, 21, "The robots.txt of " + name + ": http://" + host + "/robots.txt\n"},
		{"several hosts of a site", "http://" + host + ", http://other.test:" + port + block, []string{log}, 1, 21, ": http://" + host + "/robots.txt\n"},
		{"a root folder", "http://" + host + " {\n\trobots\n\troot " + rooted + "\n\tfile_server\n}\n", []string{log}, 0, 20, ": " + rooted + "/robots.txt\n"},
		{"the configuration", other, []string{log}, 0, 1, "The robots.txt of other.test: the configuration\n"},
		{"a URL", "other.test {\n\trobots {\n\t\tsource url http://" + host + "/robots.txt\n\t}\n}\n", []string{log}, 1, 1, ": http://" + host + "/robots.txt\n"},
		{"a site for any host", ":8080" + block, []string{log}, 0, 0, "Warning: The robots.txt of * (any host) is not known: the site names no host\n"},
		{"a site for any host, with --host", ":8080" + block, []string{"--host", host, log}, 1, 20, ": http://" + host + "/robots.txt\n"},
		{"the settings of the site", "http://" + host + " {\n\trobots {\n\t\texempt GPTBot\n\t}\n}\n", []string{log}, 1, 0, ": http://" + host + "/robots.txt\n"},
		{"--site", other + "http://" + host + block, []string{"--site", name, log}, 1, 20, ": http://" + host + "/robots.txt\n"},
		{"--site, a log without hosts", other + "http://" + host + block, []string{"--site", name, withoutHosts}, 1, 20, ": http://" + host + "/robots.txt\n"},
		{"--robots", other + "http://" + host + block, []string{"--robots", "none", log}, 0, 0, ""},
		{"no answer", "http://127.0.0.2:1" + block, []string{log}, 0, 0, "Warning: The robots.txt of 127.0.0.2 is not known: Get \"http://127.0.0.2:1/"},
	} {
		asked = nil
		if tt.sites != "" {
			config := filepath.Join(dir, "Caddyfile")
			writeText(t, config, tt.sites)
			tt.args = append([]string{"--config", config}, tt.args...)
		}
		r, stderr := audited(t, "", tt.args...)
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
