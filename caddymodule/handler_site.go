package caddymodule

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// handlerSite is the server and the sites that a handler belongs to.
type handlerSite struct {
	server *caddyhttp.Server // nil if no route to the handler was found
	facts  *serverFacts      // of server
	sites  []string          // hosts, patterns or status.AnySite

	matcher string // describes the other matchers of the first route to the handler; "" if there are none
}

// siteOf returns the name of the site that a host belongs to.
func (p *handlerSite) siteOf(host string) string {
	if p.facts == nil {
		return status.AnySite
	}
	site, _, _ := p.facts.site(host)
	return site.Name()
}

// serves reports whether requests for a host may reach the handler.
func (p *handlerSite) serves(host string) bool {
	return slices.ContainsFunc(p.sites, func(site string) bool {
		return site == status.AnySite || site == host || strings.Contains(site, "*") && matchesWildcard(site, host)
	})
}

// handlerSites returns the site of each handler, from the routes of the HTTP
// app.
func (a *App) handlerSites(handlers []*Handler) map[*Handler]*handlerSite {
	places := make(map[*Handler]*handlerSite, len(handlers))
	for _, h := range handlers {
		places[h] = nil
	}
	if app, err := a.ctx.AppIfConfigured("http"); err == nil {
		for _, server := range app.(*caddyhttp.App).Servers {
			f := newServerFacts(server)
			f.count(a.counters.Counters)
			f.findSites(server.Routes, nil, nil, 0, places)
		}
	}
	for h, p := range places {
		switch {
		case p == nil: // for example in a named route
			places[h] = &handlerSite{sites: []string{status.AnySite}}
		case len(p.sites) == 0:
			p.sites = []string{status.AnySite}
		}
	}
	return places
}

// findSites records the sites of the handlers in routes. The hosts are those of
// the routes around them; none means any. around has the matchers of these routes,
// one text for each.
func (f *serverFacts) findSites(routes caddyhttp.RouteList, hosts, around []string, depth int, places map[*Handler]*handlerSite) {
	if depth > maxRouteDepth {
		return
	}
	for i := range routes {
		within, matchers := hosts, withMatchers(around, matchersOf(routes[i].MatcherSets))
		if named := matchedBy(routes[i].MatcherSets, strings.ToLower); named != nil {
			within = named
		}
		for _, handler := range routes[i].Handlers {
			switch handler := handler.(type) {
			case *caddyhttp.Subroute:
				f.findSites(handler.Routes, within, matchers, depth+1, places)
			case *Handler:
				p, ours := places[handler]
				if !ours {
					continue
				}
				if p == nil {
					p = &handlerSite{server: f.server, facts: f, matcher: cutText(joinMatchers(matchers))}
					places[handler] = p
				}
				for _, host := range within {
					if !slices.Contains(p.sites, host) {
						p.sites = append(p.sites, host)
					}
				}
			}
		}
	}
}

// matchedBy returns the hosts in host matchers, each converted by spell. It
// returns nil, which means any host, if a matcher set has no host matcher.
func matchedBy(sets caddyhttp.MatcherSets, spell func(string) string) (hosts []string) {
	for _, set := range sets {
		named := false
		for _, m := range set {
			if match, ok := m.(*caddyhttp.MatchHost); ok {
				named = true
				for _, host := range *match {
					hosts = append(hosts, spell(host))
				}
			}
		}
		if !named {
			return nil
		}
	}
	return hosts
}
