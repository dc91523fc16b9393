package caddymodule

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

const (
	// maxRegistryFile is the largest registry file that is read, in octets. With
	// the largest number of rows, that is 1.6 KB for each row.
	maxRegistryFile = 16 << 20
	// registryDebounce is the time between a change of a registry file and the
	// read. An editor may empty a file and then fill it again.
	registryDebounce = 100 * time.Millisecond
)

// registryFile is a file of crawlers in the format of crawler.ReadRows. The zero
// value stands for no file.
type registryFile struct {
	path string
	data []byte // of the last read
	err  error  // of the last read

	overrides []string // the facts about built-in crawlers that the rows change
}

// read reads the file. It returns the built-in registry with the rows of the file
// and the crawlers of the configuration.
func (f *registryFile) read(crawlers []Crawler) (*crawler.Registry, error) {
	if f.data, f.err = f.octets(); f.err != nil {
		return nil, f.err
	}
	return f.registry(crawlers)
}

// reread is like read, and returns a nil registry if neither the file nor the
// error has changed since the last read.
func (f *registryFile) reread(crawlers []Crawler) (*crawler.Registry, error) {
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
	return f.registry(crawlers)
}

func (f *registryFile) octets() ([]byte, error) {
	if f.path == "" {
		return nil, nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRegistryFile+1))
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	if len(data) > maxRegistryFile {
		return nil, fmt.Errorf("registry %s: larger than %d MiB", f.path, maxRegistryFile>>20)
	}
	return data, nil
}

func (f *registryFile) registry(crawlers []Crawler) (*crawler.Registry, error) {
	registry := crawler.Builtin()
	rows, err := crawler.ReadRows(f.data)
	if err != nil {
		return nil, fmt.Errorf("registry %s: %w", f.path, err)
	}
	if f.overrides = registry.Overrides(rows); len(rows) > 0 {
		if registry, err = registry.With(rows...); err != nil {
			return nil, fmt.Errorf("registry %s: %w", f.path, err)
		}
	}
	return withCrawlers(registry, crawlers)
}

// registryPath returns the path or the URL of the registry, "" for none.
func (h *Handler) registryPath() string {
	return caddy.NewReplacer().ReplaceAll(h.Registry, "")
}

// watchRegistry updates the crawlers of the handler when its registry file
// changes. A broken file changes nothing.
func (h *Handler) watchRegistry(ctx context.Context, file *registryFile) {
	watching, stop := context.WithCancel(ctx)
	changes := make(chan struct{}, 1)
	notify := func() {
		select {
		case changes <- struct{}{}:
		default: // a notification is waiting already
		}
	}
	unwatch := h.app.watch(file.path, notify)
	notify() // the file may have changed since it was read
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for waitForChange(watching, changes) {
			h.rereadRegistry(file)
		}
	}()
	h.cleanup = append(h.cleanup, func() error { unwatch(); stop(); <-ended; return nil })
}

// waitForChange waits for a change, and then for registryDebounce. It returns
// false when ctx ends.
func waitForChange(ctx context.Context, changes <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-changes:
	}
	t := time.NewTimer(registryDebounce)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	}
	select {
	case <-changes: // part of the same change
	default:
	}
	return true
}

// rereadRegistry applies a changed registry file.
func (h *Handler) rereadRegistry(file *registryFile) {
	registry, err := file.reread(h.Crawlers)
	if registry == nil && err == nil {
		return
	}
	if err == nil {
		err = h.restart(registry)
	}
	if err != nil {
		registryReads.WithLabelValues("failed").Inc()
		h.log.Error("the registry file can't be used: the previous crawlers stay in force", zap.Error(err))
		return
	}
	registryReads.WithLabelValues("loaded").Inc()
	h.logOverrides(file.overrides)
	h.log.Info("the registry file was read again", zap.String("file", file.path), zap.Int("crawlers", registry.Len()))
}
