package caddymodule

import (
	"errors"
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
// headers.MaxHead octets, and not beyond a flush.
type tagWriter struct {
	caddyhttp.ResponseWriterWrapper
	match    headers.Match
	file     fileTags
	target   string
	crawlers []string // tokens of the crawler that asked
	body     bool     // whether the response to this method has a body
	sniff    bool     // whether the media type matters
	meta     bool     // whether the document's head matters

	status int // 0 until there is one
	sent   bool
	held   []byte
	head   encodedHead
}

// next passes a request on, with the headers that match its path.
func (h *Handler) next(w http.ResponseWriter, r *http.Request, target string, d *enforce.Decision, next caddyhttp.Handler) error {
	match, file := h.tags.Match(target), h.fileTags(target, d)
	if match.Empty() && file.empty() && !h.tags.NeedsResponse() && !isOn(h.MetaRobots) {
		return next.ServeHTTP(w, r)
	}
	t := &tagWriter{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		match:                 match,
		file:                  file,
		target:                target,
		body:                  r.Method != http.MethodHead,
		sniff:                 h.tags.NeedsMediaType(),
		meta:                  isOn(h.MetaRobots) && r.Method == http.MethodGet,
	}
	if d.Agent.Crawler != nil {
		t.crawlers = d.Agent.Crawler.Robots
	} else if d.Agent.Token != "" {
		t.crawlers = []string{d.Agent.Token}
	}
	if err := next.ServeHTTP(t, r); err != nil {
		t.fail(err)
		return err
	}
	return t.finish()
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
	header := t.Header()
	media, encoding := "", header.Get("Content-Encoding")
	_, typed := header["Content-Type"]
	if typed {
		media = mediaType(header.Get("Content-Type"))
	}
	switch {
	case t.meta && t.status < 300 && t.status != http.StatusPartialContent && (!typed || media == mediaHTML || media == mediaXHTML):
		return t.head.begin(encoding, media, true)
	case t.sniff && !typed && encoding == "":
		return t.head.begin("", "", false)
	}
	return false
}

// mediaType is the media type of a Content-Type value.
func mediaType(value string) string {
	media, _, _ := mime.ParseMediaType(value)
	return media
}

// addTags adds the headers of a response with status.
func (t *tagWriter) addTags(status int) {
	header := t.Header()
	t.match.Apply(header, status, t.crawlers)
	t.file.apply(header, t.target, status)
	if tags := t.head.tags(); len(tags) > 0 {
		headers.AddTags(header, tags)
	}
}

// send adds the headers and sends them.
func (t *tagWriter) send() {
	t.sent = true
	if sniffed := t.head.sniffed; sniffed != "" && t.head.encoding == "" {
		t.Header().Set("Content-Type", sniffed) // as net/http does
	}
	t.addTags(t.status)
	t.ResponseWriter.WriteHeader(t.status)
}

// fail adds the headers of an error that a handler returned, by its status:
// nothing has been written then, and what writes the answer, the server or an
// error route, has the same header. An error route that answers with another
// status changes nothing about them.
func (t *tagWriter) fail(err error) {
	if t.status != 0 { // too late for another answer
		_ = t.finish()
		return
	}
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		status = e.StatusCode
	}
	t.addTags(status)
}

// Write sends a part of the body, or holds it as long as need be.
func (t *tagWriter) Write(p []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if t.sent {
		return t.ResponseWriter.Write(p)
	}
	if begin := p[:min(len(p), headers.MaxHead)]; len(t.held) == 0 && t.known(begin) {
		t.send()
		return t.ResponseWriter.Write(p)
	}
	n := min(len(p), headers.MaxHead-len(t.held))
	if t.held = append(t.held, p[:n]...); !t.known(t.held) {
		return n, nil
	}
	if err := t.sendHeld(); err != nil || n == len(p) {
		return n, err
	}
	m, err := t.ResponseWriter.Write(p[n:])
	return n + m, err
}

// known reports whether the beginning of the body shows all that has to be
// known.
func (t *tagWriter) known(begin []byte) bool {
	last := len(begin) == headers.MaxHead
	return t.head.scan(begin, last) || last
}

// sendHeld sends the header and what was held.
func (t *tagWriter) sendHeld() error {
	t.send()
	held := t.held
	t.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := t.ResponseWriter.Write(held)
	return err
}

// release sends the header and what was held, even if not all is known.
func (t *tagWriter) release() error {
	if t.sent {
		return nil
	}
	t.head.scan(t.held, true)
	return t.sendHeld()
}

// finish sends what is still held when the handlers are done.
func (t *tagWriter) finish() error {
	if t.status == 0 {
		return nil // nothing was written: an empty answer
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
