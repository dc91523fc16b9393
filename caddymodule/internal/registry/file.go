package registry

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// debounce is the time between a change of a registry file and the read. An
// editor may empty a file and then fill it again.
const debounce = 100 * time.Millisecond

// Adder adds the crawlers of a site's configuration to a registry.
type Adder func(*crawler.Registry) (*crawler.Registry, error)

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

// File is a file of crawlers in the format of crawler.ReadRows.
type File struct {
	Path string // "": no file
	Add  Adder

	data []byte // of the last read
	err  error  // of the last read
}

// Read reads the file. It returns the built-in registry with the rows of the file
// and the crawlers of the configuration.
func (f *File) Read() (*crawler.Registry, error) {
	if f.data, f.err = f.octets(); f.err != nil {
		return nil, f.err
	}
	return f.registry()
}

// reread is like Read, and returns a nil registry if neither the file nor the error
// has changed since the last read.
func (f *File) reread() (*crawler.Registry, error) {
	data, err := f.octets()
	if err != nil {
		known := f.err != nil && f.err.Error() == err.Error()
		if f.err = err; known {
			return nil, nil
		}
		return nil, err
	}
	if f.err = nil; bytes.Equal(data, f.data) {
		return nil, nil
	}
	f.data = data
	return f.registry()
}

func (f *File) octets() ([]byte, error) {
	if f.Path == "" {
		return nil, nil
	}
	return localfile.Read(f.Path)
}

func (f *File) registry() (*crawler.Registry, error) {
	registry := crawler.Builtin()
	rows, err := crawler.ReadRows(f.data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if len(rows) > 0 {
		if registry, err = registry.With(rows...); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return f.Add(registry)
}

// Watch reads the file again whenever it changes, and calls changed with the new
// registry or with what is wrong with the file, until stop is called. watch must
// call a function when the file may have changed.
func (f *File) Watch(watch func(path string, changed func()) (stop func()), changed func(*crawler.Registry, error)) (stop func()) {
	var reading sync.Mutex
	stopped := false
	timer := background.After(debounce, "registry: a read of the file", func() {
		reading.Lock()
		defer reading.Unlock()
		if stopped {
			return
		}
		if registry, err := f.reread(); registry != nil || err != nil {
			changed(registry, err)
		}
	})
	unwatch := watch(f.Path, func() { timer.Reset(debounce) })
	timer.Reset(debounce) // the file may have changed since it was read
	return func() {
		unwatch()
		timer.Stop()
		reading.Lock()
		defer reading.Unlock()
		stopped = true
	}
}
