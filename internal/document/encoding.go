package document

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// Decoded returns the content of a body with the Content-Encoding of a header, if that
// is gzip or x-gzip. For recipients they are the same (RFC 9110, section 8.4.1.3), but
// an http.Transport removes only gzip. With any other coding, Decoded returns body. The
// length of the content is not bounded.
func Decoded(header http.Header, body io.Reader) (io.Reader, error) {
	if coding := strings.ToLower(header.Get("Content-Encoding")); coding != "gzip" && coding != "x-gzip" {
		return body, nil
	}
	return gzip.NewReader(body)
}
