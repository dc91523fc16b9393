package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file that is written in place opens the site at no time, and is no accident. One
// that is renamed is in force without a request.
func TestSourceFileThatIsWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, file, disallow("/private/")+disallow("/old/"))
	s := start(t, "{\n\t"+recorded+"}\nhttp://shop.test:$PORT {\n\trobots {\n\t\tsource file "+file+"\n\t\tpublish\n\t\tpolicy {\n\t\t\tdeny ClaudeBot\n\t\t}\n\t}\n\trespond page\n}\n")
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
