package caddymodule

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
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

// names reports whether a site of a server names a host, literally or by a
// wildcard.
func (a *App) names(server *caddyhttp.Server, host string) bool {
	_, pattern, invented := a.sitesOf(server).Site(host)
	return !invented || pattern != ""
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

// count returns the counters of the site that a host belongs to, or of the host if only a
// pattern names it, and the values of judge.Request.Site and Request.Invented.
func (s *serverSites) count(host string, now time.Time) (site *counters.Site, pattern string, invented bool) {
	i, pattern, invented := s.Site(host)
	if site = s.counters[i]; invented {
		site = site.Host(host)
	}
	return site, pattern, invented
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

// prefetchesAtOnce bounds the reads of prefetch that run at the same time.
const prefetchesAtOnce = 4

// maxPrefetched bounds the origins of one handler that are prefetched.
const maxPrefetched = 1000

// prefetch reads robots.txt of the sites that the configuration names, but not behind a
// trusted proxy, where clients may use another scheme than the proxy. So the first crawler
// does not have to wait, and the operator sees at once what can't be read. It returns when
// all are read or ctx ends.
func (a *App) prefetch(ctx context.Context) {
	reads := background.AtMost(prefetchesAtOnce)
	defer reads.Wait()
	for _, h := range a.allHandlers() {
		origins, site := h.running.Load().Origins(), a.siteOf(h)
		if server := site.Server; !origins.PerOrigin() || server == nil || server.Port == 0 || server.TrustsProxies() {
			continue
		}
		list := site.Origins()
		for _, origin := range list[:min(len(list), maxPrefetched)] {
			switch {
			case ctx.Err() != nil:
				return
			case h.running.Load().modes.At(origin.Host) == nil:
				continue
			}
			reads.Go("robots.txt: a first read", func() {
				r := &judge.Request{Origin: origin, Time: clock.Now(), Caller: h.caller(site, origin)}
				r.Site, r.Invented = site.Invented(origin.Host)
				origins.Prefetch(ctx, r)
			})
		}
	}
}
