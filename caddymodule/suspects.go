package caddymodule

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/visitors"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// provisionSuspects sets up the watch for suspects. For local sources, a trap that robots.txt
// does not disallow to every group is an error, because crawlers that obey
// robots.txt would request it.
func (h *Handler) provisionSuspects(ctx caddy.Context) error {
	if h.Suspects == nil {
		return nil
	}
	traps, err := h.Suspects.Traps()
	if err != nil {
		return err
	}
	if h.IsLocal() {
		h.running.Load().Origins().All(func(_ judge.Origin, rules *judge.Rules) {
			for trap, why := range visitors.Inactive(traps, rules) {
				err = cmp.Or(err, fmt.Errorf("suspects trap %s: robots.txt does not disallow it to every crawler: %s", trap, why))
			}
		})
		if err != nil {
			return err
		}
	}
	h.visits = visitors.New(h.app.watchVisitors(ctx, h.limiter), traps, h.Suspects.Action == config.SuspectsBind, h.Suspects.Period())
	return nil
}

// logInactiveTraps logs the traps that are not in force, because a group of
// robots.txt allows them.
func (h *Handler) logInactiveTraps(log *zap.Logger, rules *judge.Rules) {
	if h.Suspects == nil {
		return
	}
	traps, _ := h.Suspects.Traps()
	for trap, why := range visitors.Inactive(traps, rules) {
		log.Warn("a trap is not in force: robots.txt does not disallow it to every crawler",
			zap.String("trap", string(trap)), zap.String("why", why))
	}
}

// visitor is a request of a client that trap URLs are made for.
type visitor http.Request

// handlerVar is the name of the request variable that holds the handler whose
// traps are used.
const handlerVar = "caddy_robots.handler"

// visitor returns the visitor for a request that may be for a page. It returns
// nil for other requests, and if the handler has no trap.
func (h *Handler) visitor(x *exchange) *visitor {
	if !h.visits.HasTraps() || x.vars == nil || x.request.Origin.Scheme != "https" {
		return nil
	}
	if dest := x.r.Header["Sec-Fetch-Dest"]; len(dest) > 0 && dest[0] != "document" && dest[0] != "empty" {
		return nil
	}
	x.vars[handlerVar] = h
	return (*visitor)(x.r)
}

// placeholder returns the value of a placeholder for a person.
func (v *visitor) placeholder(key string) (any, bool) {
	if key == placeholderPrefix+trapPlaceholder {
		return v.trap(), true
	}
	return person.placeholder(key)
}

// trap returns a trap URL for the client, "" if no trap is in force.
func (v *visitor) trap() string {
	if v == nil {
		return ""
	}
	r := (*http.Request)(v)
	h, ok := caddyhttp.GetVar(r.Context(), handlerVar).(*Handler)
	if !ok {
		return ""
	}
	x := exchanges.Get().(*exchange)
	defer x.release()
	h.open(x, r)
	rules := x.running.Origins().Peek(&x.request)
	if rules == nil {
		return ""
	}
	return h.visits.TrapURL(&x.request, rules)
}

// Suspects returns the clients that are suspects now, the latest ones first, and
// at most limit of them. It returns none if no handler has Settings.Suspects. It
// is safe for concurrent use.
func (a *App) Suspects(limit int) []suspect.Suspect {
	a.mu.Lock()
	v := a.visitors
	a.mu.Unlock()
	if v == nil {
		return nil
	}
	return v.Suspects(clock.Now(), limit)
}
