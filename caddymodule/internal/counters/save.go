package counters

import (
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// fileVersion is the version of the form that Save writes. It changes with the names
// and types of fields.
const fileVersion = 1

// maxFile is the maximum size of a file that Load reads, in octets.
const maxFile = 128 << 20

// file is the JSON that Save writes.
type file struct {
	Version int         `json:"version"`
	IDs     []string    `json:"ids,omitempty"` // see Counters.ids
	At      minute      `json:"at"`
	Since   time.Time   `json:"since"`
	Hosts   []savedHost `json:"hosts,omitempty"`
	Rows    []savedRow  `json:"rows"`

	Files map[string]json.RawMessage `json:"robots_txt,omitempty"` // what the caller of Save keeps
}

type savedHost struct {
	Name    string `json:"name"`
	Pattern string `json:"pattern"`
	First   int32  `json:"first"` // day since 1970
	Last    minute `json:"last"`
	Known   bool   `json:"known,omitempty"`
}

// savedRow is a row. Reasons, classes, states and layers have their names, which outlive a
// change of their numbers.
type savedRow struct {
	Site     string            `json:"site"`           // of the configuration
	Host     string            `json:"host,omitempty"` // that only a pattern names
	Crawler  string            `json:"crawler,omitempty"`
	Class    string            `json:"class"`
	Known    bool              `json:"known,omitempty"`
	Operator string            `json:"operator,omitempty"`
	Purposes []crawler.Purpose `json:"purposes,omitempty"`
	Reason   string            `json:"reason"`
	Monitor  bool              `json:"monitor,omitempty"`
	Claim    string            `json:"claim"`
	Line     *savedLine        `json:"line,omitempty"`
	Number   int32             `json:"number,omitempty"`
	Last     int64             `json:"last,omitempty"`
	Total    uint64            `json:"total"`
	Past     *ring             `json:"past,omitempty"` // in the minute file.At
}

type savedLine struct {
	Line
	Layer  string `json:"Layer"` // in place of their numbers
	Reason string `json:"Reason"`
}

// Save writes the counts as JSON, with what Load returns. It does not write the
// recent refusals.
func (c *Counters) Save(w io.Writer, files map[string]json.RawMessage) error {
	f := c.snapshot()
	f.Files = files
	return json.NewEncoder(w).Encode(f)
}

// snapshot returns the counts in the format of a file.
func (c *Counters) snapshot() *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folded = time.Time{} // nothing may be left for the next fold
	rows := c.rowsIn(func(s *Site) bool { return !s.gone })
	if len(c.ids) == 0 {
		c.ids = []string{cryptorand.Text()}
	}
	f := &file{Version: fileVersion, IDs: slices.Clone(c.ids), At: c.at, Since: c.since.UTC()}
	for h := range c.hosts.values() {
		f.Hosts = append(f.Hosts, savedHost{h.name, h.pattern.name, h.first, h.last, h.known})
	}
	retired := make(map[*row]bool)
	for _, r := range c.retired {
		retired[r] = true
	}
	for r := range rows {
		if !retired[r] { // its class has its counts
			f.Rows = append(f.Rows, r.save())
		}
	}
	return f
}

func (r *row) save() savedRow {
	c := r.crawler
	saved := savedRow{
		Site: c.site.configured(), Class: c.class.String(), Known: c.known, Operator: c.operator, Reason: r.reason().String(),
		Monitor: r.monitor(), Claim: r.claim.String(), Number: r.number.Load(), Last: r.last.Load(), Total: r.total,
	}
	if c.site.pattern != nil {
		saved.Host = c.site.name
	}
	if !c.other {
		saved.Crawler = c.name
	}
	for _, p := range c.purposes {
		saved.Purposes = append(saved.Purposes, crawler.Purpose(p))
	}
	if r.facts != nil {
		saved.Line = &savedLine{*r.facts, r.facts.Layer.String(), r.facts.Reason.String()}
	}
	if r.ring != (ring{}) {
		saved.Past = new(r.ring)
	}
	return saved
}

// Load adds the counts of a file that Save wrote, and returns what Save got. It adds nothing
// of a file whose counts it has, such as a copy of one that it has added or written, and
// nothing of one that is damaged, larger than 128 MiB or of another version: then it returns an
// error that says what is wrong. Rows with names that this program does not have are left out.
func (c *Counters) Load(r io.Reader) (files map[string]json.RawMessage, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	f := new(file)
	switch wrong := json.Unmarshal(text, f); {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("it is larger than %d octets", maxFile)
	case wrong != nil:
		return nil, fmt.Errorf("it is damaged: %w", wrong)
	case f.Version != fileVersion:
		return nil, fmt.Errorf("it has version %d, and this server uses version %d", f.Version, fileVersion)
	case slices.ContainsFunc(f.Rows, func(s savedRow) bool { return s.Site == "" }):
		return nil, errors.New("a row has no site")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(f.IDs, func(id string) bool { return slices.Contains(c.ids, id) }) {
		return nil, nil
	}
	c.ids = append(c.ids, f.IDs...)
	c.fold()
	if f.Since.Before(c.since) && !f.Since.IsZero() {
		c.since = f.Since
	}
	for _, saved := range f.Hosts {
		of := invented
		if saved.Known {
			of = ofHost
		}
		if h := c.site(saved.Pattern).addHost(of, saved.Name, min(saved.First, c.at.day())); h != nil {
			h.last = max(h.last, min(saved.Last, c.at))
		}
	}
	for _, saved := range f.Rows {
		c.restore(&saved, f.At)
	}
	return f.Files, nil
}

// restore adds the counts of a row, saved at a minute. Those of a host without room are left
// out: its pattern has them.
func (c *Counters) restore(f *savedRow, at minute) {
	site := c.site(f.Site)
	if f.Host != "" {
		site = site.findHost(f.Host)
		if site == nil {
			return
		}
	}
	class, err := crawler.ParseClass(f.Class)
	reason, known := judge.ReasonNamed(f.Reason)
	state := claim.NoMethod
	for ; state < claim.Impostor && state.String() != f.Claim; state++ {
	}
	if err != nil || !known {
		return
	}
	to := site.visitors
	if class != crawler.Person || reason.Info().Action != judge.Pass {
		a := crawler.Agent{Class: class, Token: clip(f.Crawler)}
		if f.Known {
			a.Crawler = &crawler.Crawler{Name: clip(f.Crawler), Class: class, Operator: f.Operator, Purposes: f.Purposes}
		}
		k := key{outcome: newOutcome(reason, f.Monitor), claim: state}
		facts := f.Line.restore()
		if facts != nil {
			k.line = facts.ID.at(facts.Origin)
		}
		to = site.find(&a, k)
		if to == nil {
			to = site.add(&a, k, facts)
		}
	}
	if to.crawler.site != site {
		return
	}
	past := f.Past
	if past == nil || at > c.at { // the clock was set back
		past = new(ring)
	}
	past.advance(at, c.at)
	to.merge(f.Total, past)
	to.number.CompareAndSwap(0, f.Number)
	to.last.Store(max(to.last.Load(), min(f.Last, c.now().Unix())))
}

// restore returns the line, nil if there is none or this program does not have its layer.
func (l *savedLine) restore() *Line {
	if l == nil {
		return nil
	}
	facts := l.Line
	var knowsLayer, knowsReason bool
	facts.Layer, knowsLayer = judge.LayerNamed(l.Layer)
	facts.Reason, knowsReason = judge.ReasonNamed(l.Reason)
	if !knowsLayer || !knowsReason {
		return nil
	}
	facts.Group, facts.Text = clip(facts.Group), clip(facts.Text)
	return &facts
}
