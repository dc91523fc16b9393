package response

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// readWriter is the ResponseWriter for a crawler's GET of /robots.txt.
type readWriter struct {
	caddyhttp.ResponseWriterWrapper
	engine  *enforce.Engine
	request *enforce.Request
	rules   *enforce.Rules
	begun   bool
}

// RecordRead returns a ResponseWriter around w for a crawler's GET of
// /robots.txt. When the answer is 200 or 304, it records in the engine that the
// crawler has read the file. It does so before the first octet is sent, so that
// the crawler's next request is decided with this. It must not be used after
// request is reused.
func RecordRead(w http.ResponseWriter, engine *enforce.Engine, request *enforce.Request, rules *enforce.Rules) http.ResponseWriter {
	return &readWriter{caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, engine, request, rules, false}
}

// WriteHeader implements http.ResponseWriter.
func (w *readWriter) WriteHeader(status int) {
	if !w.begun && status >= 200 {
		w.begun = true
		if status == http.StatusOK || status == http.StatusNotModified {
			w.engine.RobotsRead(w.request, w.rules)
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
