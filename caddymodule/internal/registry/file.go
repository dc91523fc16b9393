package registry

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// debounce is the time between a change of a registry file and the read. An
// editor may empty a file and then fill it again.
const debounce = 100 * time.Millisecond

// Adder adds the crawlers of a site's configuration to a registry.
type Adder func(*crawler.Registry) (*crawler.Registry, error)

// Registry has the crawlers of one handler: of a File, or of a URL. It is used by one
// goroutine, but for Err.
type Registry interface {
	// Read returns the crawlers that are known now.
	Read() (*crawler.Registry, error)
	// Follow calls use with the crawlers whenever these have changed since Read, until stop is
	// called. If they can't be used, the previous ones stay in force, and it is logged.
	Follow(use func(*crawler.Registry) error) (stop func())
	// Err returns why the latest crawlers are not in use, and why the copy of a URL could not be
	// loaded from storage or stored; nil for none.
	Err() (err, storageErr error)
}

// Read reads the registry at a location once: a file, a URL, or "" for none.
func Read(location string, add Adder) (*crawler.Registry, error) {
	if !IsURL(location) {
		return (&File{Path: location, Add: add}).Read()
	}
	registry, err := readURL(location)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", location, err)
	}
	return add(registry)
}

// IsURL reports whether a location is a URL, not a file.
func IsURL(location string) bool { return strings.Contains(location, "://") }

// Log is where the reads of a registry are logged and counted.
type Log struct {
	*zap.Logger
	// Count is called with the outcome of each read: loaded, unchanged or failed.
	Count func(outcome string)
}

// failed logs an error of a read, and keeps it.
func (l *Log) failed(err error, kept *atomic.Pointer[error]) {
	kept.Store(&err)
	l.Error("the registry can't be used: the previous crawlers stay in force", zap.Error(err))
	l.Count("failed")
}

// File is a Registry of a file of crawlers in the format of crawler.ReadRows.
type File struct {
	Path string // "": no file
	Add  Adder
	Log  Log
	// Watch calls changed when the file may have changed.
	Watch func(path string, changed func()) (stop func())

	data []byte // of the last read
	err  error  // of the last read
	kept atomic.Pointer[error]
}

// Read implements Registry: the built-in registry with the rows of the file and the crawlers
// of the configuration.
func (f *File) Read() (*crawler.Registry, error) {
	if f.Path == "" {
		return f.Add(crawler.Builtin())
	}
	f.data, f.err = localfile.Read(f.Path)
	if f.err != nil {
		return nil, f.err
	}
	rows, err := crawler.ReadRows(f.data)
	registry := crawler.Builtin()
	if err == nil && len(rows) > 0 {
		registry, err = registry.With(rows...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return f.Add(registry)
}

// Err implements Registry.
func (f *File) Err() (err, storageErr error) { return value(&f.kept), nil }

// value returns an error that is kept, nil if there is none.
func value(kept *atomic.Pointer[error]) error {
	if err := kept.Load(); err != nil {
		return *err
	}
	return nil
}

// Follow implements Registry.
func (f *File) Follow(use func(*crawler.Registry) error) (stop func()) {
	if f.Path == "" {
		return func() {}
	}
	var reading sync.Mutex
	stopped := false
	timer := background.After(debounce, "registry: a read of the file", func() {
		reading.Lock()
		defer reading.Unlock()
		if !stopped {
			f.reread(use)
		}
	})
	unwatch := f.Watch(f.Path, func() { timer.Reset(debounce) })
	timer.Reset(debounce) // the file may have changed since it was read
	return func() {
		unwatch()
		timer.Stop()
		reading.Lock()
		defer reading.Unlock()
		stopped = true
	}
}

// reread reads the file again. It does nothing if neither the file nor the error has changed.
func (f *File) reread(use func(*crawler.Registry) error) {
	data, before := f.data, f.err
	registry, err := f.Read()
	if bytes.Equal(data, f.data) && fmt.Sprint(before) == fmt.Sprint(f.err) {
		return
	}
	if err == nil {
		err = use(registry)
	}
	if err != nil {
		f.Log.failed(err, &f.kept)
		return
	}
	f.kept.Store(nil)
	f.Log.Count("loaded")
	f.Log.Info("the registry file was read again", zap.String("file", f.Path), zap.Int("crawlers", registry.Len()))
}
