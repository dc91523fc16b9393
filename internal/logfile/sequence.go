package logfile

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// maxOpen is the largest number of files that are read at the same time.
const maxOpen = 64

// Sequence merges the lines of several logs in order of time. Logs whose times
// overlap are interleaved.
type Sequence struct {
	Logs    []*Log // in the order of their first time
	waiting []*Log // not begun yet
	active  []*Log // each has a current line
}

// NewSequence reads the beginning of each file to find its format and its first time, and
// sorts the files. Times without a zone are in zone; nil means UTC.
func NewSequence(files []File, zone *time.Location) (*Sequence, error) {
	s := &Sequence{}
	for _, f := range files {
		l := &Log{File: f, zone: zone}
		s.Logs = append(s.Logs, l)
		if err := l.open(); err != nil {
			s.Close()
			return nil, err
		}
		if len(files) > 1 && !f.Once {
			l.findFirst()
		}
	}
	slices.SortStableFunc(s.Logs, func(a, b *Log) int { return cmp.Compare(a.first, b.first) })
	for i, l := range s.Logs {
		l.Index = i
	}
	s.waiting = slices.Clone(s.Logs)
	return s, nil
}

// findFirst finds the time of the first request and closes the file again.
func (l *Log) findFirst() {
	for n := 0; n < sampleLines && l.Next(); n++ {
		if l.Problem == logformat.None && l.Entry.Timed {
			l.first = l.Entry.At
			break
		}
	}
	l.Close()
	l.Cut = nil
}

// begin reads the first line of a waiting file and makes it active.
func (s *Sequence) begin(l *Log) error {
	if l.lines == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.Next() {
		s.active = append(s.active, l)
		return nil
	}
	l.Close()
	return nil
}

// Lines reads all lines, the earliest first. It returns, for each, the log whose
// current line it is. An error is the last element.
func (s *Sequence) Lines() iter.Seq2[*Log, error] {
	return func(yield func(*Log, error) bool) {
		for {
			l := s.earliest()
			for len(s.waiting) > 0 && (l == nil || len(s.active) < maxOpen && s.waiting[0].first <= l.position()) {
				if err := s.begin(s.waiting[0]); err != nil {
					yield(nil, err)
					return
				}
				s.waiting = s.waiting[1:]
				l = s.earliest()
			}
			if l == nil || !yield(l, nil) {
				return
			}
			if !l.Next() {
				l.Close()
				s.active = slices.DeleteFunc(s.active, func(o *Log) bool { return o == l })
			}
		}
	}
}

// earliest returns the active log whose current line is the earliest.
func (s *Sequence) earliest() *Log {
	if len(s.active) == 0 {
		return nil
	}
	return slices.MinFunc(s.active, func(a, b *Log) int { return cmp.Compare(a.position(), b.position()) })
}

// position returns the time of the current line. It is 0 for a line without a time,
// so that such a line is read at once.
func (l *Log) position() int64 {
	if l.Problem != logformat.None || !l.Entry.Timed {
		return 0
	}
	return l.Entry.At
}

// Close closes all files.
func (s *Sequence) Close() {
	for _, l := range s.Logs {
		l.Close()
	}
}
