//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Write keeps the owner of a file. Only root can give a file to another user; other
// users get an error instead.
func TestWriteKeepsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 12345, 12346); err != nil {
			t.Fatal(err)
		}
	}
	owner := func() (uid, gid uint32) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		stat := info.Sys().(*syscall.Stat_t)
		return stat.Uid, stat.Gid
	}
	wantUID, wantGID := owner()
	if err := Write(path, 0o600, text("new")); err != nil {
		t.Fatal(err)
	}
	check(t, path, "new", 1)
	if uid, gid := owner(); uid != wantUID || gid != wantGID {
		t.Errorf("owner %d:%d, want %d:%d", uid, gid, wantUID, wantGID)
	}
}
