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

// persistFile is the file of the setting persist. Beside it are a file whose name
// ends in .lock, which the process that writes it has locked, and one whose name
// ends in .bad: the last file that could not be read as a whole.
type persistFile struct {
	counters *Counters
	path     string

	// One goroutine at a time uses the file. On a file system that does not answer,
	// it never ends, so that nothing else waits for it for long.
	busy   chan struct{} // has a value while there is one
	target string        // path, without symbolic links
	lock   io.Closer     // nil while another process may have it
	known  bool          // the counts in the file were added
	moves  bool          // the file must become .bad

	// Guarded by Counters.mu:
	done    chan struct{} // closed when the latest use has ended
	opened  bool
	written time.Time
	size    int64  // in octets
	err     error  // of the last use
	damage  error  // of the file that was read
	bad     string // its path now
}

func newPersistFile(c *Counters, path string) *persistFile {
	return &persistFile{counters: c, path: path, busy: make(chan struct{}, 1)}
}

var errHung = errors.New("the file system does not answer")

// use calls f in a goroutine of its own, and waits until it has ended, but no longer
// than limit.
func (p *persistFile) use(limit time.Duration, f func() error) {
	if p.lastError() == errHung {
		limit = hungLimit
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case p.busy <- struct{}{}:
	default:
		select {
		case p.busy <- struct{}{}:
		case <-timer.C:
			p.noteHung()
			return
		}
	}
	done := make(chan struct{})
	p.counters.mu.Lock()
	p.done = done
	p.counters.mu.Unlock()
	background.Go("persist", func() {
		defer func() { <-p.busy }()
		err := background.Try("persist", f)
		p.counters.mu.Lock()
		defer p.counters.mu.Unlock()
		p.note(err)
		close(done)
	})
	select {
	case <-done:
	case <-timer.C:
		p.noteHung()
	}
}

// noteHung notes that the latest use takes too long, if it has not ended.
func (p *persistFile) noteHung() {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	select {
	case <-p.done:
	default:
		p.note(errHung)
	}
}

// note notes and logs the result of a use. The caller holds Counters.mu.
func (p *persistFile) note(err error) {
	before := p.err
	p.err = err
	log := p.counters.log.With(zap.String("file", p.path), zap.Error(err))
	switch {
	case err != nil && before != nil && err.Error() == before.Error():
	case errors.Is(err, atomicfile.ErrLocked):
		log.Error("persist: another process writes the file: this one does as soon as it is free")
	case err != nil:
		log.Error("persist: the file can't be used")
	case before != nil:
		log.Info("persist: the file can be used again")
	}
}

func (p *persistFile) lastError() error {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	return p.err
}

func (p *persistFile) isOpen() bool {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	return p.opened
}

// open locks the file, adds its counts, and moves it if it can't be read as a whole,
// each of them once.
func (p *persistFile) open() error {
	if p.counters.current() != p {
		return nil // a reload has named another file meanwhile
	}
	if info, err := os.Stat(p.path); err == nil && !info.Mode().IsRegular() { // opening a named pipe would wait for a writer
		return fmt.Errorf("%s is not a regular file", p.path)
	}
	var err error
	if p.lock == nil {
		p.target = p.path
		if target, err := filepath.EvalSymlinks(p.path); err == nil {
			p.target = target
		}
		if err = os.MkdirAll(filepath.Dir(p.target), folderMode); err == nil {
			p.lock, err = atomicfile.Lock(p.target+".lock", fileMode)
		}
		if err == nil { // a folder that others own can have an old lock
			err = atomicfile.Check(p.target)
		}
		if errors.Is(err, atomicfile.ErrLocked) {
			return err // its counts are read when the other process has written the last ones
		}
	}
	if !p.known {
		p.read()
	}
	if err != nil {
		return err
	}
	if p.moves {
		if err := os.Rename(p.target, p.target+".bad"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		p.moves = false
	}
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	p.opened = true
	return nil
}

// begin is open. It writes the file too, so that a full disk is known at once. A file that
// could not be read as a whole waits, because its problem ends with the next write.
func (p *persistFile) begin() error {
	before, known := p.lastError(), p.known
	if err := p.open(); err != nil || known && before == nil || p.hasDamage() {
		return err
	}
	return p.save()
}

func (p *persistFile) hasDamage() bool {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	return p.damage != nil
}

// read adds the counts in the file.
func (p *persistFile) read() {
	c := p.counters
	p.known = true
	f, err := localfile.Open(p.target)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		kept, damage := c.Load(bufio.NewReader(f))
		err = cmp.Or(damage, c.load(kept))
		f.Close()
	}
	if p.moves = err != nil; !p.moves {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.damage, p.bad = err, p.target+".bad"
	c.log.Error("persist: the file can't be read as a whole: what can be read of it counts",
		zap.String("file", p.path), zap.String("kept_as", p.bad), zap.Error(err))
}

// save writes the file.
func (p *persistFile) save() error {
	if err := p.open(); err != nil || p.lock == nil {
		return err
	}
	c := p.counters
	err := atomicfile.Write(p.target, fileMode, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		return errors.Join(c.Save(buffered, c.save()), buffered.Flush())
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(p.target)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.written = time.Now(); err == nil {
		p.size = info.Size()
	}
	return nil
}

// release unlocks the file. Another process may then write it.
func (p *persistFile) release() error {
	lock := p.lock
	p.lock = nil
	p.counters.mu.Lock()
	p.opened = false
	p.counters.mu.Unlock()
	if lock == nil {
		return p.lastError() // which nothing has mended
	}
	return cmp.Or(lock.Close(), p.lastError())
}

// state returns the state of the file, with its problems. A file that could not be
// read as a whole is one until a state with a later write was returned: so whoever
// asks sees it at least once, and that the file is written again.
func (p *persistFile) state() (*statusapi.Persist, []statusapi.Problem) {
	c := p.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &statusapi.Persist{File: p.path, Octets: p.size, Written: timeOf(p.written)}
	var problems []statusapi.Problem
	if p.damage != nil {
		s.Error = p.damage.Error()
		problems = append(problems, warning("persist", p.path,
			"the file that keeps counters over a restart could not be read as a whole: "+s.Error+"; what could be read of it counts",
			"The file is now "+p.bad+". If a newer version of the plugin wrote it, stop Caddy and rename it back before you "+
				"return to that version. "+
				"This message ends once the file was written."))
		if !p.written.IsZero() {
			p.damage = nil
		}
	}
	if p.err != nil {
		s.Error = p.err.Error()
		advice := "Check that Caddy's user may write to the file and its folder, and that the disk is not full."
		if errors.Is(p.err, atomicfile.ErrLocked) {
			advice = "Give each server a file of its own. If the other one is about to stop, wait: this one then adds its counts."
		}
		problems = append(problems, warning("persist", p.path, "the file that keeps counters over a restart can't be used: "+s.Error, advice))
	}
	return s, problems
}
