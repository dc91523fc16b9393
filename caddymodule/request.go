package caddymodule

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

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
