package dashboard

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// minCompressed is the minimum size of an answer to compress, in octets.
const minCompressed = 1 << 10

// compressor keeps an answer until it is complete, and compresses it for clients that
// accept gzip.
type compressor struct {
	http.ResponseWriter
	acceptsGzip bool
	status      int
	body        bytes.Buffer
}

func newCompressor(w http.ResponseWriter, r *http.Request) *compressor {
	return &compressor{ResponseWriter: w, acceptsGzip: acceptsGzip(r.Header.Get("Accept-Encoding")), status: http.StatusOK}
}

// acceptsGzip reports whether an Accept-Encoding field accepts gzip (RFC 9110, section
// 12.5.3).
func acceptsGzip(field string) bool {
	for coding := range strings.SplitSeq(field, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, isWeight := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
			return !isWeight || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// WriteHeader implements http.ResponseWriter.
func (c *compressor) WriteHeader(status int) { c.status = status }

// Write implements http.ResponseWriter.
func (c *compressor) Write(p []byte) (int, error) { return c.body.Write(p) }

// finish sends the answer. If the client has closed the connection, that is not an
// error.
func (c *compressor) finish() error {
	header := c.Header()
	header.Add("Vary", "Accept-Encoding")
	body := c.body.Bytes()
	if c.acceptsGzip && len(body) >= minCompressed {
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		if _, err := z.Write(body); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		body = small.Bytes()
		header.Set("Content-Encoding", "gzip")
		if etag := header.Get("Etag"); etag != "" && !strings.HasPrefix(etag, "W/") {
			header.Set("Etag", "W/"+etag) // weak, because the compressed octets are different
		}
	}
	if len(body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.ResponseWriter.WriteHeader(c.status)
	_, _ = c.ResponseWriter.Write(body)
	return nil
}
