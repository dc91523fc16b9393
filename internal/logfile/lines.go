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

// lineReader reads lines of bounded length.
type lineReader struct {
	r      io.Reader
	buf    []byte
	begin  int   // of the part of buf that was not returned yet
	end    int   // of the part of buf that was read
	number int64 // of the last line, from 1
	err    error
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: r, buf: make([]byte, 256<<10)} }

// next returns the next line without its LF or CRLF. The problem is fine or tooLong;
// then the line has only its beginning. The line is valid until the next call. The
// error is io.EOF at the end.
func (l *lineReader) next() (line []byte, p logformat.Problem, err error) {
	searched := l.begin
	for {
		if i := bytes.IndexByte(l.buf[searched:l.end], '\n'); i >= 0 {
			line = l.buf[l.begin : searched+i]
			l.begin = searched + i + 1
			break
		}
		searched = l.end
		if l.end-l.begin > maxLine {
			p = logformat.TooLong
			line = append([]byte(nil), l.buf[l.begin:l.begin+512]...)
			if err := l.skipLine(); err != nil && !errors.Is(err, io.EOF) {
				return nil, logformat.None, err
			}
			break
		}
		if l.err != nil {
			if line = l.buf[l.begin:l.end]; len(line) == 0 {
				return nil, logformat.None, l.err
			}
			l.begin = l.end
			break
		}
		searched -= l.fill()
	}
	l.number++
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) > maxLine && p == logformat.None {
		p = logformat.TooLong
	}
	return line, p, nil
}

// fill reads more, and returns by how many octets it moved the content of buf.
func (l *lineReader) fill() (moved int) {
	if l.begin > 0 {
		moved = l.begin
		l.end = copy(l.buf, l.buf[l.begin:l.end])
		l.begin = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	l.err = err
	return moved
}

// skipLine skips the rest of a line that is too long.
func (l *lineReader) skipLine() error {
	for {
		if i := bytes.IndexByte(l.buf[l.begin:l.end], '\n'); i >= 0 {
			l.begin += i + 1
			return nil
		}
		l.begin, l.end = 0, 0
		if l.err != nil {
			return l.err
		}
		l.fill()
	}
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
