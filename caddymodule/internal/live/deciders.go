package live

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// candidate is a handler that serves the host of a URL.
type candidate struct {
	*Handler
	origin enforce.Origin // of the URL, with the port of the handler's listener, which may differ from that of the URL
	points int            // how well the handler's server fits the URL
}

// candidates returns the handlers in a scope that serve the host of an origin. It
// has those with the most points.
func (r *Reporter) candidates(scope statusapi.Scope, origin enforce.Origin) (list []candidate) {
	for _, h := range r.handlersIn(scope) {
		if !h.Serves(origin.Host) || !scope.Host(h.SiteOf(origin.Host), origin.Host) {
			continue
		}
		c := candidate{h, origin, 1}
		for _, site := range h.Hosts {
			switch {
			case site == origin.Host:
				c.points = max(c.points, 16)
			case site != statusapi.AnySite:
				c.points = max(c.points, 8)
			}
		}
		if h.Server != nil {
			if h.Server.Port == origin.Port {
				c.points += 4
			}
			if h.HasScheme(origin.Scheme) {
				c.points += 2
			}
			if h.Server.Port != 0 {
				c.origin.Port = h.Server.Port
			}
		}
		list = append(list, c)
	}
	return list
}

// decider is a handler that decides about a request, or may do so.
type decider struct {
	candidate
	routes.Reached
}

// deciders returns the handlers that a GET request of a URL reaches, in the order
// in which it reaches them. It follows the request through the routes of the server
// that fits the URL best. If there are several such servers, or if the place of a
// handler is not known, it is not certain that the request reaches the handler.
func (r *Reporter) deciders(candidates []candidate, origin enforce.Origin, target string, query *statusapi.CheckQuery) (list []decider, err error) {
	best := 0
	for _, c := range candidates {
		if c.Server != nil {
			best = max(best, c.points)
		}
	}
	var servers []*routes.Server
	for _, c := range candidates {
		if c.Server != nil && c.points == best && !slices.Contains(servers, c.Server) {
			servers = append(servers, c.Server)
		}
	}
	for _, server := range servers {
		follower, err := r.newFollower(server, origin, target, query)
		if err != nil {
			return nil, err
		}
		for _, reached := range follower.Follow() {
			if len(servers) > 1 {
				reached.Reach = routes.Maybe
			}
			i := slices.IndexFunc(candidates, func(c candidate) bool { return c.Module == reached.Handler })
			if i >= 0 && !slices.ContainsFunc(list, func(d decider) bool { return d.Module == reached.Handler }) {
				list = append(list, decider{candidates[i], reached})
			}
		}
	}
	for _, c := range candidates {
		if c.Server == nil && !slices.Contains(servers, c.Named) { // following a request finds named routes
			list = append(list, decider{c, routes.Reached{Handler: c.Module, Reach: routes.Maybe}})
		}
	}
	return list, nil
}

// newFollower returns the follower of a GET request through a server.
func (r *Reporter) newFollower(server *routes.Server, origin enforce.Origin, target string, query *statusapi.CheckQuery) (*routes.Follower, error) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	_, host, _ := strings.Cut(origin.String(), "://")
	request := &http.Request{
		Method: http.MethodGet, URL: u, RequestURI: target, Host: host, Header: make(http.Header), Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: siteread.RemoteAddr,
	}
	if query.UserAgent != "" {
		request.Header.Set("User-Agent", query.UserAgent)
	}
	if query.Client != "" {
		request.RemoteAddr = net.JoinHostPort(query.Client, "1")
	}
	if server.HasTLS() {
		request.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: origin.Host}
	}
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(origin.Port)})
	return &routes.Follower{
		Server: server.Live, Request: caddyhttp.PrepareRequest(request.WithContext(ctx), caddy.NewReplacer(), nil, server.Live), HasClient: query.Client != "",
		IsWanted: func(handler caddyhttp.MiddlewareHandler) bool {
			return slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return h.Module == handler })
		},
		IsKnown: r.app.IsKnown,
	}, nil
}

// combine returns the decision about a request from those of several handlers: the
// one that refuses the request or, if none does, the first one. It prefers handlers
// that the request surely reaches. checks is not empty; more is the number of
// handlers that are not in it.
func combine(checks []*statusapi.Check, more int) *statusapi.Check {
	best := 0
	for i := range checks {
		if weight(checks[i]) > weight(checks[best]) {
			best = i
		}
	}
	c := checks[best]
	c.Others, c.More = slices.Delete(checks, best, best+1), more
	unsure := slices.ContainsFunc(c.Others, func(o *statusapi.Check) bool { return !o.Certain })
	switch n := len(c.Others) + more; {
	case !c.Certain && n == 0:
		c.Message += " But it is not certain that the request reaches the robots handler: its request matchers can't be evaluated here."
	case !c.Certain:
		c.Message += fmt.Sprintf(" But it is not certain which of %d robots handlers the request reaches: their request matchers can't be evaluated here.", n+1)
	case unsure:
		c.Message += " Other robots handlers may decide about the request too: their request matchers can't be evaluated here."
	case n > 0:
		c.Message += fmt.Sprintf(" The request reaches %s.", quantity(n+1, "robots handler"))
	}
	return c
}

// weight orders decisions: those that are certain before those that are not, then
// those that refuse the request, then those that monitor mode lets pass.
func weight(c *statusapi.Check) (n int) {
	switch {
	case strings.HasPrefix(c.Action, "would_"):
		n = 1
	case c.Action != enforce.Pass.String():
		n = 2
	}
	if c.Certain {
		n += 3
	}
	return n
}
