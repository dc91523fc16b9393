package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Accidents to the file of `source file`: the last good copy stays in force, the
// status says what is wrong, and the file is read again when its folder was
// renamed and made again.
func TestAccidentsToTheSourceFile(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "site")
	file := filepath.Join(folder, "robots.txt")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, "User-agent: *\nDisallow: /private/\n")
	config := "http://shop.test:$PORT {\n\trobots {\n\t\tsource file " + file + "\n\t}\n\trespond page\n}\n"
	s := start(t, config)
	private := func(what string) {
		t.Helper()
		s.wants(403, s.at("shop.test", gptbot, "/private/x"), what)
	}
	private("at first")
	if err := s.reload(strings.Replace(config, "page", "sheet", 1)); err != nil {
		t.Fatal(err)
	}
	private("after a reload")
	for outcome, want := range map[string]float64{"loaded": 1, "unchanged": 1} {
		if n := s.metric(fmt.Sprintf("caddy_robots_fetches_total{outcome=%q,source=%q}", outcome, "file")); n != want {
			t.Errorf("fetches with the outcome %s: %v, want %v", outcome, n, want)
		}
	}
	replace := func(what, kind, message string, make func(path string) error) {
		t.Helper()
		if err := errors.Join(make(file+".new"), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
		s.eventually(what+" is a problem", func() bool {
			s.at("shop.test", chrome, "/") // the file is read a second after the last read, with the next request
			origins := adminValue[statusapi.Origins](s, "origins").Origins
			health := adminValue[statusapi.Health](s, "health")
			return len(origins) == 1 && strings.Contains(origins[0].Error, message) && slices.ContainsFunc(health.Problems, func(p statusapi.Problem) bool { return p.Kind == kind })
		})
		private(what)
	}
	replace("a file of NULs", "rules_lost", "NUL octets", func(path string) error { return os.WriteFile(path, make([]byte, 4096), 0o600) })
	replace("a named pipe", "robots_txt", "not a regular file", func(path string) error { return syscall.Mkfifo(path, 0o600) })

	if err := errors.Join(os.Rename(folder, folder+".old"), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	private("without a file")
	writeFile(t, file, "User-agent: *\nDisallow: /other/\n")
	s.eventually("the file in the new folder is read", func() bool { return s.at("shop.test", gptbot, "/other/x").status == 403 })
	s.wants(200, s.at("shop.test", gptbot, "/private/x"), "the rule of the old file")
	writeFile(t, file, "User-agent: *\nDisallow: /third/\n")
	s.eventually("a change in the new folder is read", func() bool { return s.at("shop.test", gptbot, "/third/x").status == 403 })
}

// A file that is written in place opens the site at no time, and is no accident. One
// that is renamed is in force without a request.
func TestSourceFileThatIsWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, file, disallow("/private/")+disallow("/old/"))
	s := startRecorded(t, "{\n\t"+recorded+"}\nhttp://shop.test:$PORT {\n\trobots {\n\t\tsource file "+file+"\n\t\tpublish\n\t\tpolicy {\n\t\t\tdeny ClaudeBot\n\t\t}\n\t}\n\trespond page\n}\n")
	s.wants(403, s.at("shop.test", googlebot, "/private/x"), "a search engine before")
	for _, next := range []string{"/new/", "/newer/"} {
		cmd := exec.Command("sh", "-c", fmt.Sprintf("(sleep 0.2; printf 'User-agent: *\\nDisallow: /private/\\nDisallow: %s\\n') > %s", next, file))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("the new file is in force", func() bool {
			if s.at("shop.test", gptbot, "/private/x").status != 403 || !strings.Contains(s.at("shop.test", gptbot, "/robots.txt").body, "/private/") {
				t.Fatal("the file that is being written is in force")
			}
			return s.at("shop.test", gptbot, next+"x").status == 403
		})
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s.wants(403, s.at("shop.test", googlebot, "/private/x"), "a search engine after")
	if events := s.events(); len(events) != 1 {
		t.Errorf("events: %v", events)
	}

	writeFile(t, file+".new", "User-agent: *\nDisallow: /\n")
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.eventually("the event, without requests", func() bool { return len(s.events()) == 2 })
	t.Logf("after %v: %v", time.Since(began), s.events())
}
