package live

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// Counters are the counters and the accidents of the process, with the file that
// keeps them over a restart. They outlive the configuration.
type Counters struct {
	*counters.Counters
	*Accidents

	mu      sync.Mutex    // is not held while a file is used
	stop    chan struct{} // nil before Start
	running background.Group
	file    *persistFile // nil without one
}

// NewCounters returns counters without a file.
func NewCounters() *Counters { return newCounters(clock.Now) }

func newCounters(now func() time.Time) *Counters {
	return &Counters{Counters: counters.New(now), Accidents: newAccidents()}
}

// Start begins to maintain the counters. If path is not "", it adds the counts in
// the file, once for each file, and writes them to it from now on.
func (c *Counters) Start(path string, log *zap.Logger) {
	c.mu.Lock()
	former, begins := c.file, c.stop == nil
	if begins {
		stop := make(chan struct{})
		c.stop = stop
		c.running.Keep(stop, "counters: minutes", func() { c.Run(stop) })
	}
	c.mu.Unlock()
	switch {
	case former != nil && former.path == path:
		former.clear()
		return
	case former != nil:
		former.save()
		former.end()
	}
	var file *persistFile
	if path != "" {
		file = c.begin(path, log)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.file = file
}

func (c *Counters) current() *persistFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file
}

// SaveFile writes the file, if there is one.
func (c *Counters) SaveFile() {
	if f := c.current(); f != nil {
		f.save()
	}
}

// state returns the state of the file, nil without one, with its problems.
func (c *Counters) state() (*statusapi.Persist, []statusapi.Problem) {
	if f := c.current(); f != nil {
		return f.state()
	}
	return nil, nil
}

// Close ends what Start began.
func (c *Counters) Close() error {
	c.mu.Lock()
	stop, file := c.stop, c.file
	c.stop, c.file = nil, nil
	c.mu.Unlock()
	if stop != nil {
		close(stop)
		c.running.Wait()
	}
	if file != nil {
		file.end()
	}
	return nil
}
