package caddymodule

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// robotsTxtWriter is the ResponseWriter for a crawler's GET of /robots.txt. When
// the answer is 200 or 304, it records in the engine that the crawler has read
// the file. It does so before the first octet is sent, so that the crawler's next
// request is decided with this.
type robotsTxtWriter struct {
	*caddyhttp.ResponseWriterWrapper
	exchange *exchange
	engine   *enforce.Engine
	begun    bool
}

// newRobotsTxtWriter returns a robotsTxtWriter around w. It must not be used
// after x is released.
func newRobotsTxtWriter(w http.ResponseWriter, x *exchange, current *running) *robotsTxtWriter {
	return &robotsTxtWriter{&caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, x, current.Engine, false}
}

// WriteHeader implements http.ResponseWriter.
func (w *robotsTxtWriter) WriteHeader(status int) {
	if !w.begun && status >= 200 {
		w.begun = true
		if status == http.StatusOK || status == http.StatusNotModified {
			w.engine.RobotsRead(&w.exchange.Request, w.exchange.Rules)
		}
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *robotsTxtWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriterWrapper.Write(p)
}

// ReadFrom implements io.ReaderFrom.
func (w *robotsTxtWriter) ReadFrom(r io.Reader) (int64, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriterWrapper.ReadFrom(r)
}

// Interface guards
var (
	_ http.ResponseWriter = (*robotsTxtWriter)(nil)
	_ io.ReaderFrom       = (*robotsTxtWriter)(nil)
)
