//go:build unix

package origins

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// Only regular files are read: opening a named pipe would wait for a writer.
func TestFilesThatAreNotRegular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "robots.txt")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := pipe + ".link"
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, t.TempDir(), os.DevNull} {
		if _, err := (File{path}).Fetch(t.Context(), fake.Home); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// While a read has not ended, as on a file system that does not answer, no other
// read of the same file begins, and each fetch ends with its context.
func TestReadThatDoesNotEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(path, []byte("User-agent: *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reading := make(chan struct{}, 1)
	reading <- struct{}{}
	fileReads.Store(path, reading)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := (File{path}).Fetch(ctx, fake.Home); err == nil || !strings.Contains(err.Error(), "an earlier read of "+path+" has not ended") {
			t.Errorf("%v", err)
		}
	}
	later := make(chan error)
	go func() {
		_, err := File{path}.Fetch(t.Context(), fake.Home)
		later <- err
	}()
	<-reading
	if err := <-later; err != nil {
		t.Errorf("after the read has ended: %v", err)
	}
	if len(reading) != 0 {
		t.Error("a read is under way")
	}
}

// A file of NUL octets is what a power failure leaves. It is no empty file.
func TestFileOfNULs(t *testing.T) {
	for text, want := range map[string]judge.Outcome{
		strings.Repeat("\x00", 4096): judge.Failed,
		"\x00":                       judge.Failed,
		"":                           judge.Loaded,
		"User-agent: *\nDisallow: /\n\x00\x00\x00": judge.Loaded,
	} {
		path := filepath.Join(t.TempDir(), "robots.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		resp, err := File{path}.Fetch(t.Context(), fake.Home)
		if got, err := resp.Content(err); got.Outcome != want || (err == nil) != (want == judge.Loaded) {
			t.Errorf("%d octets: %v, %v, want %v", len(text), got.Outcome, err, want)
		}
	}
}
