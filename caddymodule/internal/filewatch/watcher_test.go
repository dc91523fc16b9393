package filewatch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatcher(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.txt")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "User-agent: *\n")
	changed := make(chan struct{}, 100)
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stop, err := w.Watch(path, func() { changed <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s was not noticed", what)
		}
		for len(changed) > 0 {
			<-changed
		}
	}
	write(path, "User-agent: *\nDisallow: /\n")
	wait("writing the file")
	write(path+".new", "")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	wait("replacing the file")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait("removing the file")
	if _, err := w.Watch(filepath.Join(path, "none", "robots.txt"), func() {}); err == nil {
		t.Error("a folder that is not there is watched without an error")
	}
	told := make(chan struct{}, 100)
	if _, err := w.Watch(filepath.Join(filepath.Dir(path), "other.txt"), func() { told <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	stop()
	write(path, "")
	<-told
	if len(changed) > 0 {
		t.Error("the function of a stopped watch was called")
	}
}
