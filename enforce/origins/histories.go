package origins

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

const maxHistoriesSize = 8 << 20 // octets of all texts

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
	kept[historyKey, *historyRecord]
	generation int
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
	current    judge.Content
	from       int64
	first      int64
	open       bool
	earlier    []versionRecord
}

type versionRecord struct {
	judge.Content
	from, until int64
	brief       bool
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
				latest = s.values[historyKey{key.handler, origin}].later(latest)
			}
		}
		return latest
	}
	for other, rec := range s.values {
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

// put stores a history under each of the keys.
func (s *Histories) put(keys []historyKey, generation int, h *History) {
	if s == nil {
		return
	}
	rec := newHistoryRecord(h)
	rec.generation = generation
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if old := s.values[key]; old == nil || old.generation <= generation {
			s.add(key, rec, maxHistoriesSize)
		}
	}
}

func newHistoryRecord(h *History) *historyRecord {
	rec := &historyRecord{current: h.Current.PublishedContent(), from: h.from, first: h.first, open: h.open}
	for i := range h.Earlier {
		v := &h.Earlier[i]
		rec.earlier = append(rec.earlier, versionRecord{v.Rules.PublishedContent(), v.From, v.To, v.Brief})
	}
	return rec
}

// Size returns the octets of the texts.
func (rec *historyRecord) Size() int64 {
	n := len(rec.current.Body)
	for i := range rec.earlier {
		n += len(rec.earlier[i].Body)
	}
	return int64(n)
}
