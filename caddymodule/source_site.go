package caddymodule

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// siteSource is an enforce.Source that reads robots.txt from the site itself. It
// runs GET /robots.txt through the server's own routes, inside the process, and
// so gets the same answer as a crawler of that origin. This is called the
// internal read.
//
// The internal request has the Host of the client's request that caused it, but
// none of its credentials. Its client address is internalAddress, so that no
// remote_ip matcher treats it as a local client. It appears in no access log.
type siteSource struct {
	ctx    caddy.Context
	routes sync.Map // *caddyhttp.Server to caddyhttp.Handler
}

func newSiteSource(ctx caddy.Context) *siteSource { return &siteSource{ctx: ctx} }

// internalAddress is the client address of the internal read. 192.0.2.0/24 is
// for documentation and belongs to nobody (RFC 5737).
const internalAddress = "192.0.2.1"

// internalRemote is internalAddress with a port, for Request.RemoteAddr.
const internalRemote = internalAddress + ":1"

// cause holds the data that the internal read copies from the client's request
// that caused it.
type cause struct {
	server  *caddyhttp.Server
	host    string // with the port of the listener, if the client sent it
	tls     bool
	trusted bool     // the client is a trusted proxy
	proto   string   // the proxy's X-Forwarded-Proto
	local   net.Addr // the address at which the request arrived, for placeholders

	reader *Handler     // the handler that reads
	passed *atomic.Bool // the request came through that handler; nil if that does not matter
}

// causeKey is the key of a cause in a context.
type causeKey struct{}

// newCause returns the cause for a client's request.
func (h *Handler) newCause(r *http.Request, server *caddyhttp.Server, origin enforce.Origin) *cause {
	c := &cause{server: server, host: origin.Host, tls: r.TLS != nil, reader: h}
	if h.Policy != nil && h.Policy.Publishes() {
		c.passed = new(atomic.Bool)
	}
	if strings.Contains(c.host, ":") {
		c.host = "[" + c.host + "]"
	}
	if port := ":" + strconv.Itoa(int(origin.Port)); origin.Port != 0 && strings.HasSuffix(r.Host, port) {
		c.host += port
	}
	c.local, _ = r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if c.trusted, _ = caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); c.trusted {
		c.proto = r.Header.Get("X-Forwarded-Proto")
	}
	return c
}

// noteInternalRead records that h's internal read passes through h. Then requests
// of clients for /robots.txt pass through h too, so that h can publish a file.
func (h *Handler) noteInternalRead(r *http.Request) {
	if c, ok := r.Context().Value(causeKey{}).(*cause); ok && c.reader == h && c.passed != nil {
		c.passed.Store(true)
	}
}

// isInternalRead reports whether a request is the internal read of any handler.
// It compares the address first, because that costs less than the context.
func isInternalRead(r *http.Request) bool {
	return r.RemoteAddr == internalRemote && r.Context().Value(causeKey{}) != nil
}

var errNoServer = errors.New("the request did not come through a Caddy server")

// PerOrigin is true: each origin of a site may have a file of its own.
func (*siteSource) PerOrigin() bool { return true }

// Fetch runs a request through the server whose client request is the cause in
// ctx. It follows redirects only within the same host, inside the process and
// never over the network: a redirect may contain a Host that a client forged.
func (s *siteSource) Fetch(ctx context.Context, _ enforce.Origin) (enforce.Response, error) {
	c, ok := ctx.Value(causeKey{}).(*cause)
	if !ok || c.server == nil {
		return enforce.Response{}, errNoServer
	}
	hop := *c
	at := &url.URL{Scheme: "http", Host: c.host, Path: "/robots.txt"}
	if c.tls || strings.EqualFold(c.proto, "https") {
		at.Scheme = "https"
	}
	for range enforce.MaxRedirects + 1 {
		answer, err := s.ask(ctx, &hop, at)
		if err != nil {
			return enforce.Response{}, err
		}
		next := answer.redirect(at)
		if next == nil {
			return enforce.Response{Status: answer.status, Body: answer.body.Bytes(), Apart: c.passed != nil && !c.passed.Load()}, nil
		}
		if err := s.follow(&hop, at, next); err != nil {
			return enforce.Response{}, err
		}
		at = next
	}
	return enforce.Response{}, fmt.Errorf("%w: the last one to %s", enforce.ErrRedirects, at.Redacted())
}

// follow prepares a hop for a redirect from one URL to another. It returns an
// error if the redirect must not be followed.
func (s *siteSource) follow(hop *cause, from, to *url.URL) error {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) || to.Scheme != "http" && to.Scheme != "https" {
		return fmt.Errorf("%w: to another host, %s", enforce.ErrRedirects, to.Redacted())
	}
	hop.host = to.Host
	if from.Scheme == to.Scheme && from.Port() == to.Port() {
		return nil
	}
	if hop.trusted {
		hop.proto = to.Scheme
	}
	other := s.serverAt(to)
	if other == nil || other == hop.server {
		return nil // a proxy in front terminates TLS or maps the port
	}
	for _, p := range other.TLSConnPolicies {
		if p.ClientAuthentication != nil {
			return fmt.Errorf("%w: to %s, where clients need a certificate", enforce.ErrRedirects, to.Redacted())
		}
	}
	hop.server, hop.tls = other, to.Scheme == "https"
	return nil
}

// serverAt returns the server of this process that listens on the port of a
// URL, nil if there is none.
func (s *siteSource) serverAt(u *url.URL) *caddyhttp.Server {
	app, err := s.ctx.AppIfConfigured("http")
	if err != nil {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		for _, listen := range server.Listen {
			addr, err := caddy.ParseNetworkAddress(listen)
			if err == nil && uint(n) >= addr.StartPort && uint(n) <= addr.EndPort {
				return server
			}
		}
	}
	return nil
}

// ask runs one request through the routes of a server.
func (s *siteSource) ask(ctx context.Context, c *cause, at *url.URL) (*capture, error) {
	if c.local != nil { // without it, Caddy's placeholders for it panic
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, c.local)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	routes, err := s.compiled(c.server)
	if err != nil {
		return nil, err
	}
	header := http.Header{"User-Agent": {enforce.FetcherUserAgent}, "Accept": {"text/plain, */*;q=0.1"}}
	if c.proto != "" {
		header.Set("X-Forwarded-Proto", c.proto)
	}
	r := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: at.RawQuery},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: http.NoBody, Host: c.host, RemoteAddr: internalRemote, RequestURI: at.RequestURI(),
	}).WithContext(ctx)
	if c.tls {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: at.Hostname()}
	}
	w := &capture{header: make(http.Header), full: cancel}
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, c.server)
	caddyhttp.SetVar(r.Context(), caddyhttp.TrustedProxyVarKey, c.trusted)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, internalAddress)
	w.run(routes, r)
	if err := w.failure(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// compiled returns the routes and the error routes of a server as one handler,
// without the metrics of requests. The matchers and handlers are the server's
// own, so that their background work is not doubled.
func (s *siteSource) compiled(server *caddyhttp.Server) (caddyhttp.Handler, error) {
	if h, ok := s.routes.Load(server); ok {
		return h.(caddyhttp.Handler), nil
	}
	routes := make(caddyhttp.RouteList, len(server.Routes))
	for i, r := range server.Routes {
		routes[i] = caddyhttp.Route{Group: r.Group, Terminal: r.Terminal, MatcherSets: r.MatcherSets, Handlers: r.Handlers}
	}
	if err := routes.ProvisionHandlers(s.ctx, nil); err != nil {
		return nil, err
	}
	compiled := routes.Compile(emptyAnswer)
	if server.Errors != nil && len(server.Errors.Routes) > 0 {
		compiled = withErrorRoutes(compiled, server)
	}
	s.routes.Store(server, compiled)
	return compiled, nil
}

// emptyAnswer ends a chain of routes in the same way as Caddy.
var emptyAnswer = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })

// emptyError ends a chain of error routes in the same way as Caddy.
var emptyError = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
	status := http.StatusInternalServerError
	if err, ok := r.Context().Value(caddyhttp.ErrorCtxKey).(error); ok {
		status = statusOf(err)
	}
	w.WriteHeader(status)
	return nil
})

// withErrorRoutes returns a handler that passes the errors of next to the
// server's error routes, with the original URL restored.
func withErrorRoutes(next caddyhttp.Handler, server *caddyhttp.Server) caddyhttp.Handler {
	errorRoutes := server.Errors.Routes.Compile(emptyError)
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		target, requestURI := *r.URL, r.RequestURI
		err := next.ServeHTTP(w, r)
		if err == nil {
			return nil
		}
		*r.URL, r.RequestURI = target, requestURI
		return errorRoutes.ServeHTTP(w, server.Errors.WithError(r, err))
	})
}

// statusOf returns the status with which Caddy answers an error.
func statusOf(err error) int {
	if e, ok := errors.AsType[caddyhttp.HandlerError](err); ok && e.StatusCode != 0 {
		return e.StatusCode
	}
	return http.StatusInternalServerError
}
