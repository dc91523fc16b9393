// Package filewatch calls functions when files have changed. It does not read
// them.
//
//	watcher := filewatch.New()
//	stop := watcher.Watch(path, reread)
//
// It looks at each file twice a second. Notifications of the system would miss
// changes: of files on a network, of a file that is mounted alone into a
// container, and of folders and links above a file.
package filewatch

import (
	"github.com/caddy-robots/caddy-robots/internal/background"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"
)

// interval is the time between two looks at a file. A look takes about 2 µs.
const interval = 500 * time.Millisecond

// Watcher calls functions when files have changed. It is safe for concurrent use.
// The caller must close it.
type Watcher struct {
	stat func(name string) (os.FileInfo, error)

	calling sync.Mutex // held while functions are called
	mu      sync.Mutex
	late    bool // a file system did not answer in time
	files   map[string]*file
}

// file is a watched file. Each has a timer of its own, because its file system may
// not answer.
type file struct {
	path    string
	next    *time.Timer // for the next look; nil until the first has ended
	looked  bool
	info    os.FileInfo // at the last look; nil if there was no file
	watches map[*func()]bool
}

// New returns a Watcher that watches nothing yet.
func New() *Watcher { return &Watcher{stat: os.Stat, files: make(map[string]*file)} }

// How long Watch waits for a file system that does not answer, and for the others
// after the first one.
const (
	statLimit = time.Second
	lateLimit = 20 * time.Millisecond
)

// Watch calls changed within half a second after the file at path has changed, was
// replaced or removed, or appeared, until stop is called. What the caller reads
// after Watch returns is at least as new as the file that changes are found by. Watch
// calls changed from other goroutines, one call at a time; changed must not block
// or call stop. It is not called after stop has returned.
func (w *Watcher) Watch(path string, changed func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[path]
	if f == nil {
		f = &file{path: path, watches: make(map[*func()]bool)}
		w.files[path] = f
		w.lookFirst(f)
	}
	f.watches[&changed] = true
	return func() {
		w.calling.Lock()
		defer w.calling.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(f.watches, &changed); len(f.watches) == 0 && w.files[path] == f {
			w.forget(f)
		}
	}
}

// lookAt names the work in reports.
const lookAt = "files: a look"

// lookFirst looks at a file, and waits some time for its file system. The caller
// holds mu.
func (w *Watcher) lookFirst(f *file) {
	answer := make(chan os.FileInfo, 1)
	limit := statLimit
	if w.late {
		limit = lateLimit
	}
	background.Go(lookAt, func() {
		info, _ := w.stat(f.path)
		answer <- info
	})
	select {
	case f.info = <-answer:
		f.looked = true
		f.next = background.After(interval, lookAt, func() { w.look(f) })
	case <-time.After(limit):
		w.late = true
		background.Go(lookAt, func() {
			<-answer
			w.look(f) // calls the functions: the file may have changed meanwhile
		})
	}
}

// look calls the functions of a file if it has changed, and plans the next look.
func (w *Watcher) look(f *file) {
	info, _ := w.stat(f.path) // without mu: it may take long
	w.mu.Lock()
	same := f.looked && same(info, f.info)
	f.info, f.looked = info, true
	if w.files[f.path] == f {
		f.next = background.After(interval, lookAt, func() { w.look(f) })
	}
	w.mu.Unlock()
	if !same {
		w.call(f)
	}
}

// same reports whether two looks saw the same file with the same content.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b) &&
		changeTime(a) == changeTime(b)
}

// changeTime returns the time of the last change of a file's inode, nil if the system
// has none. Who writes a file in place and sets its time back (cp -p, rsync --inplace -t)
// can't set this one. The field's name differs between Unix systems.
func changeTime(info os.FileInfo) any {
	stat := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if stat.Kind() != reflect.Struct {
		return nil
	}
	for _, name := range []string{"Ctim", "Ctimespec"} {
		if at := stat.FieldByName(name); at.IsValid() {
			return at.Interface()
		}
	}
	return nil
}

// call calls the functions of a file.
func (w *Watcher) call(f *file) {
	w.calling.Lock()
	defer w.calling.Unlock()
	w.mu.Lock()
	calls := slices.Collect(maps.Keys(f.watches))
	w.mu.Unlock()
	for _, changed := range calls {
		_ = background.Run("files: a change", *changed)
	}
}

// forget ends the looks at a file. The caller holds mu.
func (w *Watcher) forget(f *file) {
	delete(w.files, f.path)
	clear(f.watches)
	if f.next != nil {
		f.next.Stop()
	}
}

// Close ends all watches. After it returns, no function is called.
func (w *Watcher) Close() error {
	w.calling.Lock()
	defer w.calling.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		w.forget(f)
	}
	return nil
}
