package caddymodule

import (
	"bytes"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/headers"
)

// headScanner looks for robots meta tags in the beginning of a body that may be
// compressed, because the handler stands outside `encode`. The zero value
// looks at nothing.
type headScanner struct {
	scanner  *headers.HeadScanner
	encoding string
}

// decoders are those of the encodings that are looked into.
var decoders = map[string]func([]byte) (io.Reader, func(), error){
	"gzip": func(p []byte) (io.Reader, func(), error) {
		r, err := gzip.NewReader(bytes.NewReader(p))
		return r, func() {}, err
	},
	"zstd": func(p []byte) (io.Reader, func(), error) {
		r, err := zstd.NewReader(bytes.NewReader(p), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	},
}

// maxWindow bounds the memory that a zstd decoder may take: the 8 MB that
// RFC 9659 allows a server to ask for.
const maxWindow = 8 << 20

// begin starts to look at a body in an encoding. It reports whether that can be
// done.
func (s *headScanner) begin(encoding string) bool {
	if encoding != "" && decoders[encoding] == nil {
		return false
	}
	s.scanner, s.encoding = new(headers.HeadScanner), encoding
	return true
}

// scan looks at the newest piece of a body, all of which, so far, is held. It
// reports whether nothing more is to be found.
func (s *headScanner) scan(piece, held []byte) bool {
	if s.scanner == nil {
		return true
	}
	if s.encoding == "" {
		return s.scanner.Scan(piece)
	}
	r, done, err := decoders[s.encoding](held)
	if err != nil {
		return false // the beginning of the beginning
	}
	defer done()
	// What is cut off is an error at its end, and what came before it counts.
	text, _ := io.ReadAll(io.LimitReader(r, headers.MaxHead))
	s.scanner.Reset()
	return s.scanner.Scan(text)
}

// tags returns what was found.
func (s *headScanner) tags() []headers.Tag {
	if s.scanner == nil {
		return nil
	}
	return s.scanner.Tags()
}
