package caddymodule

import (
	"net"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// isAmbiguous reports whether the client's address, which a trusted proxy
// tells, may be one that the client made up, or is that of the proxy. Caddy
// takes the first of several addresses, which a client can write itself where
// the proxy only appends, unless trusted_proxies_strict is set.
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

// signed returns the request as its signature covers it. What an earlier
// handler found out about it is kept: a nonce counts once a request.
func (h *Handler) signed(x *exchange, trusted bool) *enforce.Signed {
	if x.earlier != nil && x.earlier.signed != nil {
		return x.earlier.signed
	}
	host := x.r.Host
	if trusted && isOn(h.ForwardedHost) {
		if forwarded := firstValue(x.r.Header["X-Forwarded-Host"]); forwarded != "" {
			host = forwarded
		}
	}
	return &enforce.Signed{Message: verify.Message{
		Method: x.Method, Scheme: x.Origin.Scheme, Host: host, RequestURI: x.Target, Header: x.r.Header,
		HasBody: x.r.ContentLength != 0,
	}}
}
