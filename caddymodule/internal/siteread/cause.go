package siteread

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
)

// ClientAddress is the client address of the read. 192.0.2.0/24 is for
// documentation and belongs to nobody (RFC 5737).
const ClientAddress = "192.0.2.1"

// RemoteAddr is the http.Request.RemoteAddr of the read.
const RemoteAddr = ClientAddress + ":1"

// Cause is the reason for a read: a client's request, or the prefetch of an
// origin. It is an judge.Caller, whose context Source.Fetch needs.
type Cause struct {
	hop
	reader    any // the handler that reads
	origin    judge.Origin
	publishes bool // that handler publishes a file of its own

	passed     atomic.Bool
	foreign    atomic.Bool // a redirect led to another host
	linked     atomic.Bool // a handler publishes a file at that host
	unanswered atomic.Bool // the latest request reached the end of the routes
}

// hop has the parts of the read's request that come from the cause or from a
// redirect.
type hop struct {
	server  *caddyhttp.Server
	host    string // with the port of the listener, if the client sent it
	tls     bool
	trusted bool     // the client is a trusted proxy
	proto   string   // the proxy's X-Forwarded-Proto
	local   net.Addr // the address at which the request arrived, for placeholders
}

// causeKey is the key of a *Cause in a context.
type causeKey struct{}

// NewCause returns the cause for a client's request to an origin at a server. The
// handler that reads is known by the comparable value reader. publishes says
// whether it publishes a file of its own: then judge.Response.Apart says whether
// the read did not pass through it.
func NewCause(r *http.Request, server *caddyhttp.Server, origin judge.Origin, reader any, publishes bool) *Cause {
	c := &Cause{hop: hop{server: server, host: origin.Host, tls: r.TLS != nil}, reader: reader, origin: origin, publishes: publishes}
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

// NewPrefetch returns the cause for a read of the robots.txt of an origin that no
// request causes.
func NewPrefetch(server *routes.Server, origin judge.Origin, reader any, publishes bool) *Cause {
	c := &Cause{hop: hop{server: server.Live, local: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(origin.Port)}}, reader: reader,
		origin: origin, publishes: publishes}
	_, c.host, _ = strings.Cut(origin.String(), "://")
	switch {
	case origin.Scheme != "https":
	case server.TrustsProxies() && !server.HasTLS(): // a proxy terminates TLS
		c.trusted, c.proto = true, "https"
	default:
		c.tls = true
	}
	return c
}

// Detach implements judge.Caller.
func (c *Cause) Detach() context.Context {
	return context.WithValue(context.Background(), causeKey{}, c)
}

// HidesClient implements judge.Caller.
func (c *Cause) HidesClient() bool { return false }

// isApart returns the value of judge.Response.Apart.
func (c *Cause) isApart() bool { return c.publishes && !c.passed.Load() }

// IsRead reports whether a request is a read of any handler. It compares the
// address first, because that costs less than the context.
func IsRead(r *http.Request) bool {
	return r.RemoteAddr == RemoteAddr && r.Context().Value(causeKey{}) != nil
}

// NotePass records that a request passes through a handler, if it is that
// handler's own read. Then requests of clients for /robots.txt pass through it
// too, so that it can publish a file.
func NotePass(r *http.Request, reader any) {
	if c, ok := r.Context().Value(causeKey{}).(*Cause); ok && c.reader == reader {
		c.passed.Store(true)
	}
}

// IsForeign reports whether a request is a read that was redirected from another
// host. It gets the rules that the site publishes.
func IsForeign(r *http.Request) bool {
	c, ok := r.Context().Value(causeKey{}).(*Cause)
	return ok && c.foreign.Load()
}

// Links knows which hosts get their rules from another host that publishes a file,
// by a redirect. So hosts that redirect to each other do not wait for each other.
// The zero Links is ready for use, and safe for concurrent use.
type Links struct {
	mu sync.Mutex
	to map[place]place
}

// place is a handler at an origin.
type place struct {
	handler any
	origin  judge.Origin
}

// maxLinks bounds the links of a configuration.
const maxLinks = 10_000

// Follow links the host of a read that was redirected from another one to the
// handler's file at an origin. It reports whether the file may be published for
// the read: not if its rules come, in the end, from the host that reads.
func (l *Links) Follow(r *http.Request, handler any, origin judge.Origin) bool {
	c, ok := r.Context().Value(causeKey{}).(*Cause)
	if !ok {
		return true
	}
	from, at := place{c.reader, c.origin}, place{handler, origin}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		l.to = make(map[place]place)
	}
	if _, known := l.to[from]; from != at && (known || len(l.to) < maxLinks) {
		l.to[from] = at
		c.linked.Store(true)
	}
	for range origins.MaxRedirects + 1 {
		if at == from {
			return false
		}
		if at, ok = l.to[at]; !ok {
			return true
		}
	}
	return false
}

// end forgets the link of a read that has followed none.
func (l *Links) end(c *Cause) {
	if c.linked.Swap(false) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.to, place{c.reader, c.origin})
}
