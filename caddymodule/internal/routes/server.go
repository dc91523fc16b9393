package routes

import (
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

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
}

// NewServer returns the facts about a server.
func NewServer(server *caddyhttp.Server) *Server {
	s := &Server{Live: server, index: make(map[string]int)}
	if ports := Ports(server.Listen); len(ports) >= len(server.Listen) && len(slices.Compact(ports)) == 1 {
		s.Port = uint16(ports[0])
	}
	for route, handler := range walk(nil, server.Routes) {
		if handler == nil {
			hosts, _ := route.namedHosts()
			for _, host := range hosts {
				s.add(host)
			}
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
