package audit

import (
	"cmp"
	"slices"
)

// maxOpen is the largest number of files that are read at the same time.
const maxOpen = 64

// sequence merges the lines of several logs in order of time. Files whose times overlap
// are interleaved.
type sequence struct {
	all     []*input
	waiting []*input // not begun yet, in the order of their first time
	active  []*input // each has a current line
}

// newSequence reads the beginning of each file to find its format and its first time,
// and sorts the files.
func newSequence(files []File, format string, times timeParser) (*sequence, error) {
	s := &sequence{}
	for _, f := range files {
		in := &input{file: f, format: format, times: times}
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

// peek finds the time of the first request and closes the file again. It does nothing
// for a file that can be opened only once.
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

// begin reads the first line of a waiting file and makes it active.
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

// next reads the next line of the file last and returns the file whose current line is
// the earliest; nil at the end. The line is valid until the next call.
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

// earliest returns the active file whose current line is the earliest.
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

// position returns the time of a file's current line. It is 0 for a line without a
// time, so that such a line is read at once.
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

// read returns the number of octets that were read from all files, before
// decompression.
func (s *sequence) read() int64 {
	n := int64(0)
	for _, in := range s.all {
		n += in.read()
	}
	return n
}
