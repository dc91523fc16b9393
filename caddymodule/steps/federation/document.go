package federation

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/background"
)

// asks reports whether a request is a signed GET or HEAD for an ActivityPub document. The
// signature is that of an HTTP client (draft-cavage-http-signatures, with the field
// Signature, or RFC 9421), and not that of a crawler (Web Bot Auth).
func asks(r *http.Request) bool {
	signed := strings.TrimSpace(r.Header.Get("Signature")+r.Header.Get("Signature-Input")) != ""
	return signed && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		!slices.ContainsFunc(r.Header["Signature-Input"], func(input string) bool { return strings.Contains(input, "web-bot-auth") }) &&
		slices.ContainsFunc(r.Header["Accept"], accepts)
}

// accepts reports whether an Accept field has the media type of a document.
func accepts(field string) bool {
	for media := range strings.SplitSeq(field, ",") {
		if isDocument(media) {
			return true
		}
	}
	return false
}

// isDocument reports whether a media type, with its parameters, is that of an ActivityPub
// document (W3C ActivityPub, section 3.2).
func isDocument(media string) bool {
	media, _, _ = strings.Cut(media, ";")
	media = strings.TrimSpace(media)
	return strings.EqualFold(media, "application/activity+json") || strings.EqualFold(media, "application/ld+json")
}

// patience is how long a handler may go on writing an answer of which nothing is sent.
// So it usually ends by itself, without an error in its log.
const patience = time.Second

// writer is the ResponseWriter for the answer. A document passes, and so does a redirect
// or a 304, without its body. Of anything else, nothing is sent if withhold says so. It has
// no other methods, by which a handler could send something.
type writer struct {
	http.ResponseWriter
	withhold func() bool
	ctx      context.Context
	cancel   context.CancelFunc

	begun, bodiless, withheld bool
}

// serveDocument lets a handler answer a request that asks. If the answer is not a document, it
// calls withhold, once, and sends nothing of the answer if that returns true. Then it
// returns true, and the header of w is the one of before.
func serveDocument(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, withhold func() bool) (withheld bool, err error) {
	before := w.Header().Clone()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	d := &writer{ResponseWriter: w, withhold: withhold, ctx: ctx, cancel: cancel}
	defer func() {
		if !d.withheld {
			return
		}
		if p := recover(); p != nil && p != http.ErrAbortHandler { // which is how proxies end an answer that is cut short
			panic(p)
		}
		withheld, err = true, nil
		clear(w.Header())
		maps.Copy(w.Header(), before)
	}()
	if err = next.ServeHTTP(d, r.WithContext(ctx)); err == nil {
		d.WriteHeader(http.StatusOK) // if the answer is empty
	}
	return false, err
}

// WriteHeader implements http.ResponseWriter.
func (d *writer) WriteHeader(status int) {
	if d.begun || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	d.begun = true
	header := d.Header()
	switch {
	case isDocument(header.Get("Content-Type")):
	case status/100 == 3:
		d.bodiless = true
		for _, name := range [...]string{"Content-Type", "Content-Length", "Content-Encoding"} {
			header.Del(name)
		}
	case d.withhold():
		d.withheld = true
		background.After(patience, "federation: the end of an answer", d.cancel)
		return
	}
	d.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (d *writer) Write(p []byte) (int, error) {
	d.WriteHeader(http.StatusOK)
	if d.withheld || d.bodiless {
		return len(p), d.ctx.Err()
	}
	return d.ResponseWriter.Write(p)
}
