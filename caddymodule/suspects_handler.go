package caddymodule

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// suspicion looks for suspects among the requests of a handler that seem to be
// people's.
type suspicion struct {
	visitors *pooledWatch
	traps    []suspect.Trap
	bind     bool
	period   time.Duration // from Suspects.For
}

// provisionSuspects sets up suspicion. For local sources, a trap that robots.txt
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
	if kind := h.SourceKind(); kind == config.SourceFile || kind == config.SourceInline {
		var problem error
		h.running.Load().Origins().All(func(_ enforce.Origin, p *enforce.Rules) {
			for _, trap := range traps {
				if allowed := allowingGroup(p, trap); problem == nil && allowed != "" {
					problem = fmt.Errorf("suspects trap %s: robots.txt does not disallow it to every crawler: %s", trap, allowed)
				}
			}
		})
		if problem != nil {
			return problem
		}
	}
	visitors, err := h.app.watchVisitors(ctx, h.limiter)
	if err != nil {
		return err
	}
	h.suspicion = &suspicion{visitors: visitors, traps: traps, bind: h.Suspects.Action == config.SuspectsBind, period: h.Suspects.Period()}
	return nil
}

// sampleTrapURL is the end of an example of a trap URL.
const sampleTrapURL = "anyMintedUrl-0123456789_xyz"

// allowingGroup describes a group of robots.txt that allows URLs of a trap, "" if
// there is none.
func allowingGroup(p *enforce.Rules, trap suspect.Trap) string {
	for _, target := range []string{string(trap), string(trap) + sampleTrapURL} {
		group, ok := p.DisallowsEveryGroup(target)
		switch {
		case ok:
		case group == nil:
			return fmt.Sprintf("it has no group for *: add one with Disallow: %s, and add this line to all other groups", trap)
		default:
			return fmt.Sprintf("the group for %s (line %d) allows it: add Disallow: %s to that group", clip(group.Token()), group.Line(), trap)
		}
	}
	return ""
}

// logInactiveTraps logs the traps that are not in force, because a group of
// robots.txt allows them.
func (h *Handler) logInactiveTraps(log *zap.Logger, p *enforce.Rules) {
	if h.Suspects == nil {
		return
	}
	traps, _ := h.Suspects.Traps()
	for _, trap := range traps {
		if allowed := allowingGroup(p, trap); allowed != "" {
			log.Warn("a trap is not in force: robots.txt does not disallow it to every crawler", zap.String("trap", string(trap)), zap.String("why", allowed))
		}
	}
}

// observe counts a request that seems to be a person's. It returns true if the
// client is a suspect to which the group for * applies. A request is counted
// once, even if it passes several robots handlers.
func (s *suspicion) observe(x *exchange, rules *enforce.Rules) (suspect bool) {
	if x.earlier != nil && x.earlier.looked {
		x.standing, x.looked = x.earlier.standing, true
	} else if !s.count(x, rules) {
		return false
	}
	return s.bind && x.standing.Suspect && x.standing.Page && !x.Authorized
}

// count counts a request. It returns false if such requests are not counted.
func (s *suspicion) count(x *exchange, rules *enforce.Rules) bool {
	if len(x.r.Header["Cookie"]) > 0 || x.Authorized || x.Ambiguous || !s.visit(x) {
		return false
	}
	v := &x.visit
	v.Method, v.Target, v.Header, v.Time = x.Method, x.Target, x.r.Header, x.Time
	v.RobotsTxt = enforce.IsRobotsTxt(x.Target)
	if !x.Proxied {
		v.Connection = x.r.RemoteAddr
	}
	v.Trap = s.hit(x, rules)
	x.standing, x.looked = s.visitors.See(v, s.period), true
	return true
}

// visit fills in the client and the site of x.visit. It returns false if the
// client is not certain, or if the request was not sent over HTTPS.
func (s *suspicion) visit(x *exchange) bool {
	if x.Origin.Scheme != "https" || len(x.UserAgents) != 1 || x.Client == "" {
		return false
	}
	v := &x.visit
	v.Client, _ = netip.ParseAddr(x.Client)
	v.Site, v.Port, v.UserAgent, v.Secure = x.Origin.Host, x.Origin.Port, x.UserAgents[0], true
	if x.Invented {
		v.Site = cmp.Or(x.Site, "*")
	}
	return v.Client.IsValid()
}

// hit returns whether and how a request hits a trap that is in force.
func (s *suspicion) hit(x *exchange, rules *enforce.Rules) suspect.Hit {
	for _, trap := range s.traps {
		hit := s.visitors.hit(trap, x.Target, &x.visit, x.Time)
		if hit == suspect.NoHit {
			continue
		}
		if _, ok := rules.DisallowsEveryGroup(x.Target); ok {
			return hit
		}
	}
	return suspect.NoHit
}

// visitor is a request of a client that trap URLs are made for.
type visitor http.Request

// handlerVar is the name of the request variable that holds the handler whose
// traps are used.
const handlerVar = "caddy_robots.handler"

// visitor returns the visitor for a request that may be for a page. It returns
// nil for other requests, and if the handler has no trap.
func (h *Handler) visitor(x *exchange) *visitor {
	if h.suspicion == nil || len(h.suspicion.traps) == 0 || x.vars == nil || x.Origin.Scheme != "https" {
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
	h.fill(x, r)
	policy := h.running.Load().Origins().Peek(&x.Request)
	if policy == nil || !h.suspicion.visit(x) {
		return ""
	}
	u := h.suspicion.traps[0].Mint(h.suspicion.visitors.key.Load(), x.visit.Site, x.visit.Client, x.Time)
	if _, ok := policy.DisallowsEveryGroup(u); !ok {
		return ""
	}
	return u
}
