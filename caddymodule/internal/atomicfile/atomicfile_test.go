package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// text returns a function for Write that writes s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// check fails unless a file has this content, and its folder this number of
// entries.
func check(t *testing.T, path, want string, entries int) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s has the content %q, error %v, want %q", path, got, err, want)
	}
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(list) != entries {
		t.Errorf("the folder has %d entries, error %v, want %d", len(list), err, entries)
	}
}

// permissions returns the permissions of a file.
func permissions(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestWriteCreatesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, 0o600, text("new")); err != nil {
		t.Fatal(err)
	}
	check(t, path, "new", 1)
	if got := permissions(t, path); runtime.GOOS != "windows" && got != 0o600 {
		t.Errorf("permissions %o", got)
	}
}

func TestWriteKeepsPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("a longer old content"), 0o640); err != nil {
		t.Fatal(err)
	}
	before := permissions(t, path)
	if err := Write(path, 0o600, text("new")); err != nil {
		t.Fatal(err)
	}
	check(t, path, "new", 1)
	if got := permissions(t, path); got != before {
		t.Errorf("permissions %o, want %o", got, before)
	}
}

func TestWriteFollowsSymbolicLink(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Logf("this system has no symbolic links: %v", err)
		return
	}
	if err := Write(link, 0o600, text("new")); err != nil {
		t.Fatal(err)
	}
	check(t, path, "new", 2)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

// If an error occurs, the file keeps its content, and no temporary file is left.
func TestWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("disk full")
	err := Write(path, 0o600, func(w io.Writer) error {
		if err := text("half of the n")(w); err != nil {
			return err
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
	check(t, path, "old", 1)
	if err := Write(filepath.Join(path, "file"), 0o600, text("new")); err == nil {
		t.Error("a file was written below a file")
	}
	if err := Write(filepath.Join(t.TempDir(), "missing", "file"), 0o600, text("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if err := Write(t.TempDir(), 0o600, text("new")); err == nil {
		t.Error("a folder was replaced by a file")
	}
}
