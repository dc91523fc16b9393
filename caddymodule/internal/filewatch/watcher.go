// Package filewatch calls functions when files may have changed. It does not read
// them.
//
//	watcher, err := filewatch.New()
//	...
//	stop, err := watcher.Watch(path, reread)
package filewatch

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher calls functions when files may have changed. All files of a Watcher
// share one instance of the system's notification service; Linux allows a user
// only 128. A Watcher is safe for concurrent use. The caller must close it.
type Watcher struct {
	fs   *fsnotify.Watcher
	done chan struct{}

	mu      sync.Mutex
	folders map[string]map[*watch]bool
}

// watch is one call of Watch.
type watch struct{ changed func() }

// New returns a Watcher that watches nothing yet.
func New() (*Watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching files: %w", err)
	}
	w := &Watcher{fs: fs, done: make(chan struct{}), folders: make(map[string]map[*watch]bool)}
	go w.run()
	return w, nil
}

// Watch calls changed whenever the file at path may have changed, until stop is
// called. It watches the folder of the file, because editors and deployments
// replace files by renaming, and Kubernetes replaces a symbolic link beside
// them. So changed is also called for changes of other files in the folder. It
// is called from another goroutine, one call at a time, and must not block.
func (w *Watcher) Watch(path string, changed func()) (stop func(), err error) {
	folder := filepath.Clean(filepath.Dir(path))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders[folder] == nil {
		if err := w.fs.Add(folder); err != nil {
			return nil, fmt.Errorf("watching %s: %w", path, err)
		}
		w.folders[folder] = make(map[*watch]bool)
	}
	this := &watch{changed}
	w.folders[folder][this] = true
	return func() { w.forget(folder, this) }, nil
}

// forget ends a watch.
func (w *Watcher) forget(folder string, this *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.folders[folder], this)
	if len(w.folders[folder]) == 0 {
		delete(w.folders, folder)
		_ = w.fs.Remove(folder) // it may be gone itself
	}
}

// run handles events until the Watcher is closed.
func (w *Watcher) run() {
	defer close(w.done)
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if e.Op != fsnotify.Chmod {
				w.notify(filepath.Dir(e.Name), e.Name)
			}
		case _, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			w.notify() // events were lost, so any file may have changed
		}
	}
}

// notify calls the functions of all watches of the folders, or of all watches
// if there is no folder.
func (w *Watcher) notify(folders ...string) {
	var calls []func()
	w.mu.Lock()
	for folder, watches := range w.folders {
		if len(folders) > 0 && folder != folders[0] && folder != folders[1] {
			continue
		}
		for this := range watches {
			calls = append(calls, this.changed)
		}
	}
	w.mu.Unlock()
	for _, changed := range calls {
		changed()
	}
}

// Close ends all watches. After it returns, no function is called.
func (w *Watcher) Close() error {
	err := w.fs.Close()
	<-w.done
	return err
}
