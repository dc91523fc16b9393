package dashboard

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// leastCompressed is the least size of an answer that is worth compressing.
const leastCompressed = 1 << 10

// compressor holds an answer until it is complete, and compresses it for
// clients that take gzip.
type compressor struct {
	http.ResponseWriter
	takesGzip bool
	status    int
	body      bytes.Buffer
}

func newCompressor(w http.ResponseWriter, r *http.Request) *compressor {
	return &compressor{ResponseWriter: w, takesGzip: takesGzip(r.Header.Get("Accept-Encoding")), status: http.StatusOK}
}

// takesGzip reads an Accept-Encoding field (RFC 9110, section 12.5.3).
func takesGzip(field string) bool {
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

// finish sends the answer. That the client may be gone is no error.
func (c *compressor) finish() error {
	header := c.Header()
	header.Add("Vary", "Accept-Encoding")
	body := c.body.Bytes()
	if c.takesGzip && len(body) >= leastCompressed {
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
			header.Set("Etag", "W/"+etag) // the octets are others
		}
	}
	if len(body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.ResponseWriter.WriteHeader(c.status)
	_, _ = c.ResponseWriter.Write(body)
	return nil
}
