package forwarded

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
)

// logEvery is the least time between two log lines of a reader.
const logEvery = 10 * time.Second

// reader answers sub-requests. It is safe for concurrent use.
type reader struct {
	family string
	log    *zap.Logger
	gate   logquota.Gate
}

// newReader returns a reader for the fields of a family.
func newReader(family string, log *zap.Logger) *reader { return &reader{family: family, log: log} }

// isDirect reports whether a request has no URI of the family: a client itself
// asks for what is at this server.
func (f *reader) isDirect(r *http.Request) bool {
	names := families[f.family]
	return r.Header[names[len(names)-1]] == nil
}

// read returns the request that a sub-request asks about, and the ResponseWriter
// for the answer. If r is no sub-request of a trusted proxy, read logs that and
// returns nil.
func (f *reader) read(w http.ResponseWriter, r *http.Request, now time.Time) (*answer, *http.Request) {
	described, err := describe(f.family, r.Header)
	if !isTrusted(r) {
		err = errUntrusted
	}
	if err == nil {
		return newAnswer(w, f.family, described.method), described.request(r)
	}
	if missed, ok := f.gate.Pass(now.UnixNano(), logEvery, 0); ok {
		f.log.Warn("a request is not an authentication request of a trusted proxy", zap.Error(err),
			zap.String("peer", r.RemoteAddr), zap.String("forwarded_request", f.family), zap.Int64("not_logged", missed))
	}
	return nil, nil
}

const refusal = "This server only answers authentication requests of its proxy. Its log says what is wrong with this one.\n"

// refuse answers a request that reader.read did not accept.
func refuse(w http.ResponseWriter, status int) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, refusal)
}

// answer is the ResponseWriter for the answer to a sub-request.
type answer struct {
	caddyhttp.ResponseWriterWrapper
	family  string
	hasBody bool // the answer to the client's method has a body
}

func newAnswer(w http.ResponseWriter, family, method string) *answer {
	return &answer{caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, family, method != http.MethodHead}
}

// WriteHeader sends the header. nginx accepts the statuses 2xx, 401 and 403 only:
// for the family byOriginal, X-Robots-Status has the status of any refusal. Several
// X-Robots-Tag fields become one, because proxies copy only one.
func (a *answer) WriteHeader(status int) {
	header := a.Header()
	if tags := header["X-Robots-Tag"]; len(tags) > 1 {
		header["X-Robots-Tag"] = []string{strings.Join(tags, ", ")}
	}
	if !a.hasBody {
		header.Del("Content-Length") // of a body that is not sent, but the sub-request is a GET
	}
	if a.family == byOriginal && status != http.StatusOK {
		header.Set("X-Robots-Status", strconv.Itoa(status))
		status = http.StatusForbidden
	}
	a.ResponseWriter.WriteHeader(status)
}

// allow answers a sub-request about a request that is let through. crawler is ""
// for a person.
func allow(w http.ResponseWriter, crawler string) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	if crawler != "" {
		header.Set("X-Robots-Crawler", crawler)
	}
	w.WriteHeader(http.StatusOK)
}
