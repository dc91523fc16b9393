package audit

import "time"

// Period is a period of time. Both fields are nil if no line has a time.
type Period struct {
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
}

// span is the time from the first to the last of several requests, in nanoseconds
// since 1970.
type span struct {
	first, last int64
	known       bool
}

// add extends the span to a time.
func (s *span) add(at int64) {
	if !s.known {
		*s = span{at, at, true}
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// merge extends the span to another one.
func (s *span) merge(o span) {
	if o.known {
		s.add(o.first)
		s.add(o.last)
	}
}

func (s *span) report() (p Period) {
	if s.known {
		p.From, p.To = utc(s.first), utc(s.last)
	}
	return p
}

// utc returns a time in nanoseconds since 1970 for the report.
func utc(nanos int64) *time.Time {
	t := time.Unix(0, nanos).UTC()
	return &t
}
