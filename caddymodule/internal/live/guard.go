package live

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// guard switches the search engines of the handlers with the setting guard to
// monitor mode, at the site or host of the first accident of the list that one is refused. Refusals of
// the previous configuration, and those of the first minute, do not count. It
// returns the accidents that this has happened.
func guard(r *Reporter, list []Accident, now time.Time) (acted []Accident) {
	for _, h := range r.handlers() {
		for i := range list {
			one := list[i]
			isHost := h.ownsHost(one.Site)
			if one.Kind != SearchRefused || one.last.Sub(r.began) < refusedFor || h.stopped[one.Site] != nil || !config.On(h.Settings.Guard) ||
				!isHost && !slices.Contains(h.Hosts, one.Site) || h.modeAt(one.Site) != statusapi.Enforce {
				continue
			}
			mode := Mode{Except: []string{string(crawler.Search)}}
			set := func() error { return h.SetMode(mode) }
			if isHost {
				set = func() error { return h.SetHostMode(one.Site, &mode) }
			}
			if err := set(); err != nil {
				r.app.Log.Error("guard: the mode can't be changed", zap.String("site", one.Site), zap.Error(err))
				continue
			}
			one.Kind, one.Since = GuardActed, now
			one.message += "; so the setting `guard` lets all search engines pass, and only monitors them, until the next load of the configuration"
			one.advice = "Mend the line, then run `caddy reload --force` (an unchanged file is not loaded without --force). If " +
				"the refusals are on purpose, write the rules into `policy`, which the guard leaves alone."
			if h.stopped == nil {
				h.stopped = make(map[string]*Accident)
			}
			h.stopped[one.Site] = &one
		}
		for site, one := range h.stopped {
			if h.modeAt(site) == statusapi.Both {
				acted = append(acted, *one)
			}
		}
	}
	return acted
}
