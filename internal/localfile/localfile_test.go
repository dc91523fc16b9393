//go:build unix

package localfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	folder := t.TempDir()
	pipe, link, file := filepath.Join(folder, "pipe"), filepath.Join(folder, "link"), filepath.Join(folder, "file")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link), os.WriteFile(file, make([]byte, MaxSize), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link, folder, os.DevNull} {
		if _, err := Read(name); err == nil || err.Error() != name+" is not a regular file" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := Read(file); err != nil || !bytes.Equal(data, make([]byte, MaxSize)) {
		t.Errorf("%d octets, %v", len(data), err)
	}
	if err := os.WriteFile(file, make([]byte, MaxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(file); data != nil || err == nil || !strings.Contains(err.Error(), "is larger than 16 MiB") {
		t.Errorf("%d octets, %v", len(data), err)
	}
	if _, err := Read(file + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
