package routes

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
)

// Site is the place of a handler: its server, its route, and the sites that they
// serve.
type Site struct {
	Server *Server  // nil if the handler is in none of its routes
	Route  *Route   // of Server
	Hosts  []string // the names of the sites: hosts, patterns or statusapi.AnySite

	// Key stays the same over a reload, because it is made of the listeners, and
	// of the hosts and paths of the routes to the handler. A number makes it
	// unique if several handlers have the same.
	Key origins.HandlerKey
}

// Find returns the sites of the handlers for which is returns true.
func Find(servers []*Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]*Site {
	sites := make(map[caddyhttp.MiddlewareHandler]*Site)
	for _, server := range servers {
		numbers := make(map[string]int) // the next ones, by Key.Handler and host
		for _, handler := range server.handlers {
			if !is(handler.Live) {
				continue
			}
			key := newKey(server, handler.route, numbers)
			site := &Site{Server: server, Route: handler.route, Hosts: key.Hosts, Key: key}
			if len(key.Hosts) == 0 {
				site.Hosts = []string{statusapi.AnySite}
			}
			sites[handler.Live] = site
		}
	}
	return sites
}

// UnknownSite returns the place of a handler without a route of a server. Its key
// is never repeated.
func UnknownSite(handler caddyhttp.MiddlewareHandler) *Site {
	return &Site{Hosts: []string{statusapi.AnySite}, Key: origins.HandlerKey{Handler: fmt.Sprintf("%p", handler)}}
}

// newKey returns the next key of a handler in a route. It differs from all earlier
// ones with a host in common.
func newKey(server *Server, route *Route, numbers map[string]int) origins.HandlerKey {
	key := origins.HandlerKey{Hosts: route.Hosts(), Handler: strings.Join(server.Live.Listen, " ")}
	path := ""
	for r := route; r != nil; r = r.Around {
		if paths := r.paths(); paths != nil {
			path = " " + strings.Join(paths, ",") + path
		}
	}
	key.Handler += path
	hosts := key.Hosts
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	n := 0
	for _, host := range hosts {
		n = max(n, numbers[key.Handler+" "+host])
	}
	for _, host := range hosts {
		numbers[key.Handler+" "+host] = n + 1
	}
	key.Handler = fmt.Sprintf("%s #%d", key.Handler, n)
	return key
}

// Serves reports whether requests for a host may reach the handler.
func (s *Site) Serves(host string) bool {
	return slices.ContainsFunc(s.Hosts, func(site string) bool { return site == statusapi.AnySite || MatchesHost(site, host) })
}

// SiteOf returns the name of the server's site that a host belongs to.
func (s *Site) SiteOf(host string) string {
	if s.Server == nil {
		return statusapi.AnySite
	}
	i, _, _ := s.Server.Site(host)
	return s.Server.Sites[i]
}

// Owns reports whether a host belongs to one of the handler's sites, and not to
// another site with a name that fits better.
func (s *Site) Owns(host string) bool {
	return s.Server != nil && !IsPattern(host) && slices.Contains(s.Hosts, s.SiteOf(host))
}

// Invented returns the values of judge.Request.Site and Request.Invented for a
// host.
func (s *Site) Invented(host string) (pattern string, invented bool) {
	if s.Server == nil {
		return "", false
	}
	_, pattern, invented = s.Server.Site(host)
	return pattern, invented
}

// HasScheme reports whether clients may use a scheme at the server: http without
// TLS, https with TLS, and both behind a trusted proxy.
func (s *Site) HasScheme(scheme string) bool {
	return s.Server == nil || s.Server.TrustsProxies() || (scheme == "https") == s.Server.HasTLS()
}

// Origins returns the origins of the sites that are host names: those at which
// clients may send requests to the server. It adds those of more hosts.
func (s *Site) Origins(more ...string) (list []judge.Origin) {
	for _, host := range append(slices.Clone(s.Hosts), more...) {
		for _, scheme := range []string{"http", "https"} {
			if s.Server != nil && !IsPattern(host) && s.HasScheme(scheme) {
				list = append(list, judge.NewOrigin(scheme, host, s.Server.Port))
			}
		}
	}
	return list
}

// Local returns the origin at which the machine itself reaches the server.
func (s *Site) Local() judge.Origin {
	o := judge.Origin{Scheme: "http", Host: "localhost"}
	if s.Server != nil {
		if o.Port = s.Server.Port; s.Server.HasTLS() {
			o.Scheme = "https"
		}
	}
	return o
}

// SitesAround returns the names of the sites that a handler of a server is part
// of: those of the innermost route around it that has a host matcher, and the
// hosts that routes inside that route match. It returns none if the handler is in
// none of the server's routes, or if no route around it has a host matcher: then any
// site's requests may reach it.
func SitesAround(server *caddyhttp.Server, handler caddyhttp.MiddlewareHandler) []string {
	var all []*Route
	var around *Route
	for route, h := range Walk(server.Routes) {
		switch {
		case h == nil:
			all = append(all, route)
		case h.Live == handler:
			around = route
		}
	}
	if around == nil {
		return nil
	}
	for around.Around != nil && around.hosts() == nil {
		around = around.Around
	}
	sites := around.Hosts()
	if len(sites) == 0 {
		return nil
	}
	for _, route := range all {
		if !route.isInside(around) {
			continue
		}
		for _, host := range route.Hosts() {
			if !slices.Contains(sites, host) {
				sites = append(sites, host)
			}
		}
	}
	return sites
}

// Server has the facts about a server that follow from its configuration. Its
// methods are safe for concurrent use.
type Server struct {
	Live *caddyhttp.Server
	Port uint16 // of all listeners; 0 if they have different ones

	// Sites are the names of the server's sites: the hosts that host matchers
	// name, then the patterns with a * in the order of the routes, then
	// statusapi.AnySite.
	Sites []string

	index    map[string]int // of the hosts in Sites
	patterns []string
	handlers []liveHandler
}

// liveHandler is a handler of a running server.
type liveHandler struct {
	Live  caddyhttp.MiddlewareHandler
	route *Route
}

// NewServer returns the facts about a server.
func NewServer(server *caddyhttp.Server) *Server {
	s := &Server{Live: server, index: make(map[string]int)}
	if ports := Ports(server.Listen); len(ports) >= len(server.Listen) && len(slices.Compact(ports)) == 1 {
		s.Port = uint16(ports[0])
	}
	for route, handler := range Walk(server.Routes) {
		if handler != nil {
			s.handlers = append(s.handlers, liveHandler{handler.Live, route})
			continue
		}
		hosts, _ := route.namedHosts()
		for _, host := range hosts {
			s.add(host)
		}
	}
	s.Sites = append(append(s.Sites, s.patterns...), statusapi.AnySite)
	return s
}

// add adds a host of a host matcher.
func (s *Server) add(host string) {
	switch _, known := s.index[host]; {
	case known, host == "", strings.Contains(host, "{"): // a placeholder may stand for anything
	case !strings.Contains(host, "*"):
		s.index[host] = len(s.Sites)
		s.Sites = append(s.Sites, host)
	case !slices.Contains(s.patterns, host):
		s.patterns = append(s.patterns, host)
	}
}

// Site returns the index in Sites of the site that a host belongs to, and the
// pattern that the host matches, "" for a catch-all site. A host is invented if no
// host matcher names it literally: clients can make up any number of such hosts.
func (s *Server) Site(host string) (index int, pattern string, invented bool) {
	if i, ok := s.index[host]; ok {
		return i, "", false
	}
	for i, p := range s.patterns {
		if MatchesHost(p, host) {
			return len(s.index) + i, p, true
		}
	}
	return len(s.Sites) - 1, "", true
}

// Ports returns the TCP ports of listeners.
func Ports(addresses []string) (ports []uint) {
	for _, listen := range addresses {
		address, err := caddy.ParseNetworkAddress(listen)
		if err != nil || address.StartPort == 0 || address.IsUnixNetwork() {
			continue
		}
		for port := address.StartPort; port <= address.EndPort; port++ {
			ports = append(ports, port)
		}
	}
	return ports
}

// TrustsProxies reports whether the server has trusted_proxies. Caddy clears the
// exported field TrustedProxiesRaw when it provisions the server, so only the
// unexported one can tell. Without that field, for instance in a later version of
// Caddy, the result is false.
func (s *Server) TrustsProxies() bool {
	field := reflect.ValueOf(s.Live).Elem().FieldByName("trustedProxies")
	return field.Kind() == reflect.Interface && !field.IsNil()
}

// HasTLS reports whether the server's listeners use TLS.
func (s *Server) HasTLS() bool { return len(s.Live.TLSConnPolicies) > 0 }
