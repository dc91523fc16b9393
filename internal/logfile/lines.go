package logfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

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
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, "", err
		}
		return z.IOReadCloser(), "zstd", nil
	}
	return io.NopCloser(b), "", nil
}
