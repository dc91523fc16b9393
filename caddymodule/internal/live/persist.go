package live

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/atomicfile"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// The modes of new files and folders. The file shows who visits the site, so only
// Caddy's user may read it.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// How often the file is written, how often a file is tried again that can't be used, and how
// long Caddy waits for it when it starts and stops.
const (
	saveEvery = 5 * time.Minute
	openEvery = time.Second
	patience  = 2 * time.Second
)

// persistFile is the file of the setting persist. Beside it are a file whose name
// ends in .lock, which the process that writes it has locked, and one whose name
// ends in .bad: the last file that could not be read.
//
// Only the goroutine of run uses it: on a file system that does not answer, that never ends,
// and nothing else waits for it for long.
type persistFile struct {
	counters *Counters
	path     string
	log      *zap.Logger
	stop     chan struct{}
	ended    chan struct{}
	wanted   chan chan struct{} // a write, and what is closed then
	lock     io.Closer          // nil while another process may have it

	// Guarded by Counters.mu:
	began   time.Time // when the use that has not ended began; zero for none
	written time.Time
	err     error  // of the last use
	damage  string // of the file that was read, and where it is now
}

// begin begins to use a file, and waits a little until it was read.
func (c *Counters) begin(path string, log *zap.Logger) *persistFile {
	p := &persistFile{counters: c, path: path, log: log.With(zap.String("file", path)), stop: make(chan struct{}),
		ended: make(chan struct{}), wanted: make(chan chan struct{})}
	background.Go("persist", p.run)
	p.save()
	return p
}

// end lets another process have the file, and waits a little until that is done.
func (p *persistFile) end() {
	close(p.stop)
	select {
	case <-p.ended:
	case <-time.After(patience):
	}
}

// save writes the file, and waits a little until that is done.
func (p *persistFile) save() {
	done, late := make(chan struct{}), time.After(patience)
	select {
	case p.wanted <- done:
	case <-late:
		return
	}
	select {
	case <-done:
	case <-late:
	}
}

// run writes the file from time to time until stop is closed, and then lets another process
// have it.
func (p *persistFile) run() {
	defer close(p.ended)
	for pause := saveEvery; ; {
		var done chan struct{} // of who waits for the write
		select {
		case <-p.stop:
			if p.lock != nil {
				_ = p.lock.Close() // the process ends its lock anyway
			}
			return
		case <-time.After(pause):
		case done = <-p.wanted:
		}
		pause = saveEvery
		if p.use() != nil {
			pause = openEvery
		}
		if done != nil {
			close(done)
		}
	}
}

// use writes the file, and reads it before if it was not read yet.
func (p *persistFile) use() error {
	p.counters.mu.Lock()
	p.began = time.Now()
	p.counters.mu.Unlock()
	err := background.Try("persist", p.write)
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	p.began = time.Time{}
	before := p.err
	p.err = err
	switch {
	case err != nil && before != nil && err.Error() == before.Error():
	case errors.Is(err, atomicfile.ErrLocked):
		p.log.Error("persist: another process writes the file: this one does as soon as it is free", zap.Error(err))
	case err != nil:
		p.log.Error("persist: the file can't be used", zap.Error(err))
	case before != nil:
		p.log.Info("persist: the file can be used again")
	}
	return err
}

func (p *persistFile) write() error {
	if info, err := os.Stat(p.path); err == nil && !info.Mode().IsRegular() { // opening a named pipe would wait for a writer
		return fmt.Errorf("%s is not a regular file", p.path)
	}
	target := p.path
	if linked, err := filepath.EvalSymlinks(p.path); err == nil {
		target = linked
	}
	if err := p.open(target); err != nil {
		return err
	}
	c := p.counters
	err := atomicfile.Write(target, fileMode, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		return errors.Join(c.Save(buffered, c.save()), buffered.Flush())
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.written = time.Now()
	return nil
}

// open locks the file and adds its counts, unless that is done. One that can't be read becomes .bad.
func (p *persistFile) open(target string) error {
	if p.lock != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), folderMode); err != nil {
		return err
	}
	lock, err := atomicfile.Lock(target+".lock", fileMode)
	if err != nil {
		return err
	}
	if err := p.read(target); err != nil {
		return errors.Join(err, lock.Close())
	}
	p.lock = lock
	return nil
}

// read adds the counts in the file.
func (p *persistFile) read(target string) error {
	f, err := localfile.Open(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	c := p.counters
	kept, damage := c.Load(bufio.NewReader(f))
	damage = cmp.Or(damage, c.load(kept))
	if damage == nil {
		return nil
	}
	bad := target + ".bad"
	if err := os.Rename(target, bad); err != nil {
		return err
	}
	p.log.Error("persist: the file can't be read", zap.String("kept_as", bad), zap.Error(damage))
	c.mu.Lock()
	defer c.mu.Unlock()
	p.damage = damage.Error() + "; it is now " + bad
	return nil
}

// clear ends the problem that the file could not be read.
func (p *persistFile) clear() {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	p.damage = ""
}

// state returns the state of the file, with its problems.
func (p *persistFile) state() (*statusapi.Persist, []statusapi.Problem) {
	c := p.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &statusapi.Persist{File: p.path, Written: timeOf(p.written)}
	err := p.err
	if !p.began.IsZero() && time.Since(p.began) >= patience {
		err = errors.New("the file system does not answer")
	}
	if err != nil {
		s.Error = err.Error()
		advice := "Check that Caddy's user may write to the file and its folder, and that the disk is not full."
		if errors.Is(err, atomicfile.ErrLocked) {
			advice = "Give each server a file of its own. If the other one is about to stop, wait: this one then adds its counts."
		}
		return s, []statusapi.Problem{warning("persist", p.path, "the file that keeps counters over a restart can't be used: "+s.Error, advice)}
	}
	if p.damage == "" {
		return s, nil
	}
	s.Error = p.damage
	return s, []statusapi.Problem{warning("persist", p.path, "the file that keeps counters over a restart could not be read: "+s.Error,
		"If a newer version of the plugin wrote it, stop Caddy and rename it back before you return to that version. "+
			"This message ends with the next load of the configuration.")}
}
