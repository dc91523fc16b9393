package response

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/cespare/xxhash/v2"
)

// Head is a ResponseWriter that tells an Observer when the response begins: before
// its header is sent, except for those with an informational status, or when the
// connection is taken over. It keeps all methods of the ResponseWriter that it
// wraps. The zero value must be prepared with Watch.
type Head struct {
	caddyhttp.ResponseWriterWrapper
	observer Observer // nil after the call
	// Hijacked is set when the connection was taken over.
	Hijacked bool
}

// Observer learns when a response begins.
type Observer interface {
	// Answered is called once.
	Answered(status int, header http.Header)
}

// Watch returns h, as a ResponseWriter around w.
func (h *Head) Watch(w http.ResponseWriter, o Observer) http.ResponseWriter {
	h.ResponseWriter, h.observer = w, o
	return h
}

// begin tells the observer that the header with a status is sent now. h may be nil.
func (h *Head) begin(status int) {
	if h == nil || h.observer == nil || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	o := h.observer
	h.observer = nil
	o.Answered(status, h.Header())
}

// WriteHeader implements http.ResponseWriter.
func (h *Head) WriteHeader(status int) {
	h.begin(status)
	h.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (h *Head) Write(p []byte) (int, error) {
	h.begin(http.StatusOK)
	return h.ResponseWriter.Write(p)
}

// ReadFrom implements io.ReaderFrom, so that the server can send a file without
// copying it.
func (h *Head) ReadFrom(r io.Reader) (int64, error) {
	h.begin(http.StatusOK)
	return h.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError sends the header, if it was not sent.
func (h *Head) FlushError() error {
	h.begin(http.StatusOK)
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Hijack takes the connection over.
func (h *Head) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.begin(http.StatusSwitchingProtocols)
	h.Hijacked = true
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// Interface guards
var (
	_ http.Hijacker = (*Head)(nil)
	_ io.ReaderFrom = (*Head)(nil)
)

// ReadWriter is the ResponseWriter for a crawler's GET of /robots.txt. It finds
// out whether the crawler got the whole file, and which one.
type ReadWriter struct {
	Head
	status  int   // 0 before the header is written
	length  int64 // Content-Length; -1 if it is not known
	written int64
	failed  bool
	hash    xxhash.Digest // of the first maxHashed octets
}

// maxHashed is more octets than a robots.txt that is enforced may have.
const maxHashed = 1 << 20

// NewReadWriter returns a ReadWriter around w.
func NewReadWriter(w http.ResponseWriter) *ReadWriter {
	read := &ReadWriter{length: -1}
	read.Watch(w, read)
	read.hash.Reset()
	return read
}

// Sent returns the hash (XXH64) of the file that the client got. It returns 0 if
// that is not known, because there was no body, or it was encoded or too long.
func (w *ReadWriter) Sent() uint64 {
	if w.status != http.StatusOK || w.written > maxHashed || w.Header().Get("Content-Encoding") != "" {
		return 0
	}
	return w.hash.Sum64()
}

// Read reports, after the handler has answered r, whether the client has read
// the file: the status is 200 or 304, and nothing of the answer was lost. The
// answer to a range, with status 206, is not the file.
func (w *ReadWriter) Read(r *http.Request) bool {
	switch {
	case w.failed || r.Context().Err() != nil:
		return false
	case w.status == http.StatusOK:
		return w.length < 0 || w.written == w.length
	}
	return w.status == 0 || w.status == http.StatusNotModified
}

// Answered implements Observer.
func (w *ReadWriter) Answered(status int, header http.Header) {
	w.status = status
	if n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64); err == nil {
		w.length = n
	}
}

// Write implements http.ResponseWriter.
func (w *ReadWriter) Write(p []byte) (int, error) {
	if w.written <= maxHashed {
		_, _ = w.hash.Write(p)
	}
	n, err := w.Head.Write(p)
	return n, w.note(int64(n), err)
}

// ReadFrom implements io.ReaderFrom.
func (w *ReadWriter) ReadFrom(r io.Reader) (int64, error) {
	n, err := w.Head.ReadFrom(io.TeeReader(r, &w.hash))
	return n, w.note(n, err)
}

// note counts the octets of a write. It returns err.
func (w *ReadWriter) note(n int64, err error) error {
	w.written += n
	w.failed = w.failed || err != nil
	return err
}

// Interface guard
var _ io.ReaderFrom = (*ReadWriter)(nil)
