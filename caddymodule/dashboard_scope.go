package caddymodule

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
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
		return status.Sites(routes.PlainHost(r.Host))
	}
	return status.Sites(s.sites...)
}

// find fills in the sites. It runs at the first request, because the routes are
// not complete before.
func (s *dashboardScope) find(server *caddyhttp.Server) {
	servers := routes.Servers(s.ctx)
	if server != nil && !slices.Contains(servers, server) {
		servers = append(servers, server)
	}
	if s.dashboard.Hosts != nil {
		s.sites = s.chosen(servers)
		return
	}
	for _, server := range servers {
		if s.sites = routes.SitesAround(server, s.dashboard); s.sites != nil {
			return
		}
	}
}

// chosen returns the hosts that the operator configured, and the hosts of this
// process that match a pattern among them.
func (s *dashboardScope) chosen(servers []*caddyhttp.Server) (sites []string) {
	for _, host := range s.dashboard.Hosts {
		sites = append(sites, routes.PlainHost(caddy.NewReplacer().ReplaceAll(host, "")))
	}
	for _, server := range servers {
		for _, name := range routes.NewServer(server).Sites {
			if !routes.IsPattern(name) && slices.ContainsFunc(sites, func(host string) bool { return routes.MatchesHost(host, name) }) {
				sites = append(sites, name)
			}
		}
	}
	return sites
}
