package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Input describes a file that was read.
type Input struct {
	Name        string `json:"name"`
	Format      string `json:"format"`      // caddy-json, caddy-console, common, combined, vhost-common, vhost-combined, w3c or custom
	Compression string `json:"compression"` // gzip, zstd or ""
	Lines       int64  `json:"lines"`
	Requests    int64  `json:"requests"`
	Unreadable  int64  `json:"unreadable"`
	Period      Period `json:"period"`
	// Resolution is the resolution of its times in seconds, such as 1 or 0.001; that
	// of the coarsest time if they differ. It is 0 if it has no times.
	Resolution float64 `json:"resolution"`
	// Zone is true if it has times and all of them have a time zone.
	Zone bool `json:"zone"`
}

// UnreadableExample is a line that could not be read as a request.
type UnreadableExample struct {
	Input  string `json:"input"` // name of the file
	LineNo int64  `json:"line"`  // line in that file, from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // the beginning of the line, at most 200 octets; addresses and queries are masked unless Options.Full is set
}

// File is a log to read.
type File struct {
	Name string // for the report and for errors
	// Open opens the log. Run and Hosts call it several times, unless Once is set, and
	// close each reader that it returns.
	Open func() (io.ReadCloser, error)
	// Once is true if the log can be read only once, such as standard input.
	Once bool
}

// input is a log that is being read.
type input struct {
	file    File
	report  Input
	formats *formats
	times   timeParser
	format  string // Options.Format; "" to detect the format

	raw     io.ReadCloser // nil while it is closed
	counter *countingReader
	text    io.ReadCloser
	lines   *lineReader

	head     entry   // the request of the current line
	line     []byte  // the current line
	problem  problem // of the current line
	number   int64   // of the current line, from 1
	first    int64   // time of the first request; 0 if not known
	done     bool
	cut      error // why reading ended too early
	fields   int64 // requests for which the log has a User-Agent, even an empty one
	nonEmpty int64 // requests with a User-Agent that is not empty
	begin    int64 // the earliest time, in nanoseconds since 1970
	end      int64 // the latest time
	coarse   int64 // the coarsest resolution of its times
	zoneless int64 // requests whose time has no zone
}

// countingReader counts the octets before decompression.
type countingReader struct {
	io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// errFormat is the error for a log of an unknown format.
var errFormat = errors.New("has no known format: describe it with --format")

// errNoAgents is the error for a log without User-Agents.
var errNoAgents = errors.New("has no User-Agents: an audit needs them to find out which crawler sent a request")

// open opens the file and detects its format.
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

// detect detects the format by the beginning of the file.
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
		p, err := newCustomLog(in.format, in.times)
		if err != nil {
			return fmt.Errorf("format: %w", err)
		}
		in.formats = &formats{main: p}
	} else if in.formats = newFormats(sample, in.times); in.formats == nil {
		if len(sample) == 0 {
			in.formats = &formats{main: &commonLog{times: in.times, agents: true}} // an empty log
			return nil
		}
		return fmt.Errorf("%s %w", in.file.Name, errFormat)
	}
	if !in.formats.main.hasAgents() {
		return fmt.Errorf("%s %w (its format is %s)", in.file.Name, errNoAgents, in.formats.main.name())
	}
	return nil
}

// next reads and parses the next line. It returns false at the end.
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

// close closes the file if it is open.
func (in *input) close() {
	if in.text != nil {
		in.text.Close()
	}
	if in.raw != nil {
		in.raw.Close()
	}
	in.raw, in.text, in.lines = nil, nil, nil
}

// read returns the number of octets that were read from the file, before
// decompression.
func (in *input) read() int64 {
	if in.counter == nil {
		return 0
	}
	return in.counter.n
}
