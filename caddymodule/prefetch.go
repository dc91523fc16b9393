package caddymodule

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
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
				r.Site, r.Invented = h.invented(origin.Host)
				current.Origins().Prefetch(ctx, r)
			})
		}
	}
}

// prefetched returns the origins of a handler for which prefetch reads robots.txt.
// Behind a trusted proxy these are only the ones that the previous configuration
// had, because clients may use another scheme than the proxy.
func (h *siteHandler) prefetched() (origins []enforce.Origin) {
	if h.facts == nil || h.handlerSite.server == nil {
		return nil
	}
	if h.facts.port != 0 && !trustsProxies(h.handlerSite.server) {
		scheme := "http"
		if h.hasScheme("https") {
			scheme = "https"
		}
		for _, site := range h.sites {
			if site != status.AnySite && !strings.ContainsAny(site, "*{") {
				origins = append(origins, enforce.NewOrigin(scheme, site, h.facts.port))
			}
		}
	}
	for _, origin := range h.app.copies.of(h.Source).Origins() {
		_, invented := h.invented(origin.Host)
		ours := !invented && h.serves(origin.Host) && h.hasScheme(origin.Scheme) && (h.facts.port == 0 || h.facts.port == origin.Port)
		if ours && !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return origins[:min(len(origins), maxPrefetched)]
}
