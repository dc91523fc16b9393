package allsites

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// Site is one site of a configuration: a route of a server, for a set of hosts.
type Site struct {
	Hosts []string // hosts and wildcards of its address; none: any host

	Root  string // folder of its files, the first if it has several; "" if it has none
	Roots int    // number of the folders
	Files bool   // a file server answers GET /robots.txt

	Robots         bool // it has a robots handler
	Redirects      bool // it answers only with redirects, so it needs no rules
	TrustedProxies bool // its server has trusted_proxies
	Plain          bool // its server listens without TLS
	Port           uint // on which its server listens; 0 if it listens on no TCP port
}

// Open reports whether the site serves hosts that its address does not name: any
// host, or those of a wildcard.
func (s *Site) Open() bool {
	return len(s.Hosts) == 0 || slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.Contains(h, "*") })
}

// Host returns a host that the site serves: the first one that its address names
// without a wildcard. If there is none, it returns localhost for a site that
// serves any host, and else a host that a wildcard matches.
func (s *Site) Host() string {
	for _, h := range s.Hosts {
		if !strings.ContainsAny(h, "*{") {
			return h
		}
	}
	for _, h := range s.Hosts {
		if !strings.Contains(h, "{") {
			return strings.ReplaceAll(h, "*", "www")
		}
	}
	return "localhost"
}

// URL returns the URL of a host that the site serves, with the scheme and port of
// the site's server.
func (s *Site) URL(host string) string {
	scheme, standard := "https", uint(443)
	if s.Plain {
		scheme, standard = "http", 80
	}
	switch {
	case s.Port != 0 && s.Port != standard:
		host = net.JoinHostPort(host, strconv.FormatUint(uint64(s.Port), 10))
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

// Name returns the hosts of the site's address.
func (s *Site) Name() string {
	if len(s.Hosts) == 0 {
		return "all hosts"
	}
	return strings.Join(s.Hosts, ", ")
}

// handler has the settings of handlers that Read reads.
type handler struct {
	Name    string      `json:"handler"`
	Root    string      `json:"root"`    // of file_server, and of vars
	Headers http.Header `json:"headers"` // of static_response
}

// Read returns the sites of a configuration in JSON: one for each route of each
// server. They are ordered by the name of the server, and then as in the
// configuration.
func Read(adapted []byte) ([]Site, error) {
	var config struct {
		Apps struct {
			HTTP caddyhttp.App `json:"http"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(adapted, &config); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	app := &config.Apps.HTTP
	var sites []Site
	for _, name := range slices.Sorted(maps.Keys(app.Servers)) {
		server := cmp.Or(app.Servers[name], new(caddyhttp.Server))
		first := len(sites)
		for i := range server.Routes {
			s := Site{TrustedProxies: server.TrustedProxiesRaw != nil, Port: cmp.Or(append(routes.Ports(server.Listen), 0)...)}
			s.read(server.Routes[i])
			sites = append(sites, s)
		}
		plain := isPlain(app, server, sites[first:])
		for i := range sites[first:] {
			sites[first+i].Plain = plain
		}
	}
	return sites, nil
}

// isPlain reports whether a server listens without TLS. TLS is on if the server
// has a connection policy or if automatic HTTPS turns it on: on the HTTPS port,
// or for a host that the configuration does not exempt.
func isPlain(app *caddyhttp.App, server *caddyhttp.Server, sites []Site) bool {
	ports, auto := routes.Ports(server.Listen), server.AutoHTTPS
	if auto == nil {
		auto = new(caddyhttp.AutoHTTPSConfig)
	}
	all := func(want int) bool {
		return len(ports) > 0 && !slices.ContainsFunc(ports, func(port uint) bool { return port != uint(want) })
	}
	switch {
	case len(server.TLSConnPolicies) > 0:
		return false
	case auto.Disabled, all(cmp.Or(app.HTTPPort, 80)):
		return true
	case all(cmp.Or(app.HTTPSPort, 443)):
		return false
	}
	return !slices.ContainsFunc(sites, func(s Site) bool {
		return slices.ContainsFunc(s.Hosts, func(h string) bool { return !slices.Contains(auto.Skip, h) })
	})
}

// answering are handlers that hand no request on to the next one.
var answering = []string{"file_server", "reverse_proxy", "static_response", "error"}

// read reads the route of the site.
func (s *Site) read(route caddyhttp.Route) {
	pages := false    // a handler answers with something other than a redirect
	answered := false // a handler may answer GET /robots.txt
	for route, module := range routes.Walk(caddyhttp.RouteList{route}) {
		if module == nil {
			if route.Around == nil {
				s.Hosts = route.Hosts()
			}
			continue
		}
		h := new(handler)
		if module.Decode(h) == nil {
			s.add(h)
		}
		if !answered && slices.Contains(answering, h.Name) && route.PassesPath("/robots.txt") {
			answered, s.Files = true, h.Name == "file_server"
		}
		switch redirect := h.Headers.Get("Location") != ""; h.Name {
		case "static_response":
			s.Redirects, pages = s.Redirects || redirect, pages || !redirect
		case "subroute", "headers", "vars", "rewrite", "encode":
		default:
			pages = true
		}
	}
	s.Redirects = s.Redirects && !pages
}

// add adds what a handler says about the site.
func (s *Site) add(h *handler) {
	switch h.Name {
	case "robots":
		s.Robots = true
	case "vars", "file_server":
		if h.Root != "" && h.Root != s.Root {
			s.Root, s.Roots = cmp.Or(s.Root, h.Root), s.Roots+1
		}
	}
}
