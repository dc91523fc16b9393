package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

const pageLine = `192.0.2.1 - - [07/Nov/2026:10:00:00 +0000] "GET /private/x?q=1 HTTP/1.1" 200 12 "-" "GPTBot/1.2"` + "\n"

// --html writes a page in addition to the text. It replaces an older page, but no other
// file.
func TestAuditHTML(t *testing.T) {
	dir := t.TempDir()
	in := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	log, robots := in("access.log", pageLine), in("robots.txt", "User-agent: GPTBot\nDisallow: /private/\n")
	page := in("report.html", "")
	for range 2 {
		status, stdout, stderr := commandline.Run("", "audit", "--robots", robots, "--html", page, log)
		if status != 0 || !strings.Contains(stdout, "1 of 1 request") {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"<!DOCTYPE html>\n", "Content-Security-Policy", "Disallow: /private/", "GPTBot 1</td>"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the page has no %q", want)
			}
		}
		if strings.Contains(string(text), "q=1") || !strings.HasSuffix(string(text), "</html>\n") {
			t.Errorf("the page is not masked, or not complete:\n%s", text)
		}
		in("report.html", "<!DOCTYPE html>\n"+strings.Repeat("an older and longer page\n", 10_000)) // for the second time
	}

	for name, test := range map[string]struct{ page, want string }{
		"a log":         {in("access.log.1", pageLine), "which is not a report"},
		"a short file":  {in("short", "x"), "which is not a report"},
		"a folder":      {dir, "is a folder"},
		"in no folder":  {filepath.Join(dir, "missing", "report.html"), "--html: there is no folder "},
		"after failure": {filepath.Join(dir, "fresh.html"), "missing.txt"},
	} {
		source := robots
		if name == "after failure" {
			source = filepath.Join(dir, "missing.txt")
		}
		status, stdout, stderr := commandline.Run("", "audit", "--robots", source, "--html", test.page, log)
		if status != 1 || !strings.Contains(stderr, test.want) || stdout != "" {
			t.Errorf("%s: status %d\n%s%s", name, status, stdout, stderr)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "access.log.1")); err != nil || string(text) != pageLine {
		t.Errorf("the log is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "fresh.html")); !os.IsNotExist(err) {
		t.Errorf("an audit that failed leaves a page: %v", err)
	}
}
