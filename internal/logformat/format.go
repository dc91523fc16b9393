package logformat

import (
	"bytes"
	"slices"
	"time"
)

// Format parses the lines of one log. It is not safe for concurrent use.
type Format struct {
	main parser
	// others are tried on lines that main cannot parse, because the format may
	// change in the middle of a log.
	others []parser
	mixed  bool // a parser of others has parsed a line
}

// parser parses the lines of one format.
type parser interface {
	// parse parses a line without its line end into e, which has been reset.
	parse(line []byte, e *Entry) Problem
	// name returns the name of the format for reports.
	name() string
	// hasAgents reports whether the format has User-Agents.
	hasAgents() bool
}

// Detect returns the format of a log by a sample of its first lines, and nil if no
// known format fits. Times without a zone are in zone; nil means UTC. For an empty
// sample, it returns the combined format.
func Detect(sample [][]byte, zone *time.Location) *Format {
	times := timeParser{zone: zone}
	if len(sample) == 0 {
		return &Format{main: &commonLog{times: times, agents: true}}
	}
	common, fit := newCommonLog(sample, times)
	parsers := []parser{&caddyLog{times: times}, &w3cLog{}, common}
	fits := []int{count(&caddyLog{times: times}, sample), count(&w3cLog{}, sample), fit}
	best := slices.Index(fits, slices.Max(fits))
	if fits[best] == 0 {
		return nil
	}
	return &Format{main: parsers[best], others: slices.Delete(slices.Clone(parsers), best, best+1)}
}

// count returns the number of lines of a sample that p parses as requests.
func count(p parser, sample [][]byte) int {
	n := 0
	var e Entry
	for _, line := range sample {
		e.Reset()
		if p.parse(line, &e) == None {
			n++
		}
	}
	return n
}

// Name returns the name of the format: caddy-json, caddy-console, common or
// combined, with vhost- before or -vhost after it if the lines have the host, w3c
// or custom. It may depend on the lines parsed so far.
func (f *Format) Name() string { return f.main.name() }

// HasUserAgents reports whether the format has User-Agents.
func (f *Format) HasUserAgents() bool { return f.main.hasAgents() }

// Mixed reports whether a line had another format than the one that was detected.
func (f *Format) Mixed() bool { return f.mixed }

// Parse parses a line without its line end into e, which must have been reset.
func (f *Format) Parse(line []byte, e *Entry) Problem {
	if len(bytes.TrimSpace(line)) == 0 {
		return NoRequest
	}
	if line[0] == 0 { // NUL octets are left if a rotation truncates a file that the server has open
		line = bytes.TrimLeft(line, "\x00")
		if len(line) == 0 {
			return NoRequest
		}
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return hasNUL
	}
	p := f.main.parse(line, e)
	if p == None || p == NoRequest {
		return p
	}
	for _, other := range f.others {
		e.Reset()
		if q := other.parse(line, e); q == None {
			f.mixed = true
			return None
		} else if q == NoRequest && line[0] == '#' {
			return NoRequest
		}
	}
	return p
}
