package caddymodule

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// checkHostPattern returns an error if host is neither a host name nor a pattern
// of host names.
func checkHostPattern(host string) error {
	switch {
	case host == "":
		return fmt.Errorf("hosts: a host is empty")
	case strings.ContainsAny(host, "/?#@ "):
		return fmt.Errorf("hosts %q: write only the host name, such as shop.example.com", host)
	case strings.Count(host, ":") == 1:
		return fmt.Errorf("hosts %q: write the host without a port", host)
	}
	return nil
}

// dashboardScope determines the sites that a dashboard shows. One process may
// serve the sites of several tenants, and no tenant may see another one's.
type dashboardScope struct {
	dashboard *Dashboard
	ctx       caddy.Context
	once      sync.Once
	sites     []string // nil if the dashboard's own site was not found
}

// of returns the sites to show in the answer to a request. If the dashboard's
// own site can't be found, for example in a named route, it is the host of the
// request.
func (s *dashboardScope) of(r *http.Request) status.Scope {
	if s.dashboard.AllSites {
		return status.AllSites()
	}
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	s.once.Do(func() { s.find(server) })
	if s.sites == nil {
		return status.Sites(plainHost(r.Host))
	}
	return status.Sites(s.sites...)
}

// find fills in the sites. It runs at the first request, because the routes are
// not complete before.
func (s *dashboardScope) find(server *caddyhttp.Server) {
	servers := make(map[*caddyhttp.Server]bool)
	if app, err := s.ctx.AppIfConfigured("http"); err == nil {
		for _, other := range app.(*caddyhttp.App).Servers {
			servers[other] = true
		}
	}
	if server != nil {
		servers[server] = true
	}
	if s.dashboard.Hosts != nil {
		s.sites = s.chosen(servers)
		return
	}
	for server := range servers {
		if own := s.own(server.Routes, nil, 0); own != nil {
			s.sites = own.sites()
			return
		}
	}
}

// chosen returns the hosts that the operator configured, and the hosts of this
// process that match a pattern among them.
func (s *dashboardScope) chosen(servers map[*caddyhttp.Server]bool) (sites []string) {
	for _, host := range s.dashboard.Hosts {
		host = plainHost(host)
		sites = append(sites, host)
		for server := range servers {
			for name := range newServerFacts(server).hosts {
				if host != name && matchesWildcard(host, name) {
					sites = append(sites, name)
				}
			}
		}
	}
	return sites
}

// ownSite is the site that a dashboard is part of: the innermost route around it
// that has a host matcher.
type ownSite struct {
	hosts  []string    // of the host matcher; nil means any host
	inside serverFacts // the host matchers of routes inside it
	done   bool        // inside is filled in
}

// own searches routes for the dashboard. The hosts are those of the routes
// around them; nil means any. It returns nil if the dashboard is not there.
func (s *dashboardScope) own(routes caddyhttp.RouteList, hosts []string, depth int) *ownSite {
	if depth > maxRouteDepth {
		return nil
	}
	for i := range routes {
		route := &routes[i]
		named := matchedBy(route.MatcherSets, plainHost)
		own := s.ownIn(route, within(named, hosts), depth)
		if own == nil {
			continue
		}
		if !own.done && (named != nil || depth == 0) {
			own.inside.hosts = make(map[string]bool)
			own.inside.addHosts(caddyhttp.RouteList{{Handlers: route.Handlers}}, depth)
			own.done = true
		}
		return own
	}
	return nil
}

// ownIn searches the handlers of one route for the dashboard.
func (s *dashboardScope) ownIn(route *caddyhttp.Route, hosts []string, depth int) *ownSite {
	for _, h := range route.Handlers {
		switch h := h.(type) {
		case *Dashboard:
			if h == s.dashboard {
				return &ownSite{hosts: hosts}
			}
		case *caddyhttp.Subroute:
			if own := s.own(h.Routes, hosts, depth+1); own != nil {
				return own
			}
		}
	}
	return nil
}

// sites returns the names under which requests of the site are counted: its own
// hosts, and the hosts that routes inside it match.
func (o *ownSite) sites() []string {
	sites := slices.Clone(o.hosts)
	if o.hosts == nil {
		sites = []string{status.AnySite}
	}
	sites = append(sites, within(slices.Sorted(maps.Keys(o.inside.hosts)), o.hosts)...)
	return append(sites, within(o.inside.wild, o.hosts)...)
}

// within returns the hosts that both a route and the routes around it match. Nil
// means any host.
func within(named, around []string) []string {
	switch {
	case named == nil:
		return around
	case around == nil:
		return named
	}
	both := []string{}
	for _, n := range named {
		for _, a := range around {
			if n == a || matchesWildcard(a, n) {
				both = append(both, n)
			} else if matchesWildcard(n, a) {
				both = append(both, a)
			}
		}
	}
	return both
}

// plainHost returns a host or pattern in the form of a site's name: in lower
// case, without port, brackets and final dot.
func plainHost(host string) string {
	return enforce.NewOrigin("", caddy.NewReplacer().ReplaceAll(host, ""), 0).Host
}
