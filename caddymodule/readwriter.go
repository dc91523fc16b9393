package caddymodule

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// readWriter is the ResponseWriter of a crawler's GET of /robots.txt. It has the
// engine note that the crawler reads the file: before the first octet is sent,
// so that whatever it asks for next is decided with that known.
type readWriter struct {
	*caddyhttp.ResponseWriterWrapper
	exchange *exchange
	engine   *enforce.Engine
	begun    bool
}

// newReadWriter returns a readWriter around w, for as long as x lives.
func newReadWriter(w http.ResponseWriter, x *exchange, now *running) *readWriter {
	return &readWriter{&caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, x, now.Engine, false}
}

// WriteHeader implements http.ResponseWriter. Only 200 and 304 are a read of the
// file.
func (w *readWriter) WriteHeader(status int) {
	if !w.begun && status >= 200 {
		w.begun = true
		if status == http.StatusOK || status == http.StatusNotModified {
			w.engine.RobotsRead(&w.exchange.Request, w.exchange.Policy)
		}
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *readWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriterWrapper.Write(p)
}

// ReadFrom implements io.ReaderFrom.
func (w *readWriter) ReadFrom(r io.Reader) (int64, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriterWrapper.ReadFrom(r)
}

// Interface guards
var (
	_ http.ResponseWriter = (*readWriter)(nil)
	_ io.ReaderFrom       = (*readWriter)(nil)
)
