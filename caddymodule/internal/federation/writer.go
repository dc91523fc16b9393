package federation

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// patience is how long a handler may go on writing an answer of which nothing is sent.
// So it usually ends by itself, without an error in its log.
const patience = time.Second

var errNotSent = errors.New("the answer to a signed request is no ActivityPub document")

// Writer is the ResponseWriter for the answer to a request that Asks, of a client that
// may get only ActivityPub documents.
//
// A document passes, with any status. Another answer with a status from 300 on passes
// without its body: the redirect of an actor, a 304, and 404 or 410 after which the other
// server forgets the actor; the site's own text of a page could be in the body. All else,
// which is a page, an upgrade, or nothing, passes only if the client may have it as a
// crawler. Informational answers and pushed ones are not sent.
type Writer struct {
	caddyhttp.ResponseWriterWrapper
	mayHavePage func() bool // asked once, if the answer is no document
	monitored   bool        // nothing is kept back

	begun   bool // the status is known
	dropped bool // the body is not sent
	refused bool // nothing is sent
	before  http.Header
	cancel  context.CancelFunc
	timer   *time.Timer
	ended   <-chan struct{} // of the request
}

// NewWriter returns a Writer around w. mayHavePage reports whether the client may have
// an answer that is no document; it is called at most once. With monitored, the answer
// is not changed.
func NewWriter(w http.ResponseWriter, monitored bool, mayHavePage func() bool) *Writer {
	return &Writer{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, mayHavePage: mayHavePage, monitored: monitored,
		before: w.Header().Clone(),
	}
}

// Serve lets a handler answer the request. It reports whether the answer is refused.
// Then nothing was sent, and the header is the one of before.
func (w *Writer) Serve(r *http.Request, next caddyhttp.Handler) (refused bool, err error) {
	ctx, cancel := context.WithCancel(r.Context())
	w.cancel, w.ended = cancel, ctx.Done()
	defer func() {
		cancel()
		if w.timer != nil {
			w.timer.Stop()
		}
		if !w.refused {
			return
		}
		if p := recover(); p != nil && p != http.ErrAbortHandler { // which is how proxies end an answer that is cut short
			panic(p)
		}
		refused, err = true, nil
		header := w.Header()
		clear(header)
		maps.Copy(header, w.before)
	}()
	if err = next.ServeHTTP(w, r.WithContext(ctx)); err == nil && !w.begun {
		w.begin(http.StatusOK) // the answer is empty
	}
	return false, err
}

// begin decides on an answer with a status. It reports whether its header is to be sent.
func (w *Writer) begin(status int) bool {
	w.begun = true
	media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	switch {
	case isDocument(strings.TrimSpace(media)):
		return true
	case status >= http.StatusMultipleChoices:
		w.dropped = !w.monitored && status != http.StatusNotModified
	default:
		w.refused = !w.mayHavePage()
	}
	if w.dropped {
		for _, name := range [...]string{"Content-Type", "Content-Length", "Content-Encoding", "Trailer"} {
			w.Header().Del(name)
		}
	}
	if w.dropped || w.refused {
		w.timer = background.After(patience, "federation: the end of an answer", w.cancel)
	}
	return !w.refused
}

// WriteHeader implements http.ResponseWriter.
func (w *Writer) WriteHeader(status int) {
	informational := status < http.StatusOK && status != http.StatusSwitchingProtocols
	if w.begun || informational && !w.monitored {
		return
	}
	if informational || w.begin(status) {
		w.ResponseWriter.WriteHeader(status)
	}
}

// isSent begins the answer, if it has not begun, and reports whether its body is sent.
func (w *Writer) isSent() bool {
	w.WriteHeader(http.StatusOK)
	return !w.dropped && !w.refused
}

// Write implements http.ResponseWriter.
func (w *Writer) Write(p []byte) (int, error) {
	if w.isSent() {
		return w.ResponseWriter.Write(p)
	}
	select {
	case <-w.ended:
		return 0, errNotSent
	default:
		return len(p), nil
	}
}

// ReadFrom implements io.ReaderFrom, so that the server can send a file without
// copying it.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	if w.isSent() {
		return w.ResponseWriterWrapper.ReadFrom(r)
	}
	return 0, errNotSent
}

// FlushError sends the header, if it was not sent.
func (w *Writer) FlushError() error {
	if w.isSent() {
		return http.NewResponseController(w.ResponseWriter).Flush()
	}
	return nil
}

// Push implements http.Pusher.
func (w *Writer) Push(string, *http.PushOptions) error { return http.ErrNotSupported }

// Hijack takes the connection over.
func (w *Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !w.begun {
		w.begin(http.StatusSwitchingProtocols)
	}
	if w.dropped || w.refused {
		return nil, nil, errNotSent
	}
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Interface guards
var (
	_ http.Hijacker = (*Writer)(nil)
	_ http.Pusher   = (*Writer)(nil)
	_ io.ReaderFrom = (*Writer)(nil)
)
