package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// File is a log to read.
type File struct {
	Name string
	// Open opens it. It is called twice, unless Once is set: first for its
	// beginning.
	Open func() (io.ReadCloser, error)
	Once bool
}

// input is a log that is being read.
type input struct {
	file    File
	report  Input
	formats *formats
	zone    zoneOf
	format  string // the operator's notation; "" for finding out

	raw     io.ReadCloser // nil while it is closed
	counter *countingReader
	text    io.ReadCloser
	lines   *lineReader

	head     entry   // the request that comes next
	line     []byte  // it as it stands in the log
	problem  problem // of head: fine, or what is wrong with the line
	number   int64   // of line
	first    int64   // time of the first request, 0 where it has none
	done     bool
	cut      error // why reading ended too early
	fields   int64 // requests of which the log tells the User-Agent
	nonEmpty int64 // requests with one
	begin    int64 // the first time
	end      int64 // the last
	coarse   int64 // the coarsest resolution of its times
	zoneless int64 // requests whose time has no zone
}

// countingReader counts the octets that are read, before they are decompressed.
type countingReader struct {
	io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// errFormat is a log whose format nobody knows.
var errFormat = errors.New("is in no format that is known: name it with --format")

// errNoAgents is a log without User-Agents.
var errNoAgents = errors.New("has no User-Agents: who sent a request can't be told")

// open opens the file and finds out its format.
func (in *input) open() error {
	raw, err := in.file.Open()
	if err != nil {
		return err
	}
	in.raw = raw
	in.counter = &countingReader{Reader: raw}
	text, compression, err := decompress(in.counter)
	if err != nil {
		return fmt.Errorf("%s: %w", in.file.Name, err)
	}
	in.text, in.report.Compression = text, compression
	sample := &bytes.Buffer{}
	if err := in.detect(io.TeeReader(text, sample)); err != nil {
		return err
	}
	in.lines = newLineReader(io.MultiReader(sample, text))
	return nil
}

// detect finds out the format by the beginning of the file.
func (in *input) detect(r io.Reader) error {
	reader := newLineReader(r)
	reader.buf = make([]byte, 64<<10)
	var sample [][]byte
	for size := 0; len(sample) < sampleLines && size < maxLine; {
		line, p, err := reader.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && len(sample) == 0 {
				return fmt.Errorf("%s: %w", in.file.Name, err)
			}
			break
		}
		if p == fine && len(line) > 0 {
			line = bytes.TrimLeft(line, "\x00")
			sample = append(sample, bytes.Clone(line))
			size += len(line)
		}
	}
	if in.formats != nil {
		return nil
	}
	if in.format != "" {
		p, err := newCustomLog(in.format, in.zone)
		if err != nil {
			return fmt.Errorf("format: %w", err)
		}
		in.formats = &formats{main: p}
	} else if in.formats = newFormats(sample, in.zone); in.formats == nil {
		if len(sample) == 0 {
			in.formats = &formats{main: &commonLog{zone: in.zone, agents: true}} // an empty log
			return nil
		}
		return fmt.Errorf("%s %w", in.file.Name, errFormat)
	}
	if !in.formats.main.hasAgents() {
		return fmt.Errorf("%s %w (its format is %s)", in.file.Name, errNoAgents, in.formats.main.name())
	}
	return nil
}

// next reads the next line that is to be counted. It reports false at the end.
func (in *input) next() bool {
	if in.done {
		return false
	}
	line, p, err := in.lines.next()
	if err != nil {
		in.done = true
		if !errors.Is(err, io.EOF) {
			in.cut = err
		}
		return false
	}
	in.line, in.number = line, in.lines.number
	in.head.reset()
	if p == fine {
		p = in.formats.parse(line, &in.head)
	}
	in.problem = p
	return true
}

// close closes what is open.
func (in *input) close() {
	if in.text != nil {
		in.text.Close()
	}
	if in.raw != nil {
		in.raw.Close()
	}
	in.raw, in.text, in.lines = nil, nil, nil
}

// read is the number of octets that were read of the file, as it is stored.
func (in *input) read() int64 {
	if in.counter == nil {
		return 0
	}
	return in.counter.n
}
