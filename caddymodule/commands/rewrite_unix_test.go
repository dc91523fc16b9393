//go:build unix

package commands_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// --write keeps the owner, group and mode of a file. That includes the set-user-ID and
// set-group-ID bits, which a change of the owner clears.
func TestLintKeepsOwnerAndMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(file, []byte("USER-AGENT: *\nDisallow: /a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 { // only root may give files away
		uid, gid = 12345, 23456
		if err := os.Chown(file, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	mode := os.FileMode(0o640) | os.ModeSetgid
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := commandline.Run("", "lint", "--fix", "--write", file); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil || string(data) != "User-agent: *\nDisallow: /a\n" {
		t.Errorf("the file is now %q: %v", data, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || int(st.Gid) != gid || info.Mode() != mode {
		t.Errorf("owner %d, group %d, mode %v; want %d, %d, %v", st.Uid, st.Gid, info.Mode(), uid, gid, mode)
	}
}

// --write replaces regular files only.
func TestLintDoesNotReplaceDevices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "robots.txt")
	if err := syscall.Mkfifo(file, 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		status, _, _ := commandline.Run("", "lint", "--fix", "--write", file)
		done <- status
	}()
	if err := os.WriteFile(file, []byte("USER-AGENT: *\nDisallow: /a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status := <-done; status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	if info, err := os.Stat(file); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}
