package counters

import (
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// maxLineText is the maximum length of the text of a rule that is kept, in octets.
const maxLineText = 256

// LineID identifies a line that decides. It does not depend on the line's number,
// so a rule that moves in the file keeps its counts. It is the same in every process.
type LineID uint64

// Line is a line that decided about requests to one origin.
type Line struct {
	ID     LineID
	Source uint64 // Request.Source
	Origin judge.Origin
	Layer  judge.Layer
	Group  string // the first product token of its group; "" for a hidden path or a limit
	Text   string
	Reason judge.Reason
}

// NewLineID returns the ID of a line. source is a number that the handler chooses
// for its source of rules, and group the first product token of the line's group.
//
//   - For an Allow or Disallow line, allow and pattern are the rule as the file
//     writes it, and reason is 0.
//   - For a rate limit, reason is CrawlDelay, RequestRate or VisitTime. Number is the line, but
//     0 for a Crawl-delay, of which a group has one.
//   - For a line of a limit, pattern is its text.
//   - For a hidden path and for shed, number is the line of the configuration.
//     Otherwise it is 0.
func NewLineID(source uint64, layer judge.Layer, group string, allow bool, pattern string, reason judge.Reason, number int) LineID {
	var short [128]byte
	key := append(short[:0], 0)
	if allow {
		key[0] = 1
	}
	key = append(append(append(append(key, layer.String()...), 0), reason.String()...), 0)
	key = binary.BigEndian.AppendUint32(key, uint32(number))
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

// at returns a hash of a line at an origin.
func (id LineID) at(o judge.Origin) uint64 {
	return uint64(id) ^ xxhash.Sum64String(o.Host)*0x9e3779b97f4a7c15 ^ uint64(o.Port)<<8 ^ uint64(len(o.Scheme)) | 1
}

// lineIDOf returns the ID of the line that made a decision.
func lineIDOf(source uint64, d *judge.Decision) LineID {
	switch {
	case d.Layer.Info().ByText:
		return NewLineID(source, d.Layer, "", false, d.RuleText(), 0, 0)
	case !d.Layer.Info().Published && d.Layer != judge.NoLayer:
		return NewLineID(source, d.Layer, "", false, "", 0, d.Line)
	case d.Reason == judge.RequestRate || d.Reason == judge.VisitTime:
		return NewLineID(source, d.Layer, d.Group.Token(), false, "", d.Reason, d.Line)
	case d.Reason.Info().Action == judge.Throttle || d.Rule.Line == 0:
		return NewLineID(source, d.Layer, d.Group.Token(), false, "", d.Reason, 0)
	}
	return NewLineID(source, d.Layer, d.Group.Token(), d.Rule.Allow, d.Rule.Pattern, 0, 0)
}

// lineOf describes the line that made a decision.
func lineOf(d *judge.Decision, r *Request) *Line {
	l := &Line{ID: lineIDOf(r.Source, d), Source: r.Source, Origin: r.Origin, Layer: d.Layer, Reason: d.Reason}
	l.Origin.Host = strings.Clone(r.Origin.Host)
	if d.Layer.Info().Published {
		l.Group = clip(d.Group.Token())
	}
	if !d.Layer.Info().Secret && (!d.Layer.Info().Published || d.Reason.Info().Action != judge.Throttle) {
		l.Text = clip(d.RuleText())
	}
	return l
}

// clip returns a copy of the first maxLineText octets of s, which may be a part of a file.
func clip(s string) string { return strings.Clone(s[:min(len(s), maxLineText)]) }
