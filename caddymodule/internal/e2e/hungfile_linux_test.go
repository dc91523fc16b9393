package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// hang makes each open of a file wait, as on a file system that does not answer,
// until end is called.
func hang(t *testing.T, path string) (end func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	const setLease = 1024 // F_SETLEASE
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setLease, syscall.F_WRLCK); errno != 0 {
		f.Close()
		t.Skipf("the file system of %s has no leases: %v", path, errno)
	}
	return func() { f.Close() }
}

// A source file on a file system that does not answer keeps Caddy neither from
// starting nor from a reload.
func TestSourceFileThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, file, "User-agent: *\nDisallow: /private/\n")
	config := "http://shop.test:$PORT, http://www.shop.test:$PORT {\n\trobots {\n\t\tsource file " + file + "\n\t}\n\trespond page\n}\n" +
		"http://other.test:$PORT {\n\trobots {\n\t\tsource file " + file + "\n\t\ton_error deny\n\t}\n\trespond page\n}\n"
	end := hang(t, file)
	s := start(t, config)
	s.wants(200, s.at("shop.test", chrome, "/private/x"), "a person")
	s.wants(200, s.at("shop.test", gptbot, "/private/x"), "a crawler while nothing was read")
	s.wants(503, s.at("other.test", gptbot, "/x"), "a crawler with on_error deny")
	s.wants(200, s.at("other.test", chrome, "/x"), "a person with on_error deny")
	health := adminValue[statusapi.Health](s, "health")
	if len(health.Problems) == 0 || !strings.Contains(health.Problems[0].Advice, "has not ended") && !strings.Contains(health.Problems[0].Advice, "takes too long") {
		t.Errorf("%+v", health.Problems)
	}
	end()
	s.eventually("the file is read", func() bool {
		return s.at("shop.test", gptbot, "/private/x").status == 403 && s.at("other.test", gptbot, "/x").status == 200
	})

	end = hang(t, file)
	if err := s.reload("# a line that moves the others\n" + strings.Replace(config, "page", "text", 1)); err != nil {
		t.Fatal(err)
	}
	s.wants(403, s.at("shop.test", gptbot, "/private/x"), "after a reload the last good copy is in force")
	s.wants(200, s.at("shop.test", chrome, "/private/x"), "a person after a reload")
	end()
	if err := s.reload(strings.ReplaceAll(config, file, file+".none")); err == nil {
		t.Error("a file that does not exist is no error")
	}
}

// A file of persist on a file system that does not answer, and a named pipe, keep
// Caddy neither from starting nor from stopping, and are not replaced.
func TestPersistFileThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "robots.json")
	writeFile(t, file, `{"version": 1, "sites": []}`)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	defer hang(t, file)()
	for path, want := range map[string]string{file: "does not answer", pipe: "not a regular file"} {
		s := start(t, "{\n\trobots {\n\t\tpersist "+path+"\n\t}\n}\n"+siteWith(""))
		s.wants(403, s.get(gptbot, "/private/x"), "a crawler")
		s.eventually("the problem of the file", func() bool {
			health := adminValue[statusapi.Health](s, "health")
			return len(health.Problems) == 1 && health.Problems[0].Kind == "persist" && strings.Contains(health.Problems[0].Message, want)
		})
		began := time.Now()
		if s.end(); time.Since(began) > 20*time.Second {
			t.Errorf("%s: the server ended after %v", want, time.Since(began))
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe: %v, %v", info, err)
	}
}
