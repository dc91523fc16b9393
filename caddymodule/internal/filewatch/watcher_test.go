package filewatch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	w := New()
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

// A watch goes on in the folder that has taken the place of the watched one.
func TestFolderThatIsReplaced(t *testing.T) {
	root := t.TempDir()
	releases := func(name string) string { return filepath.Join(root, name) }
	release := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.Mkdir(releases(name), 0o700), os.WriteFile(filepath.Join(releases(name), "robots.txt"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, replace := range map[string]func(current string) error{
		"renamed and made again": func(current string) error {
			return errors.Join(os.Rename(current, current+".old"), os.Mkdir(current, 0o700))
		},
		"removed and made again": func(current string) error {
			return errors.Join(os.RemoveAll(current), os.Mkdir(current, 0o700))
		},
		"a folder above it renamed": func(current string) error {
			above := filepath.Dir(current)
			return errors.Join(os.Rename(above, above+".old"), os.MkdirAll(current, 0o700))
		},
		"a symbolic link to another folder": func(current string) error {
			return errors.Join(os.Remove(current), os.Symlink(releases("two"), current))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root = t.TempDir()
			release("one", "old")
			release("two", "new")
			current := filepath.Join(releases("site"), "current")
			if err := os.Mkdir(filepath.Dir(current), 0o700); err != nil {
				t.Fatal(err)
			}
			link := os.Symlink
			if !strings.Contains(name, "link") {
				link = os.Rename
			}
			if err := link(releases("one"), current); err != nil {
				t.Fatal(err)
			}
			w := New()
			defer w.Close()
			changed := make(chan struct{}, 100)
			path := filepath.Join(current, "robots.txt")
			if _, err := w.Watch(path, func() { changed <- struct{}{} }); err != nil {
				t.Fatal(err)
			}
			if err := replace(current); err != nil {
				t.Fatal(err)
			}
			wait := func(what string) {
				t.Helper()
				select {
				case <-changed:
				case <-time.After(time.Minute):
					t.Fatalf("%s was not noticed", what)
				}
			}
			same := func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				now, err := os.Stat(current)
				return err == nil && w.folders[current].info != nil && os.SameFile(now, w.folders[current].info)
			}
			for !same() {
				wait("the other folder")
			}
			for len(changed) > 0 {
				<-changed
			}
			if err := os.WriteFile(path, []byte("newer"), 0o600); err != nil {
				t.Fatal(err)
			}
			wait("a change in the other folder")
		})
	}
}

// A folder whose file system does not answer keeps nobody waiting, and is watched
// as soon as it does.
func TestFolderThatDoesNotAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.txt")
	w := New()
	defer w.Close()
	answers := make(chan struct{})
	w.stat = func(name string) (os.FileInfo, error) {
		<-answers
		return os.Stat(name)
	}
	changed := make(chan struct{}, 100)
	for range 2 {
		if _, err := w.Watch(path, func() { changed <- struct{}{} }); err != nil {
			t.Fatal(err)
		}
	}
	close(answers)
	<-changed // since the folder is watched, which may be later than a change
	for len(changed) > 0 {
		<-changed
	}
	if err := os.WriteFile(path, []byte("User-agent: *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-changed
}
