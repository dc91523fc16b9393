package response

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxHead is the maximal number of octets of a body that are held back and read.
const maxHead = 64 << 10

// document finds the media type of a response and the robots meta tags in the
// head of an HTML document, from the beginning of the body. The body may be
// compressed, because the handler runs outside `encode`. The zero value finds
// nothing.
type document struct {
	encoding string
	meta     bool   // the meta tags are needed, and not only the media type
	next     int    // the length of the body, in octets, at which it is read again
	media    string // the media type; "" until it is known
	sniffed  string // the detected Content-Type; "" if the response has one
	found    metaTags
}

// sniffLength is the number of octets that http.DetectContentType reads.
const sniffLength = 512

const (
	mediaHTML  = "text/html"
	mediaXHTML = "application/xhtml+xml"
)

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
// the response has none. With meta it looks for meta tags, otherwise only for the
// media type. It returns false if the encoding is not supported.
func (d *document) begin(encoding, media string, meta bool) bool {
	d.encoding, d.media, d.meta = encoding, media, meta
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
	d.found = d.found[:0]
	switch {
	case d.media == "":
		return false
	case d.meta && d.media == mediaHTML:
		return d.found.readHTML(text)
	case d.meta && d.media == mediaXHTML:
		return d.found.readXHTML(text)
	}
	return true
}
