package origins

import (
	"cmp"
	"slices"
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Limits of histories.
const (
	maxHistories     = 10_000
	maxHistoriesSize = 8 << 20 // octets of all texts
)

// HandlerKey identifies where a robots.txt is enforced, so that after a reload the
// new configuration finds the earlier versions of the file.
type HandlerKey struct {
	// Hosts are the hosts for which requests can arrive. If there are none,
	// requests can arrive for any host.
	Hosts []string
	// Handler tells apart the handlers that each enforce a robots.txt for the
	// same host.
	Handler string
}

// Histories keeps the versions that each robots.txt had in the last
// GracePeriod. It outlives the engines that use it, so that the grace period of
// crawlers goes on after a reload. It holds at most 10,000 histories with 8
// MiB of text. It is safe for concurrent use. The zero value is empty. A nil Histories holds nothing.
type Histories struct {
	mu         sync.Mutex
	generation int
	size       int
	records    map[historyKey]*historyRecord
}

// historyKey identifies a history. If one file serves all origins of a place,
// the origin has only a host, or nothing.
type historyKey struct {
	handler string
	origin  judge.Origin
}

// historyRecord is a history that has texts in place of rules, because the
// next configuration may compile them by other rules.
type historyRecord struct {
	generation int // of the Table that stored it
	current    versionRecord
	from       int64
	open       bool
	earlier    []versionRecord
	periods    []period
}

type versionRecord struct {
	judge.Content
	version     uint64 // its name in periods
	from, until int64
	brief       bool
}

// Octets returns the octets of all texts.
func (s *Histories) Octets() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.size)
}

// begin returns the generation of a Table that stores histories from now on.
// A Table of an earlier generation can't overwrite them.
func (s *Histories) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	return s.generation
}

// get returns the latest of the records that fit one of the keys. A source that
// serves all origins also continues the histories of a source per origin, and
// the other way round: the operator may have changed the kind of source.
func (s *Histories) get(keys []historyKey, perOrigin bool) (latest *historyRecord) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if perOrigin {
		for _, key := range keys {
			for _, origin := range []judge.Origin{key.origin, {Host: key.origin.Host}, {}} {
				latest = s.records[historyKey{key.handler, origin}].later(latest)
			}
		}
		return latest
	}
	for other, rec := range s.records {
		of := func(key historyKey) bool {
			return other.handler == key.handler && (key.origin.IsZero() || other.origin.Host == key.origin.Host)
		}
		if slices.ContainsFunc(keys, of) {
			latest = rec.later(latest)
		}
	}
	return latest
}

// later returns the later one of two records. Each may be nil.
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

// put stores a history under each of the keys. If there are too many histories,
// or they are too large, it drops others, in no order.
func (s *Histories) put(keys []historyKey, generation int, h *History) {
	if s == nil {
		return
	}
	rec := newHistoryRecord(h)
	rec.generation = generation
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == nil {
		s.records = make(map[historyKey]*historyRecord)
	}
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

func newHistoryRecord(h *History) *historyRecord {
	current := versionRecord{Content: h.Current.PublishedContent(), version: h.Current.PathRules()}
	rec := &historyRecord{current: current, from: h.from, open: h.open, periods: h.periods}
	for i := range h.Earlier {
		v := &h.Earlier[i]
		rec.earlier = append(rec.earlier, versionRecord{v.Rules.PublishedContent(), v.Rules.PathRules(), v.From, v.To, v.Brief})
	}
	return rec
}

// size returns the octets of the texts.
func (rec *historyRecord) size() int {
	if rec == nil {
		return 0
	}
	n := len(rec.current.Body)
	for i := range rec.earlier {
		n += len(rec.earlier[i].Body)
	}
	return n
}
