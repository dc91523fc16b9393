package caddymodule

import (
	"context"
	"slices"
	"sync"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// Bounds of prefetch.
const (
	maxPrefetched    = 1000 // origins of a handler
	prefetchesAtOnce = 4    // of all handlers
)

// prefetch reads robots.txt of the sites that the configuration names, and of the
// hosts that the previous configuration had read it for. So the first crawler does
// not have to wait, and the operator sees at once what can't be read. It returns
// when all are read or ctx ends.
func (a *App) prefetch(ctx context.Context) {
	slots := make(chan struct{}, prefetchesAtOnce)
	var reading sync.WaitGroup
	defer reading.Wait()
	for _, h := range a.allHandlers() {
		current := h.running.Load()
		if current == nil || !current.Origins().PerOrigin() {
			continue
		}
		site := a.siteOf(h)
		for _, origin := range h.prefetched(site) {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			reading.Go(func() {
				defer func() { <-slots }()
				r := &enforce.Request{Origin: origin, Time: clock.Now(), Caller: h.caller(site, origin)}
				r.Site, r.Invented = site.Invented(origin.Host)
				current.Origins().Prefetch(ctx, r)
			})
		}
	}
}

// prefetched returns the origins of a handler for which prefetch reads robots.txt.
// Behind a trusted proxy these are only the ones that the previous configuration
// had, because clients may use another scheme than the proxy.
func (h *Handler) prefetched(site *routes.Site) (origins []enforce.Origin) {
	if site.Server == nil {
		return nil
	}
	if site.Server.Port != 0 && !site.Server.TrustsProxies() {
		origins = site.Origins()
	}
	for _, origin := range h.app.copies.of(h.Source).Origins() {
		_, invented := site.Invented(origin.Host)
		ours := !invented && site.Serves(origin.Host) && site.HasScheme(origin.Scheme) && (site.Server.Port == 0 || site.Server.Port == origin.Port)
		if ours && !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return origins[:min(len(origins), maxPrefetched)]
}
