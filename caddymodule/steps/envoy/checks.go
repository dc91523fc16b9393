package envoy

import (
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// checks counts the requests with which Envoy's filter ext_authz asks about those of
// clients over HTTP, and what all of them lack. Such a request has the client's method,
// path and Host and, of its other fields, only those that Envoy's configuration allows.
// The zero value is ready, and it is safe for concurrent use.
//
// Clients can send what Envoy does, so nothing but warnings may depend on it. It takes
// requests from private addresses and trusted proxies only, and says nothing unless
// nearly all requests are checks.
type checks struct {
	checks, others atomic.Int32 // since the count began
	robots         atomic.Int32 // checks of /robots.txt since it was last read here
	has            atomic.Uint32
}

// What a check has.
const (
	hasAgent  = 1 << iota // a field User-Agent
	hasClient             // the client's address
	hasScheme             // a field X-Forwarded-Proto
)

// enoughChecks is how many checks must lack something before it is a gap. As many
// other requests end the count, unless there were ten times as many checks.
// enoughReads is the number for /robots.txt, which clients seldom read.
const (
	enoughChecks = 100
	enoughReads  = 10
)

// note counts a request for a target. trusted: a trusted proxy sent it. known: the
// address of the proxy's client is known. note reports whether gaps may return more now.
func (c *checks) note(r *http.Request, target string, trusted, known bool) bool {
	if !isCheck(r, trusted) {
		if c.checks.Load() > 0 {
			c.noteOther(target)
		}
		return false
	}
	var has uint32
	if r.Header["User-Agent"] != nil {
		has = hasAgent
	}
	if known {
		has |= hasClient
	}
	if r.Header["X-Forwarded-Proto"] != nil {
		has |= hasScheme
	}
	if c.has.Load()&has != has {
		c.has.Or(has)
	}
	more := judge.IsRobotsTxt(target) && c.robots.Load() < enoughReads && c.robots.Add(1) == enoughReads
	return c.checks.Load() < 10*enoughChecks && c.checks.Add(1) == enoughChecks || more
}

// noteOther counts a request that is no check.
func (c *checks) noteOther(target string) {
	if judge.IsRobotsTxt(target) {
		c.robots.Store(0)
		return
	}
	if c.others.Add(1) < enoughChecks {
		return
	}
	if c.others.Store(0); c.checks.Swap(enoughChecks) < 10*enoughChecks {
		c.checks.Store(0)
		c.robots.Store(0)
		c.has.Store(0)
	}
}

// isCheck reports whether a request has the form of a check. Envoy sends both fields
// with each of them, and removes the first from requests of clients outside.
func isCheck(r *http.Request, trusted bool) bool {
	if r.Header["X-Envoy-Internal"] == nil || r.Header.Get("Content-Length") != "0" {
		return false
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid for a socket
	addr := peer.Addr().Unmap()
	return trusted || addr.IsPrivate() || addr.IsLoopback() || shared.Contains(addr)
}

// shared are addresses that networks of containers use as private ones (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

const allowed = " among the headers that Envoy sends: allowed_headers in ext_authz, headersToExtAuth in Envoy Gateway, " +
	"allowedHeaders in the Gateway API."

// gaps returns what is missing in the configuration of Envoy, or of the handler that it
// asks, without Problem.Subject. publishes: the handler publishes a robots.txt. unseen
// are its settings that need the page, or its end.
func (c *checks) gaps(publishes bool, unseen []string) (list []statusapi.Problem) {
	if c.checks.Load() < enoughChecks {
		return nil
	}
	add := func(missing bool, severity, message, advice string) {
		if missing {
			list = append(list, statusapi.Problem{Severity: severity, Kind: "envoy", Message: message, Advice: advice})
		}
	}
	has := c.has.Load()
	add(has&hasAgent == 0, statusapi.Severe, "Envoy asks about requests without their User-Agent: no rule applies to any client",
		"Write user-agent"+allowed)
	add(has&hasClient == 0, statusapi.Warning,
		"Envoy asks about requests, and the addresses of their clients are not known: all clients count as one",
		"Set trusted_proxies to the addresses of Envoy, and trusted_proxies_strict. Write x-forwarded-for"+allowed)
	add(has&hasScheme == 0, statusapi.Warning, "Envoy asks about requests without X-Forwarded-Proto: those by https count as by http",
		"Write x-forwarded-proto"+allowed)
	add(publishes && c.robots.Load() >= enoughReads, statusapi.Severe,
		"Envoy asks about /robots.txt, and then sends clients another file than this server publishes and enforces",
		"In Envoy, route /robots.txt to this server, without ext_authz.")
	add(len(unseen) > 0, statusapi.Severe, "the handler does not see the page that Envoy sends, or when it ends, so this can't work: "+
		strings.Join(unseen, ", "), "Remove it, or set it to off.")
	return list
}
