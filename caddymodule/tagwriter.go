package caddymodule

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
)

// tagWriter adds X-Robots-Tag to a response when its header goes out, so that
// what the handlers behind it set is known.
type tagWriter struct {
	*caddyhttp.ResponseWriterWrapper
	match    headers.Match
	crawlers []string // tokens of the crawler that asked
	done     bool
}

func newTagWriter(w http.ResponseWriter, match headers.Match, d *enforce.Decision) *tagWriter {
	t := &tagWriter{ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, match: match}
	if d.Agent.Crawler != nil {
		t.crawlers = d.Agent.Crawler.Robots
	} else if d.Agent.Token != "" {
		t.crawlers = []string{d.Agent.Token}
	}
	return t
}

// WriteHeader adds the headers and sends them.
func (t *tagWriter) WriteHeader(status int) {
	t.apply(status)
	t.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body, and the header before the first one.
func (t *tagWriter) Write(p []byte) (int, error) {
	t.apply(http.StatusOK)
	return t.ResponseWriter.Write(p)
}

// ReadFrom sends a body without copying where the server can, and the header
// before it.
func (t *tagWriter) ReadFrom(r io.Reader) (int64, error) {
	t.apply(http.StatusOK)
	return t.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError sends what was written, and the header before.
func (t *tagWriter) FlushError() error {
	t.apply(http.StatusOK)
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// apply adds the headers once. Informational responses have none.
func (t *tagWriter) apply(status int) {
	if t.done || status < 200 {
		return
	}
	t.done = true
	t.match.Apply(t.Header(), status, t.crawlers)
}
