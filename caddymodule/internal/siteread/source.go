package siteread

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
)

// Source is an origins.Source that reads robots.txt from the site itself, at the
// origin of the Cause of the read. It is safe for concurrent use.
type Source struct {
	ctx      caddy.Context
	names    func(server *caddyhttp.Server, host string) bool
	links    *Links
	handlers sync.Map // *caddyhttp.Server to a func() (caddyhttp.Handler, error)
}

// New returns the source for the servers of a configuration. names reports
// whether a site of a server names a host, literally or by a wildcard. links are
// those of the configuration.
func New(ctx caddy.Context, names func(server *caddyhttp.Server, host string) bool, links *Links) *Source {
	return &Source{ctx: ctx, names: names, links: links}
}

var errNoServer = errors.New("the request did not come through a Caddy server")

// PerOrigin is true: each origin of a site may have a file of its own.
func (*Source) PerOrigin() bool { return true }

// Fetch runs a request through the server whose client request is the cause in
// ctx. It follows redirects inside the process, within the same host and to hosts
// that a site of a server names, and never over the network: a redirect may
// contain a Host that a client forged. If it leads anywhere else, or to another
// host that has no robots.txt with groups, the answer is that redirect.
func (s *Source) Fetch(ctx context.Context, _ judge.Origin) (judge.Response, error) {
	c, ok := ctx.Value(causeKey{}).(*Cause)
	if !ok || c.server == nil {
		return judge.Response{}, errNoServer
	}
	hop := c.hop
	at := &url.URL{Scheme: "http", Host: c.host, Path: "/robots.txt"}
	if c.tls || strings.EqualFold(c.proto, "https") {
		at.Scheme = "https"
	}
	elsewhere := func(to string) (judge.Response, error) {
		return judge.Response{Status: http.StatusFound, Elsewhere: to, Apart: c.isApart()}, nil
	}
	defer s.links.end(c)
	for range origins.MaxRedirects + 1 {
		c.unanswered.Store(false)
		answer, err := s.ask(ctx, &hop, at)
		next, isRedirect := (*url.URL)(nil), false
		if err == nil {
			next, isRedirect = answer.redirect(at)
		}
		switch {
		case errors.Is(ctx.Err(), context.Canceled): // the source is not used any longer
			return judge.Response{}, ctx.Err()
		case c.foreign.Load() && !isRedirect && (err != nil || !answer.hasGroups()):
			return elsewhere(at.Redacted() + ", which has no robots.txt with rules")
		case err != nil:
			return judge.Response{Apart: c.isApart()}, err
		case !isRedirect && hop.server != c.server && c.unanswered.Load():
			return elsewhere(at.Redacted())
		case !isRedirect:
			return judge.Response{Status: answer.status, Body: answer.body.Bytes(), Apart: c.isApart()}, nil
		case next == nil:
			return elsewhere(answer.header.Get("Location"))
		case !s.follow(c, &hop, at, next):
			return elsewhere(next.Redacted())
		}
		at = next
	}
	return judge.Response{Status: http.StatusFound, Elsewhere: at.Redacted(), Loop: true, Apart: c.isApart()}, nil
}

// follow prepares a hop for a redirect from one URL to another. It returns false
// if the redirect must not be followed: of another host, only /robots.txt is
// read, because the site that redirects may belong to another tenant.
func (s *Source) follow(c *Cause, hop *hop, from, to *url.URL) bool {
	if to.Scheme != "http" && to.Scheme != "https" {
		return false
	}
	other := s.serverAt(to)
	sameHost := strings.EqualFold(from.Hostname(), to.Hostname())
	if !sameHost && !s.names(cmp.Or(other, hop.server), strings.ToLower(to.Hostname())) ||
		(!sameHost || c.foreign.Load()) && (to.Path != "/robots.txt" || to.RawQuery != "") {
		return false
	}
	next := *hop
	next.host = to.Host
	if !sameHost || from.Scheme != to.Scheme || from.Port() != to.Port() {
		if hop.trusted {
			next.proto = to.Scheme
		}
		if other == nil && sameHost && !(hop.trusted && (to.Port() == "" || to.Port() == from.Port())) {
			return false // no server of this process, and no proxy in front of it, is there
		}
		if other != nil && other != hop.server { // otherwise a proxy in front terminates TLS or maps the port
			asksClient := func(p *caddytls.ConnectionPolicy) bool { return p.ClientAuthentication != nil }
			if slices.ContainsFunc(other.TLSConnPolicies, asksClient) {
				return false
			}
			next.server, next.tls = other, to.Scheme == "https"
		}
	}
	*hop = next
	if !sameHost {
		c.foreign.Store(true)
	}
	return true
}

// serverAt returns the server of this process that listens on the port of a
// URL, nil if there is none.
func (s *Source) serverAt(u *url.URL) *caddyhttp.Server {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil
	}
	for _, server := range routes.Servers(s.ctx) {
		if slices.Contains(routes.Ports(server.Listen), uint(n)) {
			return server
		}
	}
	return nil
}

// ask runs one request through the routes of a server.
func (s *Source) ask(ctx context.Context, c *hop, at *url.URL) (*capture, error) {
	if c.local != nil { // without it, Caddy's placeholders for it panic
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, c.local)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler, err := s.compiled(c.server)
	if err != nil {
		return nil, err
	}
	header := http.Header{"User-Agent": {origins.FetcherUserAgent}, "Accept": {"text/plain, */*;q=0.1"}}
	if c.proto != "" {
		header.Set("X-Forwarded-Proto", c.proto)
	}
	r := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: at.RawQuery},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: http.NoBody, Host: c.host, RemoteAddr: RemoteAddr, RequestURI: at.RequestURI(),
	}).WithContext(ctx)
	if c.tls {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: at.Hostname()}
	}
	w := &capture{header: make(http.Header), full: cancel}
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, c.server)
	caddyhttp.SetVar(r.Context(), caddyhttp.TrustedProxyVarKey, c.trusted)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, ClientAddress)
	w.run(handler, r)
	if err := w.failure(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// compiled returns the routes of a server, and its error routes, as one handler. They are
// compiled at the first fetch, without the metrics of requests. The matchers and
// handlers are the server's own, so that their background work is not doubled.
func (s *Source) compiled(server *caddyhttp.Server) (caddyhttp.Handler, error) {
	compile, _ := s.handlers.LoadOrStore(server, sync.OnceValues(func() (caddyhttp.Handler, error) {
		list := make(caddyhttp.RouteList, len(server.Routes))
		for i, r := range server.Routes {
			list[i] = caddyhttp.Route{Group: r.Group, Terminal: r.Terminal, MatcherSets: r.MatcherSets, Handlers: r.Handlers}
		}
		err := list.ProvisionHandlers(s.ctx, nil)
		handler := list.Compile(emptyAnswer)
		if server.Errors != nil && len(server.Errors.Routes) > 0 {
			handler = withErrorRoutes(handler, server)
		}
		return handler, err
	}))
	return compile.(func() (caddyhttp.Handler, error))()
}

// emptyAnswer ends a chain of routes in the same way as Caddy.
var emptyAnswer = caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
	if c, ok := r.Context().Value(causeKey{}).(*Cause); ok {
		c.unanswered.Store(true)
	}
	return nil
})

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
