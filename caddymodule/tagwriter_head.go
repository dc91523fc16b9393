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

// encodedHead finds the media type of a response and the robots meta tags in the
// head of an HTML document, from the beginning of the body. The body may be
// compressed, because the handler runs outside `encode`. The zero value finds
// nothing.
type encodedHead struct {
	scanner  *headers.HeadScanner // nil if not begun, or if only the media type is needed
	encoding string
	scanned  int    // octets of the body that were scanned; only without an encoding
	next     int    // the length of the body, in octets, at which it is decoded again
	media    string // the media type; "" until it is known
	sniffed  string // the detected Content-Type; "" if the response has one
}

// sniffLength is the number of octets that http.DetectContentType looks at.
const sniffLength = 512

// decoders has a decoder for each supported encoding. A decoder returns the
// beginning of the decoded body. A body that is cut off is no error.
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

// maxWindow bounds the memory of a zstd decoder: RFC 9659 allows windows of up
// to 8 MB.
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

// begin prepares for a body with an encoding and a media type; either is "" if
// the response has none. With meta it looks for meta tags, otherwise only for the
// media type. It returns false if the encoding is not supported.
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

// scan reads body, which is the whole body so far; last means that no more
// follows. It returns true when it has found everything.
//
// An encoded body is decoded from its beginning each time its length has
// doubled. So the total work is linear in the length, even if the body arrives
// in small pieces.
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

// sniff detects the media type from the decoded beginning of the body, in the
// same way as browsers do. It returns true when the media type is known.
func (h *encodedHead) sniff(text []byte, last bool) bool {
	if h.media == "" && len(text) > 0 && (last || len(text) >= sniffLength) {
		h.sniffed = http.DetectContentType(text) // never XHTML
		h.media = mediaType(h.sniffed)
	}
	return h.media != ""
}

// isDocument reports whether the body is a document whose head is scanned.
func (h *encodedHead) isDocument() bool {
	return h.scanner != nil && (h.media == mediaHTML || h.media == mediaXHTML)
}

// tags returns the meta tags that were found.
func (h *encodedHead) tags() []headers.Tag {
	if h.scanner == nil {
		return nil
	}
	return h.scanner.Tags()
}
