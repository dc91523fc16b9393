package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/audit"
)

// audited runs the command with --json and returns its report.
func audited(t *testing.T, stdin string, args ...string) (*audit.Report, string) {
	t.Helper()
	status, stdout, stderr := runCommand(stdin, append([]string{"audit", "--json"}, args...)...)
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

// Without --robots, what the hosts of the log serve is fetched; hosts that are
// rare in it are left alone, for clients can make up any.
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
	if !strings.Contains(stderr, "Fetching http://"+host+"/robots.txt") || strings.Contains(stderr, "made-up.test") {
		t.Errorf("standard error: %q", stderr)
	}
	srv.Close()
	r, _ = audited(t, "", log)
	if r.WouldHave.Known || r.WouldHave.Judged != 0 {
		t.Errorf("without an answer: %+v", r.WouldHave)
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

// robotsOf serves a robots.txt and notes what is asked for.
func robotsOf(text string, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		fmt.Fprint(w, text)
	}
}
