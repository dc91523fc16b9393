package caddymodule

import (
	"context"
	"slices"
	"sync"

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
	for _, h := range a.report.all() {
		current := h.running.Load()
		if current == nil || !current.Origins().PerOrigin() {
			continue
		}
		for _, origin := range h.prefetched() {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			reading.Go(func() {
				defer func() { <-slots }()
				r := &enforce.Request{Origin: origin, Time: clock.Now(), Caller: h.caller(origin)}
				r.Site, r.Invented = h.Invented(origin.Host)
				current.Origins().Prefetch(ctx, r)
			})
		}
	}
}

// prefetched returns the origins of a handler for which prefetch reads robots.txt.
// Behind a trusted proxy these are only the ones that the previous configuration
// had, because clients may use another scheme than the proxy.
func (h *siteHandler) prefetched() (origins []enforce.Origin) {
	if h.Server == nil {
		return nil
	}
	if h.Server.Port != 0 && !h.Server.TrustsProxies() {
		origins = h.Origins()
	}
	for _, origin := range h.app.copies.of(h.Source).Origins() {
		_, invented := h.Invented(origin.Host)
		ours := !invented && h.Serves(origin.Host) && h.HasScheme(origin.Scheme) && (h.Server.Port == 0 || h.Server.Port == origin.Port)
		if ours && !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return origins[:min(len(origins), maxPrefetched)]
}
