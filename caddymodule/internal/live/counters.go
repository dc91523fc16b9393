package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/atomicfile"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// saveEvery is the number of minutes between two writes of the file of counters.
const saveEvery = 5

// The modes of new files and folders. The file shows who visits the site, so only
// Caddy's user may read it.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// Counters are the counters and the accidents of the process, with the file that
// keeps them over a restart. They outlive the configuration.
type Counters struct {
	*counters.Counters
	*Accidents

	mu      sync.Mutex
	stop    chan struct{} // nil before Start
	running sync.WaitGroup
	log     *zap.Logger
	file    string          // "" without one
	known   map[string]bool // the files that were read
	written time.Time
	size    int64 // of the file, in octets
	err     error // of the last write, or of the read
}

// NewCounters returns counters without a file.
func NewCounters() *Counters {
	return &Counters{Counters: counters.New(time.Now), Accidents: newAccidents(), log: zap.NewNop(), known: make(map[string]bool)}
}

// Start begins to maintain the counters. If file is not "", it adds the counts in
// the file, once for each file, and writes them to it from now on.
func (c *Counters) Start(file string, log *zap.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log, c.file = log, file
	c.read()
	if c.stop != nil {
		return
	}
	stop := make(chan struct{})
	c.stop = stop
	c.running.Go(func() {
		c.Run(stop, func(minutes int) {
			if minutes%saveEvery == 0 {
				c.SaveFile()
			}
		})
	})
}

// read adds the counters in the file. The caller holds mu.
func (c *Counters) read() {
	if c.file == "" || c.known[c.file] {
		return
	}
	c.known[c.file] = true
	f, err := os.Open(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		var files json.RawMessage
		files, err = c.Load(bufio.NewReader(f))
		c.load(files)
		f.Close()
	}
	if c.err = err; err != nil {
		c.log.Error("persist: the file can't be read: the counters start at zero", zap.String("file", c.file), zap.Error(err))
	}
}

// SaveFile writes the file, if there is one.
func (c *Counters) SaveFile() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == "" {
		return
	}
	err := os.MkdirAll(filepath.Dir(c.file), folderMode)
	if err == nil {
		err = atomicfile.Write(c.file, fileMode, func(w io.Writer) error {
			buffered := bufio.NewWriterSize(w, 1<<16)
			return errors.Join(c.Save(buffered, c.save()), buffered.Flush())
		})
	}
	if c.err = err; err != nil {
		c.log.Error("persist: the file can't be written", zap.String("file", c.file), zap.Error(err))
		return
	}
	c.written = time.Now()
	if info, err := os.Stat(c.file); err == nil {
		c.size = info.Size()
	}
}

// state returns the state of the file, nil without one.
func (c *Counters) state() *statusapi.Persist {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == "" {
		return nil
	}
	s := &statusapi.Persist{File: c.file, Octets: c.size, Written: timeOf(c.written)}
	if c.err != nil {
		s.Error = c.err.Error()
	}
	return s
}

// Close ends what Start began.
func (c *Counters) Close() error {
	c.mu.Lock()
	stop := c.stop
	c.stop = nil
	c.mu.Unlock()
	if stop != nil {
		close(stop)
		c.running.Wait()
	}
	return nil
}
