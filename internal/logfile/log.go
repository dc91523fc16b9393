package logfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// File is a log to read.
type File struct {
	Name string // for reports and errors
	// Open opens the log. It is called several times, unless Once is set. Each
	// reader that it returns is closed.
	Open func() (io.ReadCloser, error)
	// Once is true if the log can be read only once, such as standard input.
	Once bool
}

// Log is a File that is being read, and its current line.
type Log struct {
	File
	Index       int    // in Sequence.Logs
	Compression string // gzip, zstd or ""
	Format      *logformat.Format
	Cut         error // why reading ended too early

	Entry   logformat.Entry   // the request of the current line, if Problem is None
	Problem logformat.Problem // of the current line
	Line    []byte            // the current line; valid until the next call of Next
	Number  int64             // of the current line, from 1

	zone  *time.Location
	raw   io.ReadCloser // nil while it is closed
	text  io.ReadCloser
	lines *lineReader
	first int64 // time of the first request; 0 if not known
}

// ErrFormat is the error for a file that is no access log.
var ErrFormat = errors.New("has no known format: write Caddy's, combined or nginx's JSON")

// sampleLines is the number of lines at the beginning of a file by which its format
// is detected.
const sampleLines = 200

// maxSample is the largest size of a sample, in octets, with lines that are too
// long.
const maxSample = 16 << 20

// open opens the file and detects its format, if it is not known yet.
func (l *Log) open() error {
	raw, err := l.File.Open()
	if err != nil {
		return err
	}
	l.raw = raw
	l.text, l.Compression, err = decompress(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	if l.Format != nil {
		l.lines = newLineReader(l.text, lineBuffer)
		return nil
	}
	sample, read, err := readSample(l.text)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	l.lines = newLineReader(io.MultiReader(read, l.text), lineBuffer)
	return l.setFormat(sample)
}

// readSample reads the lines at the beginning of a file by which its format is
// detected. It also returns what it has read, with the beginning of each line
// that is too long.
func readSample(r io.Reader) (sample [][]byte, read io.Reader, err error) {
	reader, kept := newLineReader(r, 64<<10), &bytes.Buffer{}
	for size := 0; len(sample) < sampleLines && size < maxLine && kept.Len() < maxSample; {
		line, p, err := reader.next()
		if err != nil && !errors.Is(err, io.EOF) && len(sample) == 0 {
			return nil, nil, err
		}
		if err != nil {
			break
		}
		kept.Write(line)
		kept.WriteByte('\n')
		if p == logformat.None && len(line) > 0 {
			sample = append(sample, bytes.Clone(bytes.TrimLeft(line, "\x00")))
			size += len(line)
		}
	}
	rest, _ := reader.r.Peek(reader.r.Buffered())
	return sample, io.MultiReader(kept, bytes.NewReader(rest)), nil
}

// setFormat sets the format of a log with a sample of its lines.
func (l *Log) setFormat(sample [][]byte) error {
	l.Format = logformat.Detect(sample, l.zone)
	if l.Format != nil {
		return nil
	}
	if problem := logformat.Mismatch(sample[0]); problem != logformat.None {
		return fmt.Errorf("%s %w. Its first line %s", l.Name, ErrFormat, problem)
	}
	return fmt.Errorf("%s %w", l.Name, ErrFormat)
}

// Next reads and parses the next line. It returns false at the end.
func (l *Log) Next() bool {
	line, p, err := l.lines.next()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			l.Cut = err
		}
		return false
	}
	l.Line, l.Number = line, l.lines.number
	l.Entry.Reset()
	if p == logformat.None {
		p = l.Format.Parse(line, &l.Entry)
	}
	l.Problem = p
	return true
}

// Close closes the file if it is open.
func (l *Log) Close() {
	if l.text != nil {
		l.text.Close()
	}
	if l.raw != nil {
		l.raw.Close()
	}
	l.raw, l.text, l.lines = nil, nil, nil
}

// maxLine is the largest length of a line, in octets.
const maxLine = 1 << 20

// lineBuffer is the size of the buffer for lines. Longer ones are copied.
const lineBuffer = 256 << 10

var nul = []byte{0}

// lineReader reads lines of bounded length.
type lineReader struct {
	r      *bufio.Reader
	long   []byte // a line that is longer than the buffer of r
	number int64  // of the last line, from 1
}

func newLineReader(r io.Reader, buffer int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, buffer)}
}

// next returns the next line without its LF or CRLF. The problem is None or TooLong;
// then the line has only its beginning. The line is valid until the next call. The
// error is io.EOF at the end.
func (l *lineReader) next() (line []byte, p logformat.Problem, err error) {
	l.long = l.long[:0]
	for {
		line, err = l.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		if len(l.long) == 0 && bytes.Count(line, nul) == len(line) {
			continue // the beginning of a log that was truncated while a program wrote to it
		}
		if len(l.long) <= maxLine {
			l.long = append(l.long, line...)
		}
	}
	if len(l.long) > 0 {
		l.long = append(l.long, line...)
		line = l.long
	}
	if len(line) == 0 {
		return nil, logformat.None, err
	}
	l.number++
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(line) > maxLine {
		p = logformat.TooLong
	}
	return line, p, nil
}

// decompress detects by its first octets whether r is compressed. It returns the
// decompressed content and the name of the compression, "" without one.
func decompress(r io.Reader) (io.ReadCloser, string, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, "", err
		}
		return z, "gzip", nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(magic) == 4 && magic[0]&0xf0 == 0x50 &&
		bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, "", err
		}
		return z.IOReadCloser(), "zstd", nil
	}
	return io.NopCloser(b), "", nil
}
