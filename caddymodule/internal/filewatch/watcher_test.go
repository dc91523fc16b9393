package filewatch

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// write writes a file, and its folder if there is none.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Each way in which a file changes is told after one look, and once.
func TestChanges(t *testing.T) {
	for name, change := range map[string]func(root, path string) error{
		"written": func(_, path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"written with the same size and time": func(_, path string) error {
			before, err := os.Stat(path)
			for after := before; err == nil && changeTime(before) != nil && changeTime(after) == changeTime(before); {
				err = errors.Join(os.WriteFile(path, []byte("txet"), 0o600), os.Chtimes(path, time.Time{}, before.ModTime()))
				after, _ = os.Stat(path)
			}
			return err
		},
		"removed":  func(_, path string) error { return os.Remove(path) },
		"replaced": func(root, path string) error { return os.Rename(filepath.Join(root, "new", "robots.txt"), path) },
		"a link in its place": func(root, path string) error {
			return errors.Join(os.Remove(path), os.Symlink(filepath.Join(root, "new", "robots.txt"), path))
		},
		"its folder replaced": func(root, path string) error {
			return errors.Join(os.Rename(filepath.Dir(path), filepath.Join(root, "old")), os.Rename(filepath.Join(root, "new"), filepath.Dir(path)))
		},
		"a link to another folder": func(root, path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.Symlink(filepath.Join(root, "new"), filepath.Dir(path)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := t.TempDir()
				path := filepath.Join(root, "site", "current", "robots.txt")
				write(t, path, "text")
				write(t, filepath.Join(root, "new", "robots.txt"), "new one")
				w := New()
				defer w.Close()
				var calls, stopped atomic.Int32
				w.Watch(path, func() { calls.Add(1) })
				stop := w.Watch(path, func() { stopped.Add(1) })
				look(10)
				if calls.Load() != 0 {
					t.Error("an unchanged file has changed")
				}
				if err := change(root, path); err != nil {
					t.Fatal(err)
				}
				if look(1); calls.Load() != 1 || stopped.Load() != 1 {
					t.Errorf("%d and %d calls, want 1", calls.Load(), stopped.Load())
				}
				stop()
				if look(10); calls.Load() != 1 {
					t.Errorf("%d calls for one change", calls.Load())
				}
				write(t, path, "the next one")
				if look(1); calls.Load() != 2 || stopped.Load() != 1 {
					t.Errorf("%d calls, and %d after the end of a watch", calls.Load(), stopped.Load())
				}
			})
		})
	}
}

// A file that is not there yet is told when it appears.
func TestFileThatAppears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "folder", "robots.txt")
		w := New()
		var calls atomic.Int32
		w.Watch(path, func() { calls.Add(1) })
		look(3)
		write(t, path, "text")
		if look(1); calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
		w.Close()
		write(t, path, "other")
		if look(3); calls.Load() != 1 {
			t.Errorf("%d calls after Close", calls.Load())
		}
	})
}

// A file system that does not answer keeps nobody waiting for long, and keeps no
// other file from being watched. When it answers, the file may have changed.
func TestFileSystemThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung, path := filepath.Join(t.TempDir(), "robots.txt"), filepath.Join(t.TempDir(), "robots.txt")
		w := New()
		defer w.Close()
		answers := make(chan struct{})
		w.stat = func(name string) (os.FileInfo, error) {
			if name == hung {
				<-answers
			}
			return os.Stat(name)
		}
		var late, calls atomic.Int32
		w.Watch(hung, func() { late.Add(1) })
		w.Watch(path, func() { calls.Add(1) })
		write(t, path, "text")
		if look(1); calls.Load() != 1 || late.Load() != 0 {
			t.Errorf("%d and %d calls, want 1 and 0", calls.Load(), late.Load())
		}
		close(answers)
		if look(1); late.Load() != 1 {
			t.Errorf("%d calls when the file system answers", late.Load())
		}
		write(t, hung, "text")
		if look(1); late.Load() != 2 {
			t.Errorf("%d calls after a change", late.Load())
		}
	})
}

// look waits until each file was looked at n times.
func look(n int) {
	time.Sleep(time.Duration(n)*interval + interval/10)
	synctest.Wait()
}
