package caddymodule

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// exchange is a request on its way through the steps of ServeHTTP, with what each of
// them has found.
type exchange struct {
	step.Exchange
	core
	number uint32 // unique among the exchanges that run at the same time
}

// core is what the core has found.
type core struct {
	w        http.ResponseWriter
	handler  *Handler
	running  *running
	off      bool // the handler leaves the host alone
	asked    bool // another proxy asks about the request
	paced    bool // the decision may have used budget
	server   *caddyhttp.Server
	vars     map[string]any // the request's variables; nil without a server
	site     *counters.Site // the counters of the site
	unread   *answer        // to a request whose body was not read; nil for all others
	counts   bool           // the decision is counted when the request ends
	recorded *record        // nil for a person
}

// exchanges are reused, so that requests allocate none.
var exchanges = sync.Pool{New: func() any { return &exchange{number: exchangeNumber.Add(1)} }}

var exchangeNumber atomic.Uint32

// release ends the request, clears x and returns it to the pool.
func (x *exchange) release() {
	if d := &x.Decision; x.paced && d.Action != judge.Pass && !d.Monitored {
		x.running.GiveBack(&x.Request, d, x.Uses)
	}
	if x.counts && x.vars[step.Uncounted] == nil {
		x.count()
	}
	for _, s := range x.handler.steps.enders {
		s.End(&x.Exchange)
	}
	taken := x.Taken
	x.Clear()
	x.core = core{}
	if !taken {
		exchanges.Put(x)
	}
}

// open fills in what is known about a request before the first step. It returns the
// record of an earlier robots handler, nil if there is none.
func (h *Handler) open(x *exchange, r *http.Request) (earlier *record) {
	ctx, q := r.Context(), &x.Request
	x.HTTP, x.handler, x.running = r, h, h.running.Load()
	x.server, _ = ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	q.Method, q.Target, q.UserAgents, q.Time, q.Caller = r.Method, originalTarget(r), r.Header["User-Agent"], clock.Now(), x
	q.Brands = r.Header["Sec-Ch-Ua"]
	q.Authorized = len(r.Header["Authorization"]) > 0
	trusted := false
	if vars, ok := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any); ok {
		x.vars = vars
		q.Client, _ = vars[caddyhttp.ClientIPVarKey].(string)
		trusted, _ = vars[caddyhttp.TrustedProxyVarKey].(bool)
		earlier, _ = vars[recordVar].(*record)
	}
	q.Proxied = trusted
	sites := h.sitesOf(x.server)
	q.Origin = h.origin(r, sites, trusted)
	mode := x.running.modes.At(q.Origin.Host)
	if x.off = mode == nil; x.off {
		h.steps.strip(&x.Exchange, true)
		return nil
	}
	q.Mode = mode.Mode
	if sites != nil {
		x.site, q.Site, q.Invented = sites.count(q.Origin.Host, q.Time)
	} else {
		x.site = h.app.anySite
	}
	q.Ambiguous = trusted && isAmbiguous(r, x.server, q.Client)
	h.steps.strip(&x.Exchange, false)
	if h.steps.claims.Signatures && len(r.Header["Signature-Input"]) > 0 {
		q.Signed = h.signed(x, trusted)
	}
	return earlier
}

// origin returns the origin that the client sent a request to. Behind a trusted
// proxy it uses the scheme, and with forwarded_host the host, that the proxy
// reports.
func (h *Handler) origin(r *http.Request, sites *serverSites, trusted bool) judge.Origin {
	scheme, port := "http", uint16(0)
	if r.TLS != nil {
		scheme = "https"
	}
	if sites != nil {
		port = sites.Port
	}
	if port == 0 {
		port = localPort(r)
	}
	if trusted {
		switch proto := firstValue(r.Header["X-Forwarded-Proto"]); {
		case strings.EqualFold(proto, "https"):
			scheme = "https"
		case strings.EqualFold(proto, "http"):
			scheme = "http"
		}
	}
	return judge.NewOrigin(scheme, h.host(r, trusted), port)
}

// host returns the host that the client sent a request to, with its port.
func (h *Handler) host(r *http.Request, trusted bool) string {
	if trusted && config.On(h.ForwardedHost) {
		return cmp.Or(firstValue(r.Header["X-Forwarded-Host"]), r.Host)
	}
	return r.Host
}

// firstValue returns the first of the values in a list field.
func firstValue(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	value, _, _ := strings.Cut(fields[0], ",")
	return strings.TrimSpace(value)
}

// Detach implements judge.Caller.
func (x *exchange) Detach() context.Context {
	h := x.handler
	return siteread.NewCause(x.HTTP, x.server, x.Request.Origin, h, h.addsLines()).Detach()
}

// originalTarget returns the request target as the client sent it, before any
// rewrite.
func originalTarget(r *http.Request) string {
	if or, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && or.RequestURI != "" {
		return or.RequestURI
	}
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// isAmbiguous reports whether the client's address, as a trusted proxy gives it,
// may be forged or may be the proxy's own. Without trusted_proxies_strict, Caddy
// takes the first of several addresses. A client can forge that one if the proxy
// only appends to the field.
func isAmbiguous(r *http.Request, server *caddyhttp.Server, client string) bool {
	if proxy, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && proxy == client {
		return true
	}
	if server == nil || server.TrustedProxiesStrict > 0 {
		return server == nil
	}
	values := 0
	for _, name := range server.ClientIPHeaders {
		for _, field := range r.Header.Values(name) {
			values += 1 + strings.Count(field, ",")
		}
	}
	return values != 1
}

// forwardingFields are header fields of proxies, most of which tell the address
// of the client.
var forwardingFields = [...]string{
	"X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip",
}

// HidesClient implements judge.Caller.
func (x *exchange) HidesClient() bool {
	return (!x.Request.Proxied || x.Request.Ambiguous) &&
		slices.ContainsFunc(forwardingFields[:], func(name string) bool { return x.HTTP.Header[name] != nil })
}

// signed returns the parts of the request that a signature can cover.
func (h *Handler) signed(x *exchange, trusted bool) *claim.Message {
	return &claim.Message{
		Method: x.Request.Method, Scheme: x.Request.Origin.Scheme, Host: h.host(x.HTTP, trusted), RequestURI: x.Request.Target,
		Header: x.HTTP.Header, HasBody: x.HTTP.ContentLength != 0,
	}
}

// localPort returns the port at which a request arrived, 0 if it is not known.
func localPort(r *http.Request) uint16 {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case interface{ AddrPort() netip.AddrPort }: // of TCP and UDP
		return addr.AddrPort().Port()
	case net.Addr:
		if ap, err := netip.ParseAddrPort(addr.String()); err == nil {
			return ap.Port()
		}
	}
	return 0
}

// Bounds of a crawler's body that is read before the request takes a turn. They have
// room for a form, and all of them together take 4 MiB of memory at most. No client gets
// more than the bodies of one part.
const (
	maxBody      = 64 << 10
	bodyTime     = 2 * time.Second
	bodyParts    = 8
	bodiesOfPart = 8
)

// bodySeed is a random seed, so that clients can't choose addresses that share a part with
// a certain one.
var bodySeed = throttle.Key{rand.Uint64(), rand.Uint64()}

var (
	bodyTooLong = newAnswer(http.StatusRequestEntityTooLarge, "Here, the body of a crawler's request may have 64 KiB.")
	bodyTooSlow = newAnswer(http.StatusRequestTimeout, "Here, the body of a crawler's request must arrive within two seconds.")
)

// readBody reads the body of a crawler's request that is let through, if requests in
// flight are counted for it: a client must not hold a turn by a body that it does not
// send. If the body can't be read, the request is refused. The next handler gets what
// was read. People's bodies are never read.
func (x *exchange) readBody(d *judge.Decision) {
	if d.Action != judge.Pass || d.Monitored || d.Reason == judge.Person {
		return
	}
	var (
		why    judge.Reason
		line   *judge.Place
		isHeld bool
	)
	for i := 0; !isHeld && i < len(x.handler.steps.holders); i++ {
		why, line, isHeld = x.handler.steps.holders[i].Holds(&x.Exchange)
	}
	if !isHeld {
		return
	}
	body, refusal := x.receive(x.w)
	if refusal == nil {
		x.HTTP.Body, x.HTTP.ContentLength, x.HTTP.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		if len(body) == 0 {
			x.HTTP.Body = http.NoBody
		}
		return
	}
	if x.HTTP.ProtoMajor == 1 { // in HTTP/3 the field would be an error (RFC 9114, section 4.2)
		x.w.Header()["Connection"] = []string{"close"}
	}
	x.unread = refusal
	d.Refuse(why, line, 0)
}

// receive reads a body. It returns an answer that refuses the request if the body is
// too long, or does not arrive in time.
func (x *exchange) receive(w http.ResponseWriter) (body []byte, refusal *answer) {
	r := x.HTTP
	if r.ContentLength > maxBody {
		return nil, &bodyTooLong
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTime)) // fails only outside of a server
	first := make([]byte, 1)
	_, err := io.ReadFull(r.Body, first)
	if err == nil { // in HTTP/3, only this tells a body from none
		part := &x.handler.bodies[bodySeed.Client(x.Request.Addr())[0]%bodyParts]
		defer part.Add(-1)
		if part.Add(1) > bodiesOfPart {
			return nil, &bodyTooSlow
		}
		body, err = io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(first), r.Body), maxBody+1))
	}
	switch {
	case len(body) > maxBody:
		return nil, &bodyTooLong
	case err != nil && err != io.EOF: // the deadline stays, for what the server does with the rest
		return nil, &bodyTooSlow
	}
	_ = deadline.SetReadDeadline(time.Time{})
	return body, nil
}
