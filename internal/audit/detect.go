package audit

import "bytes"

// sampleLines is the number of lines at the beginning of a file by which its format is
// detected.
const sampleLines = 200

// formats are the parsers of one file.
type formats struct {
	main parser
	// others are tried on lines that main cannot parse, because the format may change
	// in the middle of a file.
	others []parser
	mixed  bool // a parser of others has parsed a line
}

// newFormats detects the format of a sample of lines; it returns nil if no format
// fits.
func newFormats(sample [][]byte, times timeParser) *formats {
	common, fit := newCommonLog(sample, times)
	caddy := &caddyLog{times: times}
	w3c := &w3cLog{}
	candidates := []struct {
		p   parser
		fit int
	}{{caddy, count(&caddyLog{times: times}, sample)}, {w3c, count(&w3cLog{}, sample)}, {common, fit}}
	best := 0
	for i, c := range candidates {
		if c.fit > candidates[best].fit {
			best = i
		}
	}
	if candidates[best].fit == 0 {
		return nil
	}
	f := &formats{main: candidates[best].p}
	for i, c := range candidates {
		if i != best {
			f.others = append(f.others, c.p)
		}
	}
	return f
}

// count returns the number of lines of a sample that p parses as requests.
func count(p parser, sample [][]byte) int {
	n := 0
	var e entry
	for _, line := range sample {
		e.reset()
		if p.parse(line, &e) == fine {
			n++
		}
	}
	return n
}

// parse parses a line in the format of the file, or else in another format.
func (f *formats) parse(line []byte, e *entry) problem {
	if len(bytes.TrimSpace(line)) == 0 {
		return noRequest
	}
	if line[0] == 0 { // NUL octets are left if a rotation truncates a file that the server has open
		line = bytes.TrimLeft(line, "\x00")
		if len(line) == 0 {
			return noRequest
		}
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return hasNUL
	}
	p := f.main.parse(line, e)
	if p == fine || p == noRequest {
		return p
	}
	for _, other := range f.others {
		e.reset()
		if q := other.parse(line, e); q == fine {
			f.mixed = true
			return fine
		} else if q == noRequest && line[0] == '#' {
			return noRequest
		}
	}
	return p
}
