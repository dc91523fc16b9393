package response

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/klauspost/compress/zstd"
)

// maxHead is the maximal number of octets of a body that are held back and read.
const maxHead = 64 << 10

// HeadReader finds X-Robots-Tag headers in the beginning of a document.
type HeadReader interface {
	// Wants reports whether documents of a media type are read; "" for one that is not known
	// yet.
	Wants(media string) bool
	// Read reads the beginning of the document anew. It returns true if it needs no more.
	Read(media string, beginning []byte) (ends bool)
	// Tags returns what was found.
	Tags() []headers.Tag
}

// document finds the media type of a response, and what a HeadReader finds in the
// beginning of the body. The body may be compressed, because the handler runs outside
// `encode`. The zero value finds nothing.
type document struct {
	encoding string
	reader   HeadReader // nil if only the media type is needed
	next     int        // the length of the body, in octets, at which it is read again
	media    string     // the media type; "" until it is known
	sniffed  string     // the detected Content-Type; "" if the response has one
}

// sniffLength is the number of octets that http.DetectContentType reads.
const sniffLength = 512

// mediaType returns the media type in a Content-Type value.
func mediaType(value string) string {
	media, _, _ := mime.ParseMediaType(value)
	return media
}

// decoders has a decoder for each supported encoding. A decoder returns the
// beginning of the decoded body. A body that is cut off is no error.
var decoders = map[string]func(body []byte) []byte{
	"":       func(body []byte) []byte { return body },
	"gzip":   decodeGzip,
	"x-gzip": decodeGzip, // RFC 9110, section 8.4.1.3
	"zstd":   decodeZstd,
}

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
	r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return nil
	}
	defer r.Close()
	return beginning(r)
}

// beginning returns the data of r, up to maxHead octets.
func beginning(r io.Reader) []byte {
	text, _ := io.ReadAll(io.LimitReader(r, maxHead))
	return text
}

// begin prepares for a body with an encoding and a media type; either is "" if
// the response has none. Without a reader it looks only for the media type. It returns false
// if the encoding is not supported.
func (d *document) begin(encoding, media string, reader HeadReader) bool {
	d.encoding, d.media, d.reader = encoding, media, reader
	return decoders[encoding] != nil
}

// read reads body, which is the whole body so far; last means that no more
// follows. It returns true when it has found everything.
//
// A body is read from its beginning each time its length has doubled. So the
// total work is linear in the length, even if the body arrives in small pieces.
func (d *document) read(body []byte, last bool) bool {
	if len(body) < d.next && !last {
		return false
	}
	d.next = max(sniffLength, 2*len(body))
	text := decoders[d.encoding](body)
	if d.media == "" && len(text) > 0 && (last || len(text) >= sniffLength) {
		d.sniffed = http.DetectContentType(text) // as browsers do; never XHTML
		d.media = mediaType(d.sniffed)
	}
	if d.media == "" || d.reader == nil || !d.reader.Wants(d.media) {
		return d.media != ""
	}
	return d.reader.Read(d.media, text)
}

// tags returns what the reader found.
func (d *document) tags() []headers.Tag {
	if d.reader == nil {
		return nil
	}
	return d.reader.Tags()
}
