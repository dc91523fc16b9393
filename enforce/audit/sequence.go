package audit

import (
	"cmp"
	"slices"
)

// maxOpen is how many files are read at once.
const maxOpen = 64

// sequence gives the lines of several logs in order of time: rotated files one
// after the other, and files of the same time interleaved.
type sequence struct {
	all     []*input
	waiting []*input // not yet begun, in order of their first time
	active  []*input // each with a line ready
}

// newSequence looks at the beginning of each file, for its format and its first
// time, and puts them in order.
func newSequence(files []File, format string, zone zoneOf) (*sequence, error) {
	s := &sequence{}
	for _, f := range files {
		in := &input{file: f, format: format, zone: zone}
		in.report.Name = f.Name
		s.all = append(s.all, in)
		if err := in.open(); err != nil {
			s.close()
			return nil, err
		}
		if len(files) > 1 {
			if err := in.peek(); err != nil {
				s.close()
				return nil, err
			}
		}
	}
	slices.SortStableFunc(s.all, func(a, b *input) int { return cmp.Compare(a.first, b.first) })
	s.waiting = slices.Clone(s.all)
	return s, nil
}

// peek finds the time of the first request and closes the file again, unless it
// can be opened only once.
func (in *input) peek() error {
	if in.file.Once {
		return nil
	}
	for n := 0; n < sampleLines && in.next(); n++ {
		if in.problem == fine && in.head.timed {
			in.first = in.head.at
			break
		}
	}
	in.close()
	in.done, in.cut = false, nil
	return nil
}

// begin makes a file that waits an active one, with its first line ready.
func (s *sequence) begin(in *input) error {
	if in.lines == nil {
		if err := in.open(); err != nil {
			return err
		}
	}
	if in.next() {
		s.active = append(s.active, in)
		return nil
	}
	in.close()
	return nil
}

// next returns the file whose line comes next; nil at the end. The line holds
// until the next call.
func (s *sequence) next(last *input) (*input, error) {
	if last != nil && !last.next() {
		last.close()
		s.active = slices.DeleteFunc(s.active, func(in *input) bool { return in == last })
	}
	for {
		in := s.earliest()
		if len(s.waiting) == 0 || in != nil && (len(s.active) >= maxOpen || s.waiting[0].first > s.position(in)) {
			return in, nil
		}
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		if err := s.begin(w); err != nil {
			return nil, err
		}
	}
}

// earliest returns the active file whose line is the earliest.
func (s *sequence) earliest() *input {
	switch len(s.active) {
	case 0:
		return nil
	case 1:
		return s.active[0]
	}
	best := s.active[0]
	for _, in := range s.active[1:] {
		if s.position(in) < s.position(best) {
			best = in
		}
	}
	return best
}

// position is the time of a file's line. A line without one comes at once.
func (s *sequence) position(in *input) int64 {
	if in.problem != fine || !in.head.timed {
		return 0
	}
	return in.head.at
}

func (s *sequence) close() {
	for _, in := range s.all {
		in.close()
	}
}

// read is the number of octets that were read of all files.
func (s *sequence) read() int64 {
	n := int64(0)
	for _, in := range s.all {
		n += in.read()
	}
	return n
}
