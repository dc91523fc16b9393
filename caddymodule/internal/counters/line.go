package counters

import (
	"encoding/binary"
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// maxLineText is the maximum length of the text of a rule that is kept, in octets.
const maxLineText = 256

// LineID identifies a line that decides. It does not depend on the line's number,
// so a rule that moves in the file keeps its counts. It is the same in every process.
type LineID uint64

// NewLineID returns the ID of a line. source is a number that the handler chooses
// for its source of rules, and group the first product token of the line's group.
//
//   - For an Allow or Disallow line, allow and pattern are the rule as the file
//     writes it, and reason is 0.
//   - For a rate limit, reason is CrawlDelay, RequestRate or VisitTime, and number
//     is 0, RateNumber or WindowNumber.
//   - For a line of a limit, pattern is its text.
//   - For a hidden path and for shed, number is the line of the configuration.
//     Otherwise it is 0.
func NewLineID(source uint64, layer judge.Layer, group string, allow bool, pattern string, reason judge.Reason, number uint64) LineID {
	var short [128]byte
	key := append(short[:0], 0)
	if allow {
		key[0] = 1
	}
	key = append(append(append(append(key, layer.String()...), 0), reason.String()...), 0)
	key = binary.BigEndian.AppendUint64(key, number)
	if len(key)+len(group)+1+len(pattern) > len(short) {
		return longLineID(source, key, group, pattern)
	}
	key = append(append(append(key, group...), 0), pattern...)
	return LineID(xxhash.Sum64(key) ^ source)
}

// longLineID is NewLineID for a rule that is too long for a key on the stack.
func longLineID(source uint64, key []byte, group, pattern string) LineID {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(key)
	_, _ = d.WriteString(group)
	_, _ = d.WriteString("\x00")
	_, _ = d.WriteString(pattern)
	return LineID(d.Sum64() ^ source)
}

// lineIDOf returns the ID of the line that made a decision.
func lineIDOf(source uint64, d *judge.Decision) LineID {
	switch {
	case d.Layer.Info().ByText:
		return NewLineID(source, d.Layer, "", false, d.RuleText(), 0, 0)
	case !d.Layer.Info().Published && d.Layer != judge.NoLayer:
		return NewLineID(source, d.Layer, "", false, "", 0, uint64(d.Line))
	case d.Reason.Info().Action == judge.Throttle || d.Rule.Line == 0:
		return NewLineID(source, d.Layer, d.Group.Token(), false, "", d.Reason, limitNumber(d))
	}
	return NewLineID(source, d.Layer, d.Group.Token(), d.Rule.Allow, d.Rule.Pattern, 0, 0)
}

// limitNumber returns the number, for NewLineID, of the line that throttled a
// request.
func limitNumber(d *judge.Decision) uint64 {
	is := func(line int) bool {
		layer, at := d.Rules.Origin(line)
		return layer == d.Layer && at == d.Line
	}
	switch d.Reason {
	case judge.RequestRate:
		for _, r := range d.Group.RequestRates() {
			if is(r.Line) {
				return RateNumber(r)
			}
		}
	case judge.VisitTime:
		for _, v := range d.Group.VisitTimes() {
			if is(v.Line) {
				return WindowNumber(v.Window)
			}
		}
	}
	return 0
}

// RateNumber returns a number that is the same for equal rates.
func RateNumber(r robots.RequestRate) uint64 {
	return uint64(r.Per)*0x9e3779b97f4a7c15 ^ uint64(r.Requests)<<22 ^ WindowNumber(r.Window)
}

// WindowNumber returns a number that is the same for equal windows.
func WindowNumber(w robots.Window) uint64 { return uint64(w.From)<<11 | uint64(w.To) }

// Line counts the decisions that one line made about requests to one origin.
type Line struct {
	lineFacts
	number  atomic.Int32                     // when it last decided
	last    atomic.Int64                     // when it last decided, in seconds since 1970
	decided [wouldThrottle + 1]atomic.Uint64 // by measure

	// Guarded by Counters.mu:
	refused history
	site    *Site // or host, if it has counters
}

// lineFacts says what a Line counts.
type lineFacts struct {
	ID     LineID
	Source uint64
	Origin judge.Origin
	Layer  judge.Layer
	Group  string // the first product token of its group; "" for a hidden path or a limit
	Text   string
	Reason judge.Reason
}

// refusals returns the number of requests that the line refused, or would have
// refused in monitor mode.
func (l *Line) refusals() (n uint64) {
	for m := denied; m <= wouldThrottle; m++ {
		n += l.decided[m].Load()
	}
	return n
}

// line returns the counters of a line, nil if there is no room. If there are none, it
// adds them for the line that facts returns.
func (s *Site) line(id LineID, origin judge.Origin, facts func() lineFacts) *Line {
	table := s.counters.lines
	hash := uint64(id) ^ maphash.String(s.counters.seed, origin.Host) ^ uint64(origin.Port)*0x9e3779b97f4a7c15 ^ uint64(len(origin.Scheme))
	is := func(l *Line) bool { return l.ID == id && l.Origin == origin }
	if found := table.find(hash, is); found != nil {
		return found
	}
	of := configured
	switch {
	case s.pattern != nil:
		if of = ofHost; !table.hasRoom(of) || !s.counters.takeRoom(lineSize) {
			return nil
		}
	case s.open:
		of = invented
	}
	return table.add(hash, of, is, func() *Line { return &Line{lineFacts: facts(), site: s} })
}

// factsOf describes the line that made a decision.
func factsOf(id LineID, d *judge.Decision, r *Request) lineFacts {
	f := lineFacts{ID: id, Source: r.Source, Origin: r.Origin, Layer: d.Layer, Reason: d.Reason}
	f.Origin.Host = strings.Clone(r.Origin.Host)
	if d.Layer.Info().Published {
		f.Group = clip(d.Group.Token())
	}
	if !d.Layer.Info().Secret && (!d.Layer.Info().Published || d.Reason.Info().Action != judge.Throttle) {
		f.Text = clip(d.RuleText())
	}
	return f
}

// count counts a decision of the line, which has the given number now.
func (l *Line) count(number int, o outcome, seconds int64) {
	l.decided[o.measure()].Add(1)
	if n := int32(number); l.number.Load() != n {
		l.number.Store(n)
	}
	if l.last.Load() < seconds {
		l.last.Store(seconds)
	}
}

// clip returns a copy of the first maxLineText octets of s, which may be a part of a file.
func clip(s string) string { return strings.Clone(s[:min(len(s), maxLineText)]) }
