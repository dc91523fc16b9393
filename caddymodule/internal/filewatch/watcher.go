// Package filewatch calls functions when files may have changed. It does not read
// them.
//
//	watcher := filewatch.New()
//	stop, err := watcher.Watch(path, reread)
package filewatch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher calls functions when files may have changed. All files of a Watcher
// share one instance of the system's notification service; Linux allows a user
// only 128. A Watcher is safe for concurrent use. The caller must close it.
type Watcher struct {
	fs   *fsnotify.Watcher // nil before the first Watch; then it stays the same
	stat func(name string) (os.FileInfo, error)
	done chan struct{} // of fs

	calling sync.Mutex // held while functions are called
	mu      sync.Mutex
	late    bool // a file system did not answer in time
	folders map[string]*folder
}

// folder is a watched folder.
type folder struct {
	info    os.FileInfo // of the folder that the system watches; nil if that one is gone, or did not answer
	watches map[*watch]bool
}

// watch is one call of Watch.
type watch struct{ changed func() }

// recheckInterval is how often a Watcher looks whether a folder is still the same
// one.
const recheckInterval = 2 * time.Second

// New returns a Watcher that watches nothing yet. It uses nothing of the system before
// the first Watch.
func New() *Watcher {
	return &Watcher{stat: os.Stat, folders: make(map[string]*folder)}
}

// open begins to listen to the system, once. The caller holds mu.
func (w *Watcher) open() (err error) {
	if w.fs != nil {
		return nil
	}
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		w.fs = nil
		return err
	}
	w.done = make(chan struct{})
	go w.run()
	go w.recheckRegularly()
	return nil
}

// Watch calls changed whenever the file at path may have changed, until stop is
// called. It watches the folder of the file, because editors and deployments
// replace files by renaming, and Kubernetes replaces a symbolic link beside
// them. So changed is also called for changes of other files in the folder, and,
// within two seconds, when another folder has taken the folder's place. It is
// called from other goroutines, one call at a time, and must not block or call
// stop. It is not called after stop has returned.
func (w *Watcher) Watch(path string, changed func()) (stop func(), err error) {
	name := filepath.Clean(filepath.Dir(path))
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.open(); err != nil {
		return nil, fmt.Errorf("watching %s: %w", path, err)
	}
	f := w.folders[name]
	if f == nil {
		info, err := w.statInTime(name)
		if err == nil && info != nil {
			err = w.fs.Add(name)
		}
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", path, err)
		}
		f = &folder{info, make(map[*watch]bool)}
		w.folders[name] = f
	}
	this := &watch{changed}
	f.watches[this] = true
	return func() { w.forget(name, this) }, nil
}

// How long Watch waits for a file system that does not answer, and for the others
// after the first one.
const (
	statLimit = time.Second
	lateLimit = 20 * time.Millisecond
)

// statInTime returns nil if a folder's file system does not answer in time: then
// recheck watches the folder when it does. The caller holds mu.
func (w *Watcher) statInTime(name string) (os.FileInfo, error) {
	type result struct {
		info os.FileInfo
		err  error
	}
	answer := make(chan result, 1)
	go func() {
		info, err := w.stat(name)
		answer <- result{info, err}
	}()
	limit := statLimit
	if w.late {
		limit = lateLimit
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-answer:
		return r.info, r.err
	case <-timer.C:
		w.late = true
		return nil, nil
	}
}

// forget ends a watch.
func (w *Watcher) forget(folder string, this *watch) {
	w.calling.Lock()
	defer w.calling.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.folders[folder]
	if f == nil {
		return // the Watcher is closed
	}
	if delete(f.watches, this); len(f.watches) == 0 {
		delete(w.folders, folder)
		_ = w.fs.Remove(folder) // it may be gone itself
	}
}

// recheckRegularly calls recheck until the Watcher is closed.
func (w *Watcher) recheckRegularly() {
	ticker := time.NewTicker(recheckInterval)
	defer ticker.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-ticker.C:
			w.recheck()
		}
	}
}

// recheck watches the folders that were removed or renamed and made again, and
// those that a symbolic link has replaced. The system goes on watching the old
// ones, if any.
func (w *Watcher) recheck() {
	w.mu.Lock()
	names := slices.Collect(maps.Keys(w.folders))
	w.mu.Unlock()
	for _, name := range names {
		info, err := w.stat(name) // without mu: it may take long
		if err == nil && w.replace(name, info) {
			w.notify(name)
		}
	}
}

// replace watches a folder if it is another one than before, and reports whether
// it does.
func (w *Watcher) replace(name string, info os.FileInfo) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.folders[name]
	if f == nil || f.info != nil && os.SameFile(info, f.info) {
		return false
	}
	_ = w.fs.Remove(name)
	if w.fs.Add(name) != nil {
		return false
	}
	f.info = info
	return true
}

// lose notes that a folder is gone, if name is one. Another folder with its name
// can be the same for os.SameFile.
func (w *Watcher) lose(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.folders[name]; f != nil {
		f.info = nil
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
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				w.lose(e.Name)
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
	w.calling.Lock()
	defer w.calling.Unlock()
	var calls []func()
	w.mu.Lock()
	for name, f := range w.folders {
		if len(folders) > 0 && !slices.Contains(folders, name) {
			continue
		}
		for this := range f.watches {
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
	w.mu.Lock()
	opened := w.fs != nil
	w.mu.Unlock()
	if !opened {
		return nil
	}
	err := w.fs.Close()
	<-w.done
	w.calling.Lock()
	defer w.calling.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.folders)
	return err
}
