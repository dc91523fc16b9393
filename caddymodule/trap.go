package caddymodule

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// checkTrap returns an error for the trap of a local source that robots.txt does not
// disallow to every group, because crawlers that obey robots.txt would request it.
func (h *Handler) checkTrap(caddy.Context) (err error) {
	if h.check == nil || h.check.Trap == "" || !h.IsLocal() {
		return nil
	}
	h.running.Load().Origins().All(func(_ judge.Origin, rules *judge.Rules) {
		if why := h.check.Trap.Allowed(rules); why != "" && err == nil {
			err = fmt.Errorf("challenge trap %s: robots.txt does not disallow it to every crawler: %s", h.check.Trap, why)
		}
	})
	return err
}

// logInactiveTrap logs that the trap is not in force, because a group of robots.txt allows
// it.
func (h *Handler) logInactiveTrap(log *zap.Logger, rules *judge.Rules) {
	if h.check == nil || h.check.Trap == "" {
		return
	}
	if why := h.check.Trap.Allowed(rules); why != "" {
		log.Warn("a trap is not in force: robots.txt does not disallow it to every crawler",
			zap.String("trap", string(h.check.Trap)), zap.String("why", why))
	}
}

// visitor is a request of a client that trap URLs are made for.
type visitor http.Request

// handlerVar is the name of the request variable that holds the handler whose trap is
// used.
const handlerVar = "caddy_robots.handler"

// visitor returns the visitor for a request that may be for a page. It returns
// nil for other requests, and if the handler has no trap.
func (h *Handler) visitor(x *exchange) *visitor {
	if h.check == nil || h.check.Trap == "" || x.vars == nil || x.Request.Origin.Scheme != "https" {
		return nil
	}
	if dest := x.HTTP.Header["Sec-Fetch-Dest"]; len(dest) > 0 && dest[0] != "document" && dest[0] != "empty" {
		return nil
	}
	x.vars[handlerVar] = h
	return (*visitor)(x.HTTP)
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
	rules := x.running.Origins().Peek(&x.Request)
	if rules == nil {
		return ""
	}
	return h.check.TrapURL(&x.Request, rules)
}
