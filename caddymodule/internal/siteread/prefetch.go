package siteread

import (
	"maps"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// maxPrefetched bounds the origins of one handler that are prefetched.
const maxPrefetched = 1000

// Prefetched returns the origins for which a handler at a site should read
// robots.txt before a request causes it: those that the configuration names, and
// those that it has in common with known, which the previous configuration read, by
// host.
// Behind a trusted proxy they are only the latter, because clients may use another
// scheme than the proxy.
func Prefetched(site *routes.Site, known map[string][]judge.Origin) (origins []judge.Origin) {
	server := site.Server
	if server == nil {
		return nil
	}
	if server.Port != 0 && !server.TrustsProxies() {
		origins = site.Origins()
	}
	hosts := site.Hosts
	if slices.ContainsFunc(hosts, routes.IsPattern) {
		hosts = slices.Collect(maps.Keys(known))
	}
	for _, host := range hosts {
		if _, invented := site.Invented(host); invented || !site.Serves(host) {
			continue
		}
		for _, origin := range known[host] {
			if site.HasScheme(origin.Scheme) && (server.Port == 0 || server.Port == origin.Port) && !slices.Contains(origins, origin) {
				origins = append(origins, origin)
			}
		}
	}
	return origins[:min(len(origins), maxPrefetched)]
}
