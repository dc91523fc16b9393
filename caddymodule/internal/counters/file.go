package counters

import (
	"cmp"
	cryptorand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// fileVersion is the version of the form that Save writes. It changes with the names
// and types of fields.
const fileVersion = 1

// maxFile is the maximum size of a file that Load reads, in octets.
const maxFile = 128 << 20

// checksum returns the line that Save writes after the JSON.
func checksum(text []byte) string { return fmt.Sprintf(`{"xxhash64":"%016x"}`, xxhash.Sum64(text)) }

// file is the JSON that Save writes. Times are minutes since 1970.
type file struct {
	Version int         `json:"version"`
	IDs     []string    `json:"ids,omitempty"` // see Counters.ids
	At      minute      `json:"at"`
	Since   string      `json:"since"` // RFC 3339
	Sites   []*fileSite `json:"sites"`
	Hosts   []*fileSite `json:"hosts,omitempty"` // with their Pattern
	Lines   []*fileLine `json:"rules"`

	Files map[string]json.RawMessage `json:"robots_txt,omitempty"` // what the caller of Save keeps
}

type fileSite struct {
	Name     string                 `json:"name"`
	Pattern  string                 `json:"pattern,omitempty"`
	First    int32                  `json:"first,omitempty"` // day since 1970
	Days     bool                   `json:"days,omitempty"`  // it had requests on two
	Seen     int64                  `json:"seen,omitempty"`
	People   fileHistory            `json:"people"`
	Reasons  map[string]fileHistory `json:"reasons,omitempty"` // by mode and reason
	Crawlers []*fileCrawler         `json:"crawlers,omitempty"`
}

type fileCrawler struct {
	Name     string                 `json:"name"`
	Class    string                 `json:"class"`
	Known    bool                   `json:"known,omitempty"`
	Other    bool                   `json:"other,omitempty"`
	Operator string                 `json:"operator,omitempty"`
	Purposes []crawler.Purpose      `json:"purposes,omitempty"`
	Last     int64                  `json:"last"`
	Decided  map[string]uint64      `json:"decided,omitempty"` // by mode and reason
	Repeated uint64                 `json:"repeated,omitempty"`
	Past     map[string]fileHistory `json:"past,omitempty"` // by measure

	class crawler.Class
}

type fileLine struct {
	Site    string            `json:"site"`
	Scheme  string            `json:"scheme"`
	Host    string            `json:"host"`
	Port    uint16            `json:"port"`
	ID      uint64            `json:"id"`
	Source  uint64            `json:"source"`
	Layer   string            `json:"layer"`
	Group   string            `json:"group,omitempty"`
	Text    string            `json:"text,omitempty"`
	Reason  string            `json:"reason"`
	Line    int32             `json:"line"`
	Last    int64             `json:"last"`
	Decided map[string]uint64 `json:"decided,omitempty"` // by action
	Refused fileHistory       `json:"refused"`

	layer  judge.Layer
	reason judge.Reason
}

// fileHistory is a history.
type fileHistory struct {
	Total  uint64 `json:"total"`
	Series *steps `json:"series,omitempty"` // in the minute file.At
}

// Names in a file.
var (
	measureNames = [measures]string{
		"requests", "denied", "throttled", "would_deny", "would_throttle", "verified", "unverified", "impostors", "verified_refused",
		"claims_refused", "verified_would_refuse",
	}
	// verdictNames has the names of what is counted of a line.
	verdictNames = [...]string{"enforce pass", "enforce deny", "enforce throttle", "monitor deny", "monitor throttle"}
)

// Save writes the counts as JSON, with what Load returns. It does not write the
// recent refusals.
func (c *Counters) Save(w io.Writer, files map[string]json.RawMessage) error {
	f := c.snapshot()
	f.Files = files
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err1 := w.Write(text)
	_, err2 := fmt.Fprintf(w, "\n%s\n", checksum(text))
	return cmp.Or(err1, err2)
}

// snapshot returns the counts in the format of a file.
func (c *Counters) snapshot() *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folded = time.Time{} // nothing may be left for the next fold
	c.fold()
	if len(c.ids) == 0 {
		c.ids = []string{cryptorand.Text()}
	}
	f := &file{Version: fileVersion, IDs: slices.Clone(c.ids), At: c.at, Since: c.since.UTC().Format(time.RFC3339Nano)}
	for s := range c.allSites() { // once: requests add hosts meanwhile
		if saved := s.save(); saved.Pattern == "" {
			f.Sites = append(f.Sites, saved)
		} else {
			f.Hosts = append(f.Hosts, saved)
		}
	}
	for n := range c.lines.nodes() {
		f.Lines = append(f.Lines, n.value.save())
	}
	return f
}

func (s *Site) save() *fileSite {
	saved := &fileSite{Name: s.name, People: s.visitors.save(), Reasons: make(map[string]fileHistory)}
	for o, h := range s.reasons.all() {
		saved.Reasons[o.String()] = h.save()
	}
	if s.pattern != nil {
		saved.Pattern, saved.First, saved.Days, saved.Seen = s.pattern.name, s.first, s.known, int64(s.last)
	}
	for row := range s.crawlers() {
		saved.Crawlers = append(saved.Crawlers, row.save())
	}
	return saved
}

func (c *Crawler) save() *fileCrawler {
	decided := make(map[string]uint64)
	for o, n := range c.decided.all() {
		decided[o.String()] = n.folded
	}
	return &fileCrawler{
		Name: c.name, Class: c.class.String(), Known: c.known, Other: c.other, Operator: c.operator, Purposes: c.purposes,
		Last: int64(c.last), Past: saveAll(measureNames[:], c.past[:]),
		Decided: decided,
	}
}

func (l *Line) save() *fileLine {
	return &fileLine{
		Site: l.site.configured(), Scheme: l.Origin.Scheme, Host: l.Origin.Host, Port: l.Origin.Port, ID: uint64(l.ID), Source: l.Source,
		Layer: l.Layer.String(), Group: l.Group, Text: l.Text, Reason: l.Reason.String(), Line: l.number.Load(), Last: l.last.Load(),
		Decided: saveCounts(verdictNames[:], func(i int) uint64 { return l.decided[i].Load() }), Refused: l.refused.save(),
	}
}

// saveCounts returns counts by name, without those that are 0.
func saveCounts(names []string, count func(i int) uint64) map[string]uint64 {
	saved := make(map[string]uint64)
	for i, name := range names {
		if n := count(i); n > 0 {
			saved[name] = n
		}
	}
	return saved
}

// saveAll converts histories for a file. It leaves out those that are empty.
func saveAll(names []string, past []history) map[string]fileHistory {
	saved := make(map[string]fileHistory)
	for i := range past {
		if past[i].folded > 0 {
			saved[names[i]] = past[i].save()
		}
	}
	return saved
}

// restoreAll is the inverse of saveAll. It adds to past.
func restoreAll(names []string, saved map[string]fileHistory, at, now minute, past []history) {
	for i := range past {
		if f, ok := saved[names[i]]; ok {
			h := f.restore(at, now)
			past[i].merge(&h)
		}
	}
}

func (h *history) save() fileHistory {
	saved := fileHistory{Total: h.folded}
	if h.series != nil {
		saved.Series = new(h.series.steps)
	}
	return saved
}

// restore is the inverse of save. It leaves out counts that are older than the
// series. The counts were saved in the minute at; now is the current one.
func (f *fileHistory) restore(at, now minute) history {
	h := history{folded: f.Total}
	if f.Series != nil && at <= now {
		h.series = newSeries(f.Series)
	}
	h.advance(at, now)
	return h
}

// Load adds the counts of a file that Save wrote, and returns what Save got. It adds nothing
// of a file whose counts it has, such as a copy of one that it has added or written.
// If the file is damaged, larger than 128 MiB or of another version, Load adds what it
// can read, and returns an error that says what is wrong.
func (c *Counters) Load(r io.Reader) (files map[string]json.RawMessage, err error) {
	f, err := decodeFile(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(f.IDs, func(id string) bool { return slices.Contains(c.ids, id) }) {
		return nil, err
	}
	c.ids = append(c.ids, f.IDs...)
	c.fold()
	if since, err := time.Parse(time.RFC3339Nano, f.Since); err == nil && !since.IsZero() && since.Before(c.since) {
		c.since = since
	}
	for _, saved := range f.Sites {
		saved.restore(c.site(saved.Name), f.At, c.at)
	}
	for _, saved := range f.Hosts {
		if saved.Pattern != "" {
			if h := c.site(saved.Pattern).restoreHost(saved, c.at); h.pattern != nil { // otherwise its pattern has its counts
				saved.restore(h, f.At, c.at)
			}
		}
	}
	for _, r := range f.Lines {
		r.restore(c, f.At)
	}
	return f.Files, err
}

// restore adds the counts to those of a site.
func (f *fileSite) restore(s *Site, at, now minute) {
	people := f.People.restore(at, now)
	s.people[0].n.Add(people.folded)
	s.visitors.merge(&people)
	for o, name := range outcomes() {
		if saved, ok := f.Reasons[name]; ok && saved.Total > 0 {
			h := saved.restore(at, now)
			s.reasons.at(o).merge(&h)
		}
	}
	for _, row := range f.Crawlers {
		row.restore(s, at, now)
	}
}

// restoreHost returns the counters of a host of a file; those of the pattern if there
// is no room.
func (s *Site) restoreHost(f *fileSite, now minute) *Site {
	first, day := min(f.First, now.day()), now.day()
	if !f.Days { // on a later day than the first, it would count as known
		day = first
	}
	s.wait(s.hashHost(f.Name), first, day)
	h := s.Host(f.Name, time.Unix(int64(day)*24*60*60, 0))
	h.last = max(h.last, min(minute(f.Seen), now))
	return h
}

// restore adds the counts of a crawler to those of a site.
func (f *fileCrawler) restore(s *Site, at, now minute) {
	c := &Crawler{site: s, last: min(minute(f.Last), now)}
	for o, name := range outcomes() {
		if n := f.Decided[name]; n > 0 {
			decided := c.decided.at(o)
			decided.folded = n
			decided.n.Store(n)
		}
	}
	restoreAll(measureNames[:], f.Past, at, now, c.past[:])
	c.past[requests].folded += f.Repeated
	totals := c.totals()
	for m := range c.past[:verified] { // a total without its decisions would hide those that come
		c.past[m].folded = min(c.past[m].folded, totals[m])
	}
	if slices.Contains(f.Purposes, crawler.Search) {
		s.searchRefused.merge(&c.past[verifiedRefused])
	}
	if f.Other {
		c.addTo(s.class(f.class))
		return
	}
	a := crawler.Agent{Class: f.class, Token: f.Name}
	if f.Known {
		a.Crawler = &crawler.Crawler{Name: clip(f.Name), Class: f.class, Operator: f.Operator, Purposes: f.Purposes}
	}
	c.addTo(s.crawler(&a))
}

// restore adds the counts of a line, if there is room.
func (f *fileLine) restore(c *Counters, at minute) {
	facts := lineFacts{
		ID: LineID(f.ID), Source: f.Source, Origin: judge.Origin{Scheme: f.Scheme, Host: f.Host, Port: f.Port},
		Layer: f.layer, Group: clip(f.Group), Text: clip(f.Text), Reason: f.reason,
	}
	site := c.site(f.Site)
	if h := site.findHost(f.Host); h != nil {
		site = h
	}
	line := site.line(facts.ID, facts.Origin, func() lineFacts { return facts })
	if line == nil {
		return
	}
	for i := range line.decided {
		line.decided[i].Add(f.Decided[verdictNames[i]])
	}
	line.number.CompareAndSwap(0, f.Line)
	line.last.Store(max(line.last.Load(), min(f.Last, c.now().Unix())))
	refused := f.Refused.restore(at, c.at)
	line.refused.merge(&refused)
}
