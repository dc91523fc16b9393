package enforce

import (
	"cmp"
	"slices"
	"sync"
)

// Bounds of the histories that a configuration leaves to the next one.
const (
	maxHistories     = 10_000
	maxHistoriesSize = 16 << 20 // octets of all texts
)

// Place identifies where a robots.txt is enforced, so that the next
// configuration can find out what was enforced there before.
type Place struct {
	// Hosts are those that requests can be for; none means any.
	Hosts []string
	// Handler distinguishes the handlers that enforce a robots.txt at the same
	// host.
	Handler string
}

// Histories keeps the versions that each robots.txt had in the last
// GracePeriod, also after an engine is closed. It is safe for concurrent use; a
// nil Histories holds nothing.
type Histories struct {
	mu         sync.Mutex
	generation int
	size       int
	records    map[historyKey]*historyRecord
}

// historyKey is a place and an origin of it. Where one file serves all origins
// of the place, the origin has no more than a host.
type historyKey struct {
	handler string
	origin  Origin
}

// historyRecord is a history as texts.
type historyRecord struct {
	generation int // of the engine that left it
	current    content
	from       int64
	earlier    []versionRecord
}

type versionRecord struct {
	content
	from, until int64
}

// NewHistories returns an empty Histories.
func NewHistories() *Histories { return &Histories{records: make(map[historyKey]*historyRecord)} }

// begin returns the number of an engine that leaves histories from now on: one
// that began earlier no longer does where it has.
func (s *Histories) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	return s.generation
}

// get returns the latest record at one of the keys. A file that serves all
// origins of a place goes on from those of single origins, and the other way
// round.
func (s *Histories) get(keys []historyKey, perOrigin bool) (latest *historyRecord) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		latest = s.records[key].later(latest)
		if perOrigin {
			latest = s.records[historyKey{key.handler, Origin{Host: key.origin.Host}}].later(latest)
			latest = s.records[historyKey{key.handler, Origin{}}].later(latest)
			continue
		}
		for other, rec := range s.records {
			if other.handler == key.handler && (other.origin.Host == key.origin.Host || key.origin.IsZero()) {
				latest = rec.later(latest)
			}
		}
	}
	return latest
}

// later returns the later one of two records, of which each may be nil.
func (rec *historyRecord) later(other *historyRecord) *historyRecord {
	switch {
	case rec == nil:
		return other
	case other == nil:
		return rec
	case cmp.Or(cmp.Compare(rec.generation, other.generation), cmp.Compare(rec.from, other.from)) > 0:
		return rec
	}
	return other
}

// put leaves a history under the keys. Where there are too many or they are too
// large, any others go.
func (s *Histories) put(keys []historyKey, generation int, h *history) {
	if s == nil {
		return
	}
	rec := newHistoryRecord(h)
	rec.generation = generation
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		old := s.records[key]
		if old != nil && old.generation > generation {
			continue
		}
		s.size += rec.size() - old.size()
		s.records[key] = rec
	}
	for key, old := range s.records {
		if len(s.records) <= maxHistories && s.size <= maxHistoriesSize {
			return
		}
		if !slices.Contains(keys, key) {
			s.size -= old.size()
			delete(s.records, key)
		}
	}
}

func newHistoryRecord(h *history) *historyRecord {
	rec := &historyRecord{current: h.current.asPublished(), from: h.from}
	for i := range h.earlier {
		v := &h.earlier[i]
		rec.earlier = append(rec.earlier, versionRecord{v.policy.asPublished(), v.from, v.until})
	}
	return rec
}

// asPublished returns the file that crawlers read, with the operator's lines.
func (p *Policy) asPublished() content {
	c := content{body: p.text, state: p.state, apart: true}
	if len(p.text) > 0 {
		c.state = Loaded
	}
	return c
}

// size returns the octets of the texts.
func (rec *historyRecord) size() int {
	if rec == nil {
		return 0
	}
	n := len(rec.current.body)
	for i := range rec.earlier {
		n += len(rec.earlier[i].body)
	}
	return n
}

// placesOf returns the keys under which e's history is left.
func (p *Policies) placesOf(e *entry) (keys []historyKey) {
	if p.source.PerOrigin() {
		return []historyKey{{p.place.Handler, e.origin}}
	}
	for _, host := range p.place.Hosts {
		keys = append(keys, historyKey{p.place.Handler, Origin{Host: host}})
	}
	if keys == nil {
		keys = []historyKey{{p.place.Handler, Origin{}}}
	}
	return keys
}
