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

// tagWriter adds X-Robots-Tag and other headers to a response, just before its
// header is sent. By then the later handlers have set the status and the media
// type. If the headers also depend on the body (on its detected media type, or on
// robots meta tags), tagWriter holds the header and the beginning of the body
// back, up to headers.MaxHead octets or until a flush.
type tagWriter struct {
	caddyhttp.ResponseWriterWrapper
	match    headers.Match
	file     fileTags
	target   string
	crawlers []string // tokens of the crawler that sent the request
	body     bool     // responses to this method have a body
	sniff    bool     // the headers depend on the media type
	meta     bool     // the headers depend on robots meta tags

	status int // 0 until WriteHeader
	sent   bool
	held   []byte
	head   encodedHead
}

// next passes a request to the next handler and adds headers to the response.
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

// WriteHeader sends the header, unless it depends on the body.
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

// holds reports whether the headers depend on the body.
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

// mediaType returns the media type in a Content-Type value.
func mediaType(value string) string {
	media, _, _ := mime.ParseMediaType(value)
	return media
}

// addTags adds the headers for a response with status.
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

// fail adds the headers for an error that a handler returned, by the error's
// status. The server or an error route then writes the answer with these headers,
// even if the error route uses another status.
func (t *tagWriter) fail(err error) {
	if t.status != 0 { // the answer has begun already
		_ = t.finish()
		return
	}
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		status = e.StatusCode
	}
	t.addTags(status)
}

// Write sends a part of the body, or holds it back until the headers are known.
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

// known reports whether the beginning of the body determines the headers.
func (t *tagWriter) known(begin []byte) bool {
	last := len(begin) == headers.MaxHead
	return t.head.scan(begin, last) || last
}

// sendHeld sends the header and the part of the body that was held back.
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

// release sends the header and the part of the body that was held back, even if
// it does not determine all headers.
func (t *tagWriter) release() error {
	if t.sent {
		return nil
	}
	t.head.scan(t.held, true)
	return t.sendHeld()
}

// finish sends the rest when the later handlers are done.
func (t *tagWriter) finish() error {
	if t.status == 0 {
		return nil // no handler wrote anything
	}
	return t.release()
}

// ReadFrom implements io.ReaderFrom, so that the server can send a file without
// copying it.
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

// FlushError sends everything that was held back, so that streams are not
// delayed.
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
