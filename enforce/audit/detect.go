package audit

import "bytes"

// sampleLines is how many lines at the beginning of a file its format is found
// out by.
const sampleLines = 200

// formats are the parsers of one file.
type formats struct {
	main parser
	// others are tried on lines that main can't read: the format of a log can
	// change in the middle of a file.
	others []parser
	mixed  bool // another one than main has read a line
}

// newFormats finds out the format of a sample of lines, nil where none fits.
func newFormats(sample [][]byte, zone zoneOf) *formats {
	common, fit := newCommonLog(sample, zone)
	caddy := &caddyLog{zone: zone}
	w3c := &w3cLog{}
	candidates := []struct {
		p   parser
		fit int
	}{{caddy, count(&caddyLog{zone: zone}, sample)}, {w3c, count(&w3cLog{}, sample)}, {common, fit}}
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

// count returns how many lines of a sample are requests of a format.
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

// parse reads a line in the file's format, or else in another one.
func (f *formats) parse(line []byte, e *entry) problem {
	if len(bytes.TrimSpace(line)) == 0 {
		return noRequest
	}
	if line[0] == 0 { // left by a rotation that truncates the file which the server writes to
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
