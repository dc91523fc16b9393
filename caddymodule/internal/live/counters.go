package live

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// How often the file of counters is written, and how often a file is tried again
// that could not be opened.
const (
	saveEvery = 5 * time.Minute
	openEvery = time.Second
)

// How long the file may keep Caddy from starting and from stopping, and how long
// once it has taken longer.
const (
	openLimit = 2 * time.Second // counts that are read later still count
	saveLimit = 5 * time.Second
	hungLimit = 100 * time.Millisecond
)

// Counters are the counters and the accidents of the process, with the file that
// keeps them over a restart. They outlive the configuration.
type Counters struct {
	*counters.Counters
	*Accidents

	mu        sync.Mutex    // is not held while a file is used
	reporters []*Reporter   // of the configurations in force: two during a load
	stop      chan struct{} // nil before Start
	running   background.Group
	log       *zap.Logger
	file      *persistFile            // nil without one
	persisted map[string]*persistFile // by path, those of earlier configurations too
}

// NewCounters returns counters without a file.
func NewCounters() *Counters { return newCounters(time.Now) }

func newCounters(now func() time.Time) *Counters {
	return &Counters{Counters: counters.New(now), Accidents: newAccidents(), log: zap.NewNop(), persisted: make(map[string]*persistFile)}
}

// Start begins to maintain the counters. If path is not "", it adds the counts in
// the file, once for each file, and writes them to it from now on.
func (c *Counters) Start(path string, log *zap.Logger) {
	c.mu.Lock()
	former, begins := c.file, c.stop == nil
	if c.log, c.file = log, c.persisted[path]; c.file == nil && path != "" {
		c.file = newPersistFile(c, path)
		c.persisted[path] = c.file
	}
	if begins {
		stop := make(chan struct{})
		c.stop = stop
		c.running.Keep(stop, "counters: minutes", func() { c.Run(stop) })
		c.running.Keep(stop, "persist: times", func() { c.keep(stop) })
	}
	file := c.file
	c.mu.Unlock()
	if former != nil && former != file {
		former.use(hungLimit, former.release)
	}
	if file != nil {
		file.use(openLimit, file.begin)
	}
}

// keep opens the file as soon as that is possible, and then writes it every five
// minutes, until stop is closed.
func (c *Counters) keep(stop chan struct{}) {
	ticker := time.NewTicker(openEvery)
	defer ticker.Stop()
	for saved := time.Now(); ; {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
		if f := c.current(); f == nil {
			continue
		} else if !f.isOpen() {
			f.use(openLimit, f.save)
		} else if time.Since(saved) >= saveEvery {
			saved = time.Now()
			f.use(saveLimit, f.save)
		}
	}
}

func (c *Counters) current() *persistFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file
}

// SaveFile writes the file, if there is one.
func (c *Counters) SaveFile() {
	if f := c.current(); f != nil {
		f.use(saveLimit, f.save)
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
		file.use(hungLimit, file.release)
	}
	return nil
}
