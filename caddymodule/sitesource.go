package caddymodule

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/robots"
)

// siteSource is an enforce.Source that asks the site itself: it sends
// GET /robots.txt through the server's own handlers, in process, so that it
// gets what a crawler of that origin would get, whatever serves it.
type siteSource struct{}

// ownFetch marks the requests of siteSource, which robots handlers let
// through: else a site would be asking itself for ever.
type ownFetch struct{}

// ownAddr is the client address of such requests. No connection comes from
// port 0.
const ownAddr = "127.0.0.1:0"

// isOwnFetch reports whether a request is one of siteSource.
func isOwnFetch(r *http.Request) bool {
	return r.RemoteAddr == ownAddr && r.Context().Value(ownFetch{}) != nil
}

var errNoServer = errors.New("the request did not come through a Caddy server")

// Fetch asks the server that handles the request whose context ctx is.
// Redirects are followed in process as well, to wherever the same server
// answers: never over the network, because a client's Host field may be in
// them.
func (siteSource) Fetch(ctx context.Context, origin enforce.Origin) (enforce.Response, error) {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil {
		return enforce.Response{}, errNoServer
	}
	at := &url.URL{Scheme: origin.Scheme, Host: origin.Host, Path: "/robots.txt"}
	for range enforce.MaxRedirects + 1 {
		answer := fetchFrom(ctx, server, at)
		if err := answer.failure(); err != nil {
			return enforce.Response{}, err
		}
		next := answer.redirect(at)
		if next == nil {
			return enforce.Response{Status: answer.status, Body: answer.body.Bytes()}, nil
		}
		if next.Scheme != origin.Scheme {
			return enforce.Response{}, fmt.Errorf("%w: to %s, which another server answers", enforce.ErrRedirects, next)
		}
		at = next
	}
	return enforce.Response{}, fmt.Errorf("%w: the last one to %s", enforce.ErrRedirects, at)
}

// PerOrigin is true: each origin of a site may have a file of its own.
func (siteSource) PerOrigin() bool { return true }

// fetchFrom sends one request through a server.
func fetchFrom(ctx context.Context, server *caddyhttp.Server, at *url.URL) *capture {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, ownFetch{}, true))
	defer cancel()
	r := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: at.RawQuery},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"User-Agent": {enforce.FetcherUserAgent}, "Accept": {"text/plain, */*;q=0.1"}},
		Body:   http.NoBody, Host: at.Host, RemoteAddr: ownAddr, RequestURI: at.RequestURI(),
	}).WithContext(ctx)
	if at.Scheme == "https" {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: at.Hostname()}
	}
	c := &capture{header: make(http.Header), full: cancel}
	c.run(server, r)
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.err = ctx.Err()
	return c
}

// capture is a ResponseWriter that keeps what siteSource wants to know.
type capture struct {
	header http.Header
	status int
	body   bytes.Buffer
	full   func() // called when the body is longer than will be read
	err    error
}

var errFull = errors.New("more than will be read")

// run serves r. Handlers abort by panicking with http.ErrAbortHandler; when
// they do because the body is long enough, all is well.
func (c *capture) run(h http.Handler, r *http.Request) {
	defer func() {
		if p := recover(); p != nil && !c.isFull() {
			panic(p)
		}
	}()
	h.ServeHTTP(c, r)
}

func (c *capture) Header() http.Header { return c.header }

func (c *capture) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
}

func (c *capture) Write(p []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	n, _ := c.body.Write(p[:min(len(p), robots.MaxSize+1-c.body.Len())])
	if c.isFull() {
		c.full()
		return n, errFull
	}
	return n, nil
}

// Flush is there for handlers that insist on it.
func (c *capture) Flush() {}

func (c *capture) isFull() bool { return c.body.Len() > robots.MaxSize }

// failure tells why a captured response can't be used.
func (c *capture) failure() error {
	if c.err != nil && !c.isFull() {
		return c.err
	}
	if enc := c.header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return fmt.Errorf("the body is encoded as %q although that was not asked for", enc)
	}
	return nil
}

// redirect returns where the response points to, nil if nowhere.
func (c *capture) redirect(from *url.URL) *url.URL {
	switch c.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	to, err := from.Parse(c.header.Get("Location"))
	if err != nil || to.Host == "" {
		return nil
	}
	if to.Path == "" {
		to.Path = "/"
	}
	return to
}
