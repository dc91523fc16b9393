package response

import (
	"bufio"
	"io"
	"net"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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
