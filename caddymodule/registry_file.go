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
	// maxRegistryFile is the largest registry file that is read, in octets:
	// 1.6 KB for each of the rows that it may have.
	maxRegistryFile = 16 << 20
	// registryDebounce is how long a change of a registry file may take: an
	// editor that empties a file and fills it again is not read in between.
	registryDebounce = 100 * time.Millisecond
)

// registryFile is a file of crawlers, as crawler.ReadRows reads it. The zero
// value is no file.
type registryFile struct {
	path string
	data []byte // as it was read last
	err  error  // of that

	overrides []string // what its rows say otherwise of crawlers that are built in
}

// read returns the built-in registry with the rows of the file, and with what
// the configuration adds to it.
func (f *registryFile) read(crawlers []Crawler) (*crawler.Registry, error) {
	if f.data, f.err = f.octets(); f.err != nil {
		return nil, f.err
	}
	return f.registry(crawlers)
}

// reread is like read if the file has changed, and returns nil if it has not.
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

// registryPath is the path or the URL of the registry, "" for none.
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
		default: // one is waiting already
		}
	}
	unwatch := h.app.watch(file.path, notify)
	notify() // it may have changed since it was read
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for waitForChange(watching, changes) {
			h.rereadRegistry(file)
		}
	}()
	h.cleanup = append(h.cleanup, func() error { unwatch(); stop(); <-ended; return nil })
}

// waitForChange waits for a change and for the events that belong to it. It returns
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
	case <-changes: // part of the same
	default:
	}
	return true
}

// rereadRegistry puts a changed registry file in force.
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
