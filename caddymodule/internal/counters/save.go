package counters

import (
	cryptorand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// fileVersion is the version of the form that Save writes. It changes with the names
// and types of fields.
const fileVersion = 1

// maxFile is the maximum size of a file that Load reads, in octets.
const maxFile = 128 << 20

// file is the JSON that Save writes.
type file struct {
	Version int       `json:"version"`
	IDs     []string  `json:"ids,omitempty"` // see Counters.ids
	At      minute    `json:"at"`            // of Row.Past
	Since   time.Time `json:"since"`
	Rows    []Row     `json:"rows"`

	Files json.RawMessage `json:"robots_txt,omitempty"` // what the caller of Save keeps
}

// loadedFile is a file of which each row is read on its own.
type loadedFile struct {
	file
	Rows []json.RawMessage `json:"rows"`
}

// Save writes the counts as JSON, with what Load returns. It does not write the
// recent refusals.
func (c *Counters) Save(w io.Writer, files json.RawMessage) error {
	f := c.snapshot(func(*row) bool { return true })
	f.Files = files
	return json.NewEncoder(w).Encode(f)
}

// snapshot returns the counts of rows in the format of a file.
func (c *Counters) snapshot(wanted func(*row) bool) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folded = time.Time{} // nothing may be left for the next fold
	rows := c.walk()
	f := &file{Version: fileVersion, IDs: slices.Clone(c.ownIDs()), At: c.at, Since: c.since.UTC()}
	for r := range rows {
		if !wanted(r) {
			continue
		}
		saved := r.Row
		saved.Site = r.site.configured()
		if r.site.pattern != nil {
			saved.Host = r.site.name
		}
		f.Rows = append(f.Rows, saved)
	}
	return f
}

// ownIDs returns ids, which are some from now on. The caller holds mu.
func (c *Counters) ownIDs() []string {
	if len(c.ids) == 0 {
		c.ids = []string{cryptorand.Text()}
	}
	return c.ids
}

// Load adds the counts of a file that Save wrote, and returns what Save got. It adds nothing
// of a file whose counts it has, such as a copy of one that it has added or written, and
// nothing of one that is damaged, larger than 128 MiB or of another version: then it returns an
// error that says what is wrong. Rows with names that this program does not have are left out.
func (c *Counters) Load(r io.Reader) (files json.RawMessage, err error) {
	f, err := read(r)
	if err != nil || !c.add(f, statusapi.AllSites()) {
		return nil, err
	}
	return f.Files, nil
}

// read reads what Save wrote.
func read(r io.Reader) (*loadedFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	f := new(loadedFile)
	switch wrong := json.Unmarshal(text, f); {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("it is larger than %d octets", maxFile)
	case wrong != nil:
		return nil, fmt.Errorf("it is damaged: %w", wrong)
	case f.Version != fileVersion:
		return nil, fmt.Errorf("it has version %d, and this server uses version %d", f.Version, fileVersion)
	}
	return f, nil
}

// add adds the counts of a file at the sites in a scope, and reports whether it did: not if it has
// them already.
func (c *Counters) add(f *loadedFile, scope statusapi.Scope) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(f.IDs, func(id string) bool { return slices.Contains(c.ids, id) }) {
		return false
	}
	c.ids = append(c.ids, f.IDs...)
	c.fold()
	if f.Since.Before(c.since) && !f.Since.IsZero() {
		c.since = f.Since
	}
	for _, text := range f.Rows {
		saved := new(Row)
		if json.Unmarshal(text, saved) == nil && saved.Site != "" && scope.Site(saved.Site) {
			c.restore(saved, f.At)
		}
	}
	return true
}

// restore adds the counts of a row, saved at a minute. Those of a host without room are left
// out: its pattern has them.
func (c *Counters) restore(saved *Row, at minute) {
	site := c.site(saved.Site)
	if saved.Host != "" {
		pattern := site
		site = pattern.Host(saved.Host)
		if site == pattern {
			return
		}
	}
	to := site.people
	if !saved.isPeople() {
		to = site.add(saved.who, saved.outcome, saved.Line)
	}
	if to.site != site {
		return
	}
	saved.Past.forget(c.at, at) // of another clock, or before the clock was set back
	saved.Past.advance(at, c.at)
	saved.Last = min(saved.Last, c.now().Unix())
	to.merge(saved)
	site.last = max(site.last, minute(to.Last/60))
}
