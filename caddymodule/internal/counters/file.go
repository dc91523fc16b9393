package counters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// fileVersion is the version of the format that Save writes.
const fileVersion = 1

// maxFile is the maximum size of a file that Load reads, in octets.
const maxFile = 64 << 20

// file is the JSON that Save writes. Times are minutes, hours or days since 1970, in
// UTC.
type file struct {
	Version int         `json:"version"`
	Since   time.Time   `json:"since"`
	Sites   []fileSite  `json:"sites"`
	Lines   []*fileLine `json:"rules"`
}

type fileSite struct {
	Name     string                 `json:"name"`
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
	Purpose  string                 `json:"purpose,omitempty"`
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

	layer  enforce.Layer
	reason enforce.Reason
}

// fileHistory is a history. Each pair is a time and a count.
type fileHistory struct {
	Total   uint64      `json:"total"`
	Minutes [][2]uint64 `json:"minutes,omitempty"`
	Hours   [][2]uint64 `json:"hours,omitempty"`
	Days    [][2]uint64 `json:"days,omitempty"`
}

// Names in a file.
var (
	modeNames    = [modes]string{"enforce", "monitor"}
	measureNames = [measures]string{
		"requests", "denied", "throttled", "would_deny", "would_throttle", "verified", "unverified", "impostors",
	}
	layerNames = map[string]enforce.Layer{}
	// reasonKeys has the keys for a mode and a reason, such as "monitor disallowed".
	reasonKeys = func() (keys [modes][enforce.Reasons]string) {
		for mode := range keys {
			for reason := range keys[mode] {
				keys[mode][reason] = modeNames[mode] + " " + enforce.Reason(reason).String()
			}
		}
		return keys
	}()
	reasonNames = map[string]enforce.Reason{}
)

func init() {
	for layer := enforce.NoLayer; layer <= enforce.HiddenLayer; layer++ {
		layerNames[layer.String()] = layer
	}
	for reason := range enforce.Reasons {
		reasonNames[enforce.Reason(reason).String()] = enforce.Reason(reason)
	}
}

// Save writes the counts as JSON. It does not write the refusals that are kept.
func (c *Counters) Save(w io.Writer) error {
	return json.NewEncoder(w).Encode(c.snapshot())
}

// snapshot returns the counts in the format of a file.
func (c *Counters) snapshot() *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	f := &file{Version: fileVersion, Since: c.since.UTC()}
	sites := make(map[*Site]*fileSite)
	for _, s := range c.sites {
		saved := &fileSite{Name: s.name, People: s.visitors.save(c.at), Reasons: make(map[string]fileHistory)}
		for mode := range s.reasons {
			for reason := range s.reasons[mode] {
				if h := &s.reasons[mode][reason]; h.folded > 0 {
					saved.Reasons[reasonKeys[mode][reason]] = h.save(c.at)
				}
			}
		}
		sites[s] = saved
	}
	for row := range c.allCrawlers() {
		site := sites[row.site]
		site.Crawlers = append(site.Crawlers, row.save(c.at))
	}
	for _, s := range sites {
		f.Sites = append(f.Sites, *s)
	}
	for _, r := range c.lines.all() {
		f.Lines = append(f.Lines, r.save(c.at))
	}
	return f
}

func (c *Crawler) save(m minute) *fileCrawler {
	saved := &fileCrawler{
		Name: c.name, Class: c.class.String(), Known: c.known, Other: c.other, Operator: c.operator, Purpose: c.purpose,
		Last: int64(c.last), Repeated: c.repeated.Load(), Decided: make(map[string]uint64), Past: make(map[string]fileHistory),
	}
	for mode := range c.folded {
		for reason, n := range c.folded[mode] {
			if n > 0 {
				saved.Decided[reasonKeys[mode][reason]] = n
			}
		}
	}
	for i := range c.past {
		if c.past[i].folded > 0 {
			saved.Past[measureNames[i]] = c.past[i].save(m)
		}
	}
	return saved
}

func (r *Line) save(m minute) *fileLine {
	saved := &fileLine{
		Site: r.site.name, Scheme: r.origin.Scheme, Host: r.origin.Host, Port: r.origin.Port, ID: uint64(r.id), Source: r.source,
		Layer: r.layer.String(), Group: r.group, Text: r.text, Reason: r.reason.String(), Line: r.line.Load(), Last: r.last.Load(),
		Decided: make(map[string]uint64), Refused: r.refused.save(m),
	}
	for mode := range r.decided {
		for action := range r.decided[mode] {
			if n := r.decided[mode][action].Load(); n > 0 {
				saved.Decided[modeNames[mode]+" "+enforce.Action(action).String()] = n
			}
		}
	}
	return saved
}

// save converts a history for a file. m is the current minute.
func (h *history) save(m minute) fileHistory {
	saved := fileHistory{Total: h.folded}
	if h.series != nil {
		saved.Minutes = toPairs(h.series.minutes[:], int64(m))
		saved.Hours = toPairs(h.series.hours[:], m.hour())
		saved.Days = toPairs(h.series.days[:], m.day())
	}
	return saved
}

// toPairs returns the counts of a ring that are not 0, with their times. at is the
// number of the current step.
func toPairs(ring []uint32, at int64) (list [][2]uint64) {
	for i, n := range values(ring, at) {
		if n > 0 {
			list = append(list, [2]uint64{uint64(at + 1 + int64(i) - int64(len(ring))), n})
		}
	}
	return list
}

// restore is the inverse of save. It leaves out counts that are older than the
// series.
func (f *fileHistory) restore(m minute) history {
	h := history{folded: f.Total}
	if len(f.Minutes)+len(f.Hours)+len(f.Days) == 0 {
		return h
	}
	h.series = new(series)
	fromPairs(h.series.minutes[:], f.Minutes, int64(m))
	fromPairs(h.series.hours[:], f.Hours, m.hour())
	fromPairs(h.series.days[:], f.Days, m.day())
	return h
}

// fromPairs is the inverse of toPairs.
func fromPairs(ring []uint32, list [][2]uint64, at int64) {
	for _, pair := range list {
		if then := int64(pair[0]); then <= at && then > at-int64(len(ring)) {
			saturatingAdd(&ring[then%int64(len(ring))], pair[1])
		}
	}
}

// decodeFile reads and checks a file.
func decodeFile(r io.Reader) (*file, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	f := new(file)
	dec := json.NewDecoder(limited)
	if err := dec.Decode(f); err != nil {
		return nil, err
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("the file is larger than %d octets", maxFile)
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("the file has version %d: want %d", f.Version, fileVersion)
	}
	for i := range f.Sites {
		for _, row := range f.Sites[i].Crawlers {
			if row == nil {
				return nil, fmt.Errorf("a crawler of site %q is null", f.Sites[i].Name)
			}
			var err error
			if row.class, err = crawler.ParseClass(row.Class); err != nil {
				return nil, fmt.Errorf("crawler %q: %w", row.Name, err)
			}
		}
	}
	for _, r := range f.Lines {
		if r == nil {
			return nil, errors.New("a rule is null")
		}
		var ok1, ok2 bool
		r.layer, ok1 = layerNames[r.Layer]
		r.reason, ok2 = reasonNames[r.Reason]
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("a rule has the unknown layer %q or reason %q", r.Layer, r.Reason)
		}
	}
	return f, nil
}

// Load adds the counts of a file that Save wrote. If the file is damaged or larger
// than 64 MiB, it returns an error and adds nothing.
func (c *Counters) Load(r io.Reader) error {
	f, err := decodeFile(r)
	if err != nil {
		return fmt.Errorf("reading counters: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	if !f.Since.IsZero() && f.Since.Before(c.since) {
		c.since = f.Since
	}
	for i := range f.Sites {
		saved := &f.Sites[i]
		site := c.site(saved.Name)
		site.restorePeople(&saved.People, c.at)
		for mode := range site.reasons {
			for reason := range site.reasons[mode] {
				if past, ok := saved.Reasons[reasonKeys[mode][reason]]; ok {
					h := past.restore(c.at)
					site.reasons[mode][reason].merge(&h)
				}
			}
		}
		for _, row := range saved.Crawlers {
			row.restore(site, c.at)
		}
	}
	for _, r := range f.Lines {
		r.restore(c)
	}
	return nil
}

func (s *Site) restorePeople(saved *fileHistory, m minute) {
	h := saved.restore(m)
	s.people[0].n.Add(h.folded)
	s.visitors.merge(&h)
}

// restore adds the counts of a crawler to those of a site.
func (f *fileCrawler) restore(s *Site, m minute) {
	c := &Crawler{site: s, last: min(minute(f.Last), m)}
	for mode := range c.folded {
		for reason := range c.folded[mode] {
			c.folded[mode][reason] = f.Decided[reasonKeys[mode][reason]]
		}
	}
	c.repeated.Store(f.Repeated)
	for i := range c.past {
		if past, ok := f.Past[measureNames[i]]; ok {
			c.past[i] = past.restore(m)
		}
	}
	if f.Other {
		c.addTo(s.class(f.class))
		return
	}
	a := crawler.Agent{Class: f.class, Token: f.Name}
	if f.Known {
		a.Crawler = &crawler.Crawler{Name: clip(f.Name), Operator: f.Operator, Purpose: crawler.Purpose(f.Purpose)}
	}
	c.addTo(s.crawler(&a))
}

// restore adds the counts of a line, if there is room.
func (f *fileLine) restore(c *Counters) {
	rule := &Line{
		origin: enforce.Origin{Scheme: f.Scheme, Host: f.Host, Port: f.Port}, id: LineID(f.ID), site: c.site(f.Site),
		layer: f.layer, source: f.Source, reason: f.reason, group: clip(f.Group), text: clip(f.Text),
	}
	if rule = rule.site.addLine(c.hashLine(rule.id, rule.origin), rule); rule == nil {
		return
	}
	for mode := range rule.decided {
		for action := range rule.decided[mode] {
			rule.decided[mode][action].Add(f.Decided[modeNames[mode]+" "+enforce.Action(action).String()])
		}
	}
	rule.line.CompareAndSwap(0, f.Line)
	rule.last.Store(max(rule.last.Load(), min(f.Last, c.now().Unix())))
	h := f.Refused.restore(c.at)
	rule.refused.merge(&h)
}
