package response

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Fields are the fields that the responses of a site get. The zero value adds
// none. It is safe for concurrent use.
type Fields struct {
	Table   *headers.Table     // the rules of x_robots_tag; nil without rules
	Noindex bool               // send Noindex lines of robots.txt
	Signals bool               // send Content-Signal, Content-Usage and License lines
	Reader  func() HeadReader  // returns a reader of a document, whose tags are sent; nil: none
	Views   robots.ViewOptions // how paths are compared with Noindex lines
}

// Serve passes a request to the next handler and adds fields to the response.
// target is the path and query as requested, d the decision on the request. If
// there is nothing to add, the next handler gets w itself. w may be a Head.
func (f *Fields) Serve(w http.ResponseWriter, r *http.Request, target string, d *judge.Decision, next caddyhttp.Handler) error {
	match, lines := f.Table.Match(target), f.robotsTxtFields(target, d)
	noLines := lines.noindex.Directives.Empty() && lines.signals.Empty() && !lines.varies
	if match.Empty() && noLines && !f.Table.NeedsResponse() && f.Reader == nil {
		return next.ServeHTTP(w, r)
	}
	t := &writer{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		match:                 match,
		lines:                 lines,
		target:                target,
		body:                  r.Method != http.MethodHead,
		sniff:                 f.Table.NeedsMediaType(),
	}
	if f.Reader != nil && r.Method == http.MethodGet {
		t.reader = f.Reader()
	}
	if head, ok := w.(*Head); ok { // one ResponseWriter around another would cost more
		t.ResponseWriter, t.head = head.ResponseWriter, head
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
	return t.release()
}

// writer adds fields to a response, just before its header is sent. By then the
// later handlers have set the status and the media type. If the fields also
// depend on the body (on its detected media type, or on what it says), writer
// holds the header and the beginning of the body back, up to maxHead octets or
// until a flush.
type writer struct {
	caddyhttp.ResponseWriterWrapper
	match    headers.Match
	lines    robotsTxtFields
	target   string
	crawlers []string   // tokens of the crawler that sent the request
	body     bool       // responses to this method have a body
	sniff    bool       // the fields depend on the media type
	reader   HeadReader // that the fields depend on; nil without one

	head     *Head // that the writer is in place of; nil without one
	status   int   // 0 until WriteHeader
	sent     bool
	held     []byte
	document document
}

// WriteHeader sends the header, unless it depends on the body.
func (t *writer) WriteHeader(status int) {
	if status < 200 { // informational, or a protocol switched
		t.head.begin(status)
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
func (t *writer) holds() bool {
	if !t.body || t.status == http.StatusNoContent || t.status == http.StatusNotModified {
		return false
	}
	header := t.Header()
	media, encoding := "", strings.ToLower(header.Get("Content-Encoding"))
	_, typed := header["Content-Type"]
	if typed {
		media = mediaType(header.Get("Content-Type"))
	}
	switch {
	case t.reader != nil && t.status < 300 && t.status != http.StatusPartialContent &&
		(!typed || media != "") && t.reader.Wants(media):
		return t.document.begin(encoding, media, t.reader)
	case t.sniff && !typed && encoding == "":
		return t.document.begin("", "", nil)
	}
	return false
}

// addTags adds the headers for a response with status.
func (t *writer) addTags(status int) {
	header := t.Header()
	t.match.Apply(header, status, t.crawlers)
	t.lines.apply(header, t.target, status)
	if found := t.document.tags(); len(found) > 0 {
		headers.AddTags(header, found)
	}
}

// send adds the headers and sends them.
func (t *writer) send() {
	t.sent = true
	if sniffed := t.document.sniffed; sniffed != "" && t.document.encoding == "" {
		t.Header().Set("Content-Type", sniffed) // as net/http does
	}
	t.addTags(t.status)
	t.head.begin(t.status)
	t.ResponseWriter.WriteHeader(t.status)
}

// fail adds the headers for an error that a handler returned, by the error's
// status. The server or an error route then writes the answer with these headers,
// even if the error route uses another status.
func (t *writer) fail(err error) {
	if t.status != 0 { // the answer has begun already
		_ = t.release()
		return
	}
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		status = e.StatusCode
	}
	t.addTags(status)
}

// Write sends a part of the body, or holds it back until the headers are known.
func (t *writer) Write(p []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if t.sent {
		return t.ResponseWriter.Write(p)
	}
	if begin := p[:min(len(p), maxHead)]; len(t.held) == 0 && t.known(begin) {
		t.send()
		return t.ResponseWriter.Write(p)
	}
	n := min(len(p), maxHead-len(t.held))
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
func (t *writer) known(begin []byte) bool {
	last := len(begin) == maxHead
	return t.document.read(begin, last) || last
}

// sendHeld sends the header and the part of the body that was held back.
func (t *writer) sendHeld() error {
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
func (t *writer) release() error {
	if t.sent || t.status == 0 {
		return nil // or no handler wrote anything
	}
	t.document.read(t.held, true)
	return t.sendHeld()
}

// ReadFrom implements io.ReaderFrom, so that the server can send a file without
// copying it.
func (t *writer) ReadFrom(r io.Reader) (n int64, err error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	for !t.sent && err == nil {
		var m int64
		m, err = io.CopyN(struct{ io.Writer }{t}, r, 4<<10) // without ReadFrom
		n += m
	}
	switch {
	case err == io.EOF:
		return n, nil
	case err != nil:
		return n, err
	}
	m, err := t.ResponseWriterWrapper.ReadFrom(r)
	return n + m, err
}

// FlushError sends everything that was held back, so that streams are not
// delayed.
func (t *writer) FlushError() error {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if err := t.release(); err != nil {
		return err
	}
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Hijack takes the connection over.
func (t *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if t.head != nil {
		return t.head.Hijack()
	}
	return http.NewResponseController(t.ResponseWriter).Hijack()
}

// Interface guard
var _ io.ReaderFrom = (*writer)(nil)
