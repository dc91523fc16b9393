package caddymodule

import (
	"net/netip"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// maxSuspects is larger than any number of suspects.
const maxSuspects = 1 << 16

// newReporter returns a reporter for the app. It may only be used after Start.
func (a *App) newReporter() *live.Reporter {
	return live.New(live.App{
		Handlers: a.liveHandlers, Counters: a.counters, Ceiling: a.ceiling, Log: a.log, Now: clock.Now, IsKnown: isKnown, Active: a.isActive,
		Meetings: func() []string { return a.meetings },
		Doors:    func() [][]string { return a.doors },
		Suspects: func() []suspect.Suspect { return a.Suspects(maxSuspects) },
	})
}

// liveHandlers returns the handlers of the configuration for reports.
func (a *App) liveHandlers() (list []*live.Handler) {
	for _, h := range a.allHandlers() {
		site := a.siteOf(h)
		list = append(list, &live.Handler{
			Site: site, Module: h, Settings: &h.Settings, SourceID: h.sourceID, Limiter: h.limiter, Verifier: h.verifier,
			SetMode: h.setMode, SetHostMode: h.setHostMode, Load: h.shedLoad, Check: h.check, Watch: h.watch,
			Running: func() (*enforce.Engine, live.Mode) {
				current := h.running.Load()
				return current.Engine, current.mode
			},
			HostModes: func() map[string]live.Mode {
				modes := make(map[string]live.Mode)
				for host, m := range h.running.Load().hosts {
					modes[host] = m.Mode
				}
				return modes
			},
			IsVerified: func(name string, addr netip.Addr) bool {
				current := h.running.Load()
				row := current.Registry().Lookup(name)
				return current.checker.Address(row, verify.Client{Addr: addr}, clock.Now()).State == verify.Verified
			},
			Caller: func(origin judge.Origin) judge.Caller { return h.caller(site, origin) },
		})
	}
	return list
}

// allHandlers returns the handlers of the configuration.
func (a *App) allHandlers() []*Handler {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.handlers)
}

// isKnown is routes.Follower.IsKnown for the matcher of this module.
func isKnown(matcher any, reached bool) bool {
	m, ok := matcher.(*MatchRobots)
	return ok && !reached && !m.Verified && !m.Impostor && !m.Disallowed && !m.Suspect && !m.Stranger && !m.Busy
}

// caller returns an judge.Caller for a read of robots.txt that no request
// causes.
func (h *Handler) caller(site *routes.Site, origin judge.Origin) judge.Caller {
	if site.Server == nil {
		return nil
	}
	return siteread.NewPrefetch(site.Server, origin, h, h.Policy != nil && h.Policy.Publishes())
}
