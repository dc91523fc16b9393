package caddymodule

import (
	"io"
	"mime"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
)

// tagWriter adds headers to a response when its header goes out, so that what
// the handlers behind it set is known. Where more has to be known, the media
// type that shows in the first octets of the body or what the document's own
// head says, it holds the header and the body's beginning until then: up to
// headers.MaxHead octets, and never past a flush.
type tagWriter struct {
	caddyhttp.ResponseWriterWrapper
	match    headers.Match
	spoken   spoken
	target   string
	crawlers []string // tokens of the crawler that asked
	body     bool     // whether the response to this method has a body
	sniff    bool     // whether the media type matters
	meta     bool     // whether the document's head matters

	status  int // 0 until there is one
	sent    bool
	held    []byte
	scanner headScanner
}

// newTagWriter returns a writer that adds what the match, and what robots.txt
// says, ask for.
func (h *Handler) newTagWriter(w http.ResponseWriter, r *http.Request, target string, match headers.Match, s spoken, d *enforce.Decision) *tagWriter {
	t := &tagWriter{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		match:                 match,
		spoken:                s,
		target:                target,
		body:                  r.Method != http.MethodHead,
		sniff:                 h.tags.NeedsResponse(),
		meta:                  isOn(h.MetaRobots) && r.Method == http.MethodGet,
	}
	if d.Agent.Crawler != nil {
		t.crawlers = d.Agent.Crawler.Robots
	} else if d.Agent.Token != "" {
		t.crawlers = []string{d.Agent.Token}
	}
	return t
}

// WriteHeader sends the header, unless more has to be known for it.
func (t *tagWriter) WriteHeader(status int) {
	if status < 200 { // informational, or a protocol switched
		t.ResponseWriter.WriteHeader(status)
		return
	}
	if t.status != 0 {
		return
	}
	t.status = status
	if !t.holds() {
		t.send()
	}
}

// holds reports whether the beginning of the body has to be seen.
func (t *tagWriter) holds() bool {
	if !t.body || t.status == http.StatusNoContent || t.status == http.StatusNotModified {
		return false
	}
	_, typed := t.Header()["Content-Type"]
	switch {
	case t.meta && t.status < 300 && t.status != http.StatusPartialContent && (!typed || t.isHTML()):
		return t.scanner.begin(t.Header().Get("Content-Encoding"))
	default:
		return t.sniff && !typed && t.Header().Get("Content-Encoding") == ""
	}
}

func (t *tagWriter) isHTML() bool {
	media, _, _ := mime.ParseMediaType(t.Header().Get("Content-Type"))
	return media == "text/html" || media == "application/xhtml+xml"
}

// send adds the headers and sends them.
func (t *tagWriter) send() {
	t.sent = true
	h := t.Header()
	t.match.Apply(h, t.status, t.crawlers)
	if t.status != http.StatusNotModified {
		if !t.spoken.noindex.Directives.Empty() {
			headers.AddTags(h, []headers.Tag{t.spoken.noindex})
		}
		if tags := t.scanner.tags(); len(tags) > 0 {
			headers.AddTags(h, tags)
		}
	}
	t.spoken.signals.Apply(h, t.target, t.status)
	t.ResponseWriter.WriteHeader(t.status)
}

// Write sends a part of the body, or holds it as long as need be.
func (t *tagWriter) Write(p []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if t.sent {
		return t.ResponseWriter.Write(p)
	}
	if !t.enough(p[:min(len(p), headers.MaxHead-len(t.held))]) && len(t.held)+len(p) < headers.MaxHead {
		t.held = append(t.held, p...)
		return len(p), nil
	}
	if err := t.release(); err != nil {
		return 0, err
	}
	return t.ResponseWriter.Write(p)
}

// enough looks at the next piece of the body. It reports whether all is known
// then.
func (t *tagWriter) enough(piece []byte) bool {
	seen := piece
	if len(t.held) > 0 {
		seen = append(t.held, piece...) // not kept: held is appended to by Write
	}
	if _, typed := t.Header()["Content-Type"]; !typed {
		if len(seen) < sniffed {
			return false
		}
		t.typed(seen)
		piece = seen
	}
	return !t.meta || !t.isHTML() || t.scanner.scan(piece, seen)
}

// sniffed is how many octets of a body tell its media type
// (http.DetectContentType).
const sniffed = 512

// typed sets the media type that the body's beginning shows, as net/http does
// for a response that has none.
func (t *tagWriter) typed(body []byte) {
	t.Header().Set("Content-Type", http.DetectContentType(body))
}

// release sends the header and what was held.
func (t *tagWriter) release() error {
	if t.sent {
		return nil
	}
	if _, typed := t.Header()["Content-Type"]; !typed && len(t.held) > 0 {
		t.typed(t.held)
		if t.meta && t.isHTML() {
			t.scanner.scan(t.held, t.held)
		}
	}
	t.send()
	held := t.held
	t.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := t.ResponseWriter.Write(held)
	return err
}

// finish sends what is still held when the handlers are done.
func (t *tagWriter) finish() error {
	if t.status == 0 {
		return nil // nothing was written: an error, or an empty answer
	}
	return t.release()
}

// ReadFrom sends a body, without copying where the server can.
func (t *tagWriter) ReadFrom(r io.Reader) (n int64, err error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	var piece [4 << 10]byte
	for !t.sent {
		m, err := r.Read(piece[:])
		if m > 0 {
			n += int64(m)
			if _, err := t.Write(piece[:m]); err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	m, err := t.ResponseWriterWrapper.ReadFrom(r)
	return n + m, err
}

// FlushError sends what there is: a stream is not kept waiting.
func (t *tagWriter) FlushError() error {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if err := t.release(); err != nil {
		return err
	}
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Interface guards
var (
	_ http.ResponseWriter = (*tagWriter)(nil)
	_ io.ReaderFrom       = (*tagWriter)(nil)
)
