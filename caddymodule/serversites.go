package caddymodule

import (
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// serverSites has the sites of a server, with their counters.
type serverSites struct {
	*routes.Server
	counters []*counters.Site // in the order of Server.Sites
}

// sitesOf returns the sites of a server. They are determined once for each server.
func (a *App) sitesOf(server *caddyhttp.Server) *serverSites {
	if known, ok := a.servers.Load(server); ok {
		return known.(*serverSites)
	}
	s := &serverSites{Server: routes.NewServer(server)}
	for _, name := range s.Sites {
		s.counters = append(s.counters, a.counters.Site(name))
	}
	known, _ := a.servers.LoadOrStore(server, s)
	return known.(*serverSites)
}

// sitesOf returns the sites of the server of a request, nil if it is nil.
func (h *Handler) sitesOf(server *caddyhttp.Server) *serverSites {
	if server == nil {
		return nil
	}
	if s := h.server.Load(); s != nil && s.Live == server {
		return s
	}
	s := h.app.sitesOf(server)
	h.server.Store(s)
	return s
}

// count returns the counters of the site that a host belongs to, and the values of
// enforce.Request.Site and Request.Invented for the host.
func (s *serverSites) count(host string) (site *counters.Site, pattern string, invented bool) {
	i, pattern, invented := s.Site(host)
	return s.counters[i], pattern, invented
}

// siteOf returns the place of a handler in the configuration. It may only be used
// after Start.
func (a *App) siteOf(h *Handler) *routes.Site {
	a.findSites.Do(func() {
		var servers []*routes.Server
		for _, server := range routes.Servers(a.ctx) {
			servers = append(servers, a.sitesOf(server).Server)
		}
		a.sites = routes.Find(servers, isRobots)
	})
	if site := a.sites[h]; site != nil {
		return site
	}
	return routes.UnknownSite(h)
}

// isRobots reports whether a handler is a robots handler.
func isRobots(handler caddyhttp.MiddlewareHandler) bool {
	_, ok := handler.(*Handler)
	return ok
}
