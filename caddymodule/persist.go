package caddymodule

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/atomicfile"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// persistEvery is the time between two writes of the file that keeps counters.
const persistEvery = 5 * time.Minute

// The modes of new files and folders. The file shows who visits the site, so only
// Caddy's user may read it.
const (
	persistMode       = 0o600
	persistFolderMode = 0o700
)

// persistentCounters are the counters of the process. They outlive the
// configuration.
type persistentCounters struct {
	*counters.Counters

	mu      sync.Mutex
	stop    chan struct{} // nil before the first start
	ended   chan struct{}
	log     *zap.Logger
	file    string          // "" without persist
	known   map[string]bool // the files that were read
	written time.Time
	size    int64 // of the file, in octets
	err     error // of the last write, or of the read
}

func newPersistentCounters() *persistentCounters {
	return &persistentCounters{Counters: counters.New(time.Now), log: zap.NewNop(), known: make(map[string]bool)}
}

// persistPath returns the path of the file that keeps counters, "" without one.
func (a *App) persistPath() string { return caddy.NewReplacer().ReplaceAll(a.Persist, "") }

// startCounters reads the counters that an earlier process saved. It also starts
// the goroutine that maintains and saves the counters, if it does not run yet.
func (a *App) startCounters() {
	p := a.counters
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log, p.file = a.log, a.persistPath()
	p.read()
	if p.stop != nil {
		return
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	p.stop, p.ended = stop, ended
	go func() {
		defer close(ended)
		var running sync.WaitGroup
		running.Go(func() { p.Run(stop) })
		p.saveRegularly(stop)
		running.Wait()
	}()
}

// read adds the counters in the file, once for each file. The caller holds mu.
func (p *persistentCounters) read() {
	if p.file == "" || p.known[p.file] {
		return
	}
	p.known[p.file] = true
	f, err := os.Open(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = p.Load(bufio.NewReader(f))
		f.Close()
	}
	if p.err = err; err != nil {
		p.log.Error("persist: the file can't be read: the counters start at zero", zap.String("file", p.file), zap.Error(err))
	}
}

// saveRegularly writes the file every persistEvery until stop is closed.
func (p *persistentCounters) saveRegularly(stop <-chan struct{}) {
	ticker := time.NewTicker(persistEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.save()
		case <-stop:
			return
		}
	}
}

// save writes the file, if persist is set.
func (p *persistentCounters) save() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == "" {
		return
	}
	counted := &countingWriter{}
	err := os.MkdirAll(filepath.Dir(p.file), persistFolderMode)
	if err == nil {
		err = p.write(counted)
	}
	if p.err = err; err != nil {
		p.log.Error("persist: the file can't be written", zap.String("file", p.file), zap.Error(err))
		return
	}
	p.written, p.size = time.Now(), counted.n
}

// write writes the file through counted.
func (p *persistentCounters) write(counted *countingWriter) error {
	return atomicfile.Write(p.file, persistMode, func(w io.Writer) error {
		counted.w = bufio.NewWriterSize(w, 1<<16)
		if err := p.Save(counted); err != nil {
			return err
		}
		return counted.w.Flush()
	})
}

// countingWriter counts what is written.
type countingWriter struct {
	w *bufio.Writer
	n int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// state returns the state of the file, nil without one.
func (p *persistentCounters) state() *status.Persist {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == "" {
		return nil
	}
	s := &status.Persist{File: p.file, Octets: p.size, Written: timeOf(p.written)}
	if p.err != nil {
		s.Error = p.err.Error()
	}
	return s
}

// Close ends the goroutine that maintains the counters.
func (p *persistentCounters) Close() error {
	p.mu.Lock()
	stop, ended := p.stop, p.ended
	p.stop = nil
	p.mu.Unlock()
	if stop != nil {
		close(stop)
		<-ended
	}
	return nil
}

// timeOf returns a time for JSON, nil if it is zero.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
