package forwarded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/http/httpguts"
)

// The families of fields that describe a request. A proxy overwrites the fields
// of its own family, and passes on those that a client sent of the other one.
const (
	byForwarded = "x_forwarded" // Traefik, and Caddy's forward_auth
	byOriginal  = "x_original"  // nginx, and ingress-nginx
)

// families has the names of the fields of each family. The last one has the URI.
var families = map[string][]string{
	byForwarded: {"X-Forwarded-Method", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Uri"},
	byOriginal:  {"X-Original-Method", "X-Original-Url"},
}

// maxValue bounds the octets of a field. It is the size of a whole header that
// the server accepts by default, so that no client is refused for a long URL.
const maxValue = http.DefaultMaxHeaderBytes

var errUntrusted = errors.New("the client is none of trusted_proxies")

// description is the request line of a client's request, with scheme and host.
type description struct{ method, scheme, host, target string }

// describe returns the request that the fields of a family describe.
func describe(family string, header http.Header) (d description, err error) {
	names := families[family]
	values := make([]string, len(names))
	for i, name := range names {
		switch fields := header[name]; {
		case len(fields) == 0:
			return d, fmt.Errorf("%s is missing", name)
		case len(fields) > 1:
			return d, fmt.Errorf("%s is there %d times", name, len(fields))
		case len(fields[0]) > maxValue:
			return d, fmt.Errorf("%s has %d octets", name, len(fields[0]))
		default:
			values[i] = fields[0]
		}
	}
	if family == byForwarded {
		d = description{values[0], values[1], values[2], values[3]}
	} else if d, err = splitURL(values[0], values[1]); err != nil {
		return d, err
	}
	return d, d.check()
}

// splitURL returns the description for a method and an absolute URL.
func splitURL(method, url string) (d description, err error) {
	scheme, rest, absolute := strings.Cut(url, "://")
	if !absolute {
		return d, errors.New("X-Original-Url has no scheme and host: send $scheme://$host$request_uri")
	}
	host, target := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, target = rest[:i], rest[i:]
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return description{method, scheme, host, target}, nil
}

// schemes has the schemes of requests, as URLs have them. Traefik has others for
// WebSockets.
var schemes = map[string]string{"http": "http", "https": "https", "ws": "http", "wss": "https"}

// check returns an error for values that no request has. It replaces the scheme
// by that of the origin.
func (d *description) check() error {
	scheme, ok := schemes[strings.ToLower(d.scheme)]
	switch {
	case !httpguts.ValidHeaderFieldName(d.method): // a token, as a method is
		return errors.New("the method is malformed")
	case !ok:
		return errors.New("the scheme is not http or https")
	case !httpguts.ValidHostHeader(d.host) || strings.Contains(d.host, ","):
		return errors.New("the host is malformed")
	case d.target == "" || strings.ContainsFunc(d.target, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return errors.New("the URI is malformed")
	}
	d.scheme = scheme
	return nil
}

// request returns r as if the client had sent it to this server with the request
// line, host and scheme of the description.
func (d *description) request(r *http.Request) *http.Request {
	header := maps.Clone(r.Header)
	for _, names := range families {
		for _, name := range names {
			delete(header, name)
		}
	}
	header["X-Forwarded-Proto"], header["X-Forwarded-Host"] = []string{d.scheme}, []string{d.host}
	original := http.Request{Method: d.method, RequestURI: d.target, Host: d.host, Header: header}
	described := r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, original))
	described.Method, described.RequestURI, described.Host, described.Header = d.method, d.target, d.host, header
	return described
}

// isTrusted reports whether a trusted proxy sent the request.
func isTrusted(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted
}
