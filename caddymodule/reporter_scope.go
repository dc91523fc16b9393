package caddymodule

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// Sites implements status.Reporter.
func (r *reporter) Sites(scope status.Scope) []string {
	var names []string
	for _, h := range r.all() {
		names = append(names, h.sitesIn(scope)...)
	}
	for _, site := range r.app.counters.Decided() { // also of handlers that the configuration had before
		if scope.Site(site.Site) && site.Total()+site.People > 0 {
			names = append(names, site.Site)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasSite implements status.Reporter.
func (r *reporter) HasSite(scope status.Scope, name string) bool {
	if len(r.in(scope)) > 0 || slices.Contains(r.Sites(scope), name) {
		return true
	}
	for _, h := range r.all() {
		for _, site := range h.Hosts {
			if site != status.AnySite && routes.MatchesHost(site, name) {
				return true
			}
		}
	}
	// A host that no site names, and that requests were sent to.
	return len(r.app.counters.Lines(scope)) > 0
}
