package caddymodule

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/headers"
)

// encodedHead reads the beginning of a body that may be compressed, because the
// handler stands outside `encode`: for its media type, and for the robots meta
// tags in the head of a document. The zero value reads nothing.
type encodedHead struct {
	scanner  *headers.HeadScanner // nil: not begun, or only the media type matters
	encoding string
	scanned  int    // octets of the body that the scanner has seen; without an encoding
	next     int    // octets that the body has to have to be decoded once more
	media    string // the media type; "" until it is known
	sniffed  string // the Content-Type that shows in the body; "" if the response has one
}

// sniffLength is how many octets of a body tell its media type
// (http.DetectContentType).
const sniffLength = 512

// decoders decode the beginning of a body, for each encoding that is read. What
// is cut off is an error at its end, and what came before it counts.
var decoders = map[string]func(body []byte) []byte{"gzip": decodeGzip, "zstd": decodeZstd}

// gzipReaders are reused: each has a window of 32 KB.
var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

func decodeGzip(body []byte) []byte {
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(body)); err != nil {
		return nil
	}
	return beginning(r)
}

// maxWindow bounds the memory that a zstd decoder may take: the 8 MB that
// RFC 9659 allows a server to ask for.
const maxWindow = 8 << 20

func decodeZstd(body []byte) []byte {
	r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return nil
	}
	defer r.Close()
	return beginning(r)
}

// beginning returns the data of r, up to headers.MaxHead octets.
func beginning(r io.Reader) []byte {
	text, _ := io.ReadAll(io.LimitReader(r, headers.MaxHead))
	return text
}

// begin starts to read a body in an encoding and of a media type, "" if the
// response has none, for its meta tags or else for its media type alone. It
// reports whether that can be done.
func (h *encodedHead) begin(encoding, media string, meta bool) bool {
	if encoding != "" && decoders[encoding] == nil {
		return false
	}
	h.encoding, h.media = encoding, media
	if meta {
		h.scanner = &headers.HeadScanner{XHTML: media == mediaXHTML}
	}
	return true
}

const (
	mediaHTML  = "text/html"
	mediaXHTML = "application/xhtml+xml"
)

// scan reads body, which is all that there is of it so far; last says that no
// more comes. It reports whether nothing more is to be found.
//
// What is encoded is decoded from its beginning each time that it has doubled,
// so that the work is linear in the body however small its pieces are.
func (h *encodedHead) scan(body []byte, last bool) bool {
	if h.encoding == "" {
		if !h.sniff(body, last) {
			return false
		}
		piece := body[h.scanned:]
		h.scanned = len(body)
		return !h.isDocument() || h.scanner.Scan(piece)
	}
	if len(body) < h.next && !last {
		return false
	}
	h.next = max(sniffLength, 2*len(body))
	text := decoders[h.encoding](body)
	if !h.sniff(text, last) {
		return false
	}
	if !h.isDocument() {
		return true
	}
	h.scanner.Reset()
	return h.scanner.Scan(text)
}

// sniff finds out the media type from the body's decoded beginning, as a
// browser does for a response without one. It reports whether it is known.
func (h *encodedHead) sniff(text []byte, last bool) bool {
	if h.media == "" && len(text) > 0 && (last || len(text) >= sniffLength) {
		h.sniffed = http.DetectContentType(text) // never XHTML
		h.media = mediaType(h.sniffed)
	}
	return h.media != ""
}

// isDocument reports whether there is a head to look at.
func (h *encodedHead) isDocument() bool {
	return h.scanner != nil && (h.media == mediaHTML || h.media == mediaXHTML)
}

// tags returns what was found.
func (h *encodedHead) tags() []headers.Tag {
	if h.scanner == nil {
		return nil
	}
	return h.scanner.Tags()
}
