package caddymodule

import (
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// serverFacts has the facts that a handler needs about its server. They are
// determined once for each server.
type serverFacts struct {
	server *caddyhttp.Server
	port   uint16          // the port of all listeners; 0 if they have different ones
	hosts  map[string]bool // host names in host matchers
	wild   []string        // patterns with a * in host matchers

	// The counters of the sites, by host and in the order of wild.
	byHost    map[string]*counters.Site
	byPattern []*counters.Site
	others    *counters.Site // of all hosts without a matcher
}

// factsOf returns the facts about a server, nil if it is nil.
func (h *Handler) factsOf(server *caddyhttp.Server) *serverFacts {
	if server == nil {
		return nil
	}
	if f := h.server.Load(); f != nil && f.server == server {
		return f
	}
	f := newServerFacts(server)
	f.count(h.app.counters.Counters)
	h.server.Store(f)
	return f
}

func newServerFacts(server *caddyhttp.Server) *serverFacts {
	f := &serverFacts{server: server, port: listenerPort(server), hosts: make(map[string]bool)}
	f.addHosts(server.Routes, 0)
	return f
}

// count fills in the counters of the server's sites.
func (f *serverFacts) count(all *counters.Counters) {
	f.byHost = make(map[string]*counters.Site, len(f.hosts))
	for host := range f.hosts {
		f.byHost[host] = all.Site(host)
	}
	for _, pattern := range f.wild {
		f.byPattern = append(f.byPattern, all.Site(pattern))
	}
	f.others = all.Site(status.AnySite)
}

// listenerPort returns the port of all listeners of a server, 0 if they have
// different ones.
func listenerPort(server *caddyhttp.Server) (port uint16) {
	for _, listen := range server.Listen {
		addr, err := caddy.ParseNetworkAddress(listen)
		if err != nil || addr.PortRangeSize() > 1 || port != 0 && uint(port) != addr.StartPort {
			return 0
		}
		port = uint16(addr.StartPort)
	}
	return port
}

// trustsProxies reports whether a server has trusted_proxies. Caddy clears the
// exported field TrustedProxiesRaw when it provisions the server, so only the
// unexported one can tell. Without that field, for instance in a later version of
// Caddy, the result is false.
func trustsProxies(server *caddyhttp.Server) bool {
	field := reflect.ValueOf(server).Elem().FieldByName("trustedProxies")
	return field.Kind() == reflect.Interface && !field.IsNil()
}

// maxRouteDepth is the depth to which subroutes are searched.
const maxRouteDepth = 10

// addHosts collects the host matchers of routes and their subroutes.
func (f *serverFacts) addHosts(routes caddyhttp.RouteList, depth int) {
	if depth > maxRouteDepth {
		return
	}
	for i := range routes {
		for _, set := range routes[i].MatcherSets {
			for _, m := range set {
				if hosts, ok := m.(*caddyhttp.MatchHost); ok {
					f.add(*hosts)
				}
			}
		}
		for _, h := range routes[i].Handlers {
			if sub, ok := h.(*caddyhttp.Subroute); ok {
				f.addHosts(sub.Routes, depth+1)
			}
		}
	}
}

func (f *serverFacts) add(hosts caddyhttp.MatchHost) {
	for _, host := range hosts {
		switch host = strings.ToLower(host); {
		case strings.Contains(host, "*"):
			f.wild = append(f.wild, host)
		case !strings.Contains(host, "{"): // a placeholder may stand for anything
			f.hosts[host] = true
		}
	}
}

// site returns the counters of the site that a host belongs to, and the pattern
// that the host matches, "" for a catch-all site. A host is invented if no host
// matcher names it literally: clients can make up any number of such hosts.
func (f *serverFacts) site(host string) (site *counters.Site, pattern string, invented bool) {
	if site = f.byHost[host]; site != nil {
		return site, "", false
	}
	for i, p := range f.wild {
		if matchesWildcard(p, host) {
			return f.byPattern[i], p, true
		}
	}
	return f.others, "", true
}

// matchesWildcard reports whether a host matches a pattern. As in Caddy's host
// matcher, a * in the pattern stands for one label.
func matchesWildcard(pattern, host string) bool {
	for {
		p, restP, moreP := strings.Cut(pattern, ".")
		h, restH, moreH := strings.Cut(host, ".")
		if p != "*" && p != h || moreP != moreH {
			return false
		}
		if !moreP {
			return true
		}
		pattern, host = restP, restH
	}
}

// localPort returns the port at which a request arrived, 0 if it is not known.
func localPort(r *http.Request) uint16 {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return uint16(addr.Port)
	case *net.UDPAddr:
		return uint16(addr.Port)
	case net.Addr:
		if ap, err := netip.ParseAddrPort(addr.String()); err == nil {
			return ap.Port()
		}
	}
	return 0
}
