package challenge

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// watch is the name of the step Storms.
const watch = "storms"

// Of the addresses, one in watchedShare is watched: those of which the text ends with an odd
// digit and a 7.
const (
	watchedShare = 20
	watchedOver  = 10 // pages a minute
)

func isWatched(addr string) bool {
	n := len(addr)
	return n > 1 && addr[n-1] == '7' && addr[n-2]&1 == 1
}

// Storms tells of a storm on paths for which no `challenge` asks. It watches a part of the
// addresses, and changes no decision. Default: on.
//
//	storms off
type Storms struct {
	check   *Check
	release func() error
}

// CaddyModule returns the Caddy module information.
func (*Storms) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.storms", New: func() caddy.Module { return new(Storms) }}
}

// Info implements step.Step.
func (*Storms) Info() step.Info {
	return step.Info{Stage: step.Check, Default: true, NeedsResponse: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	storms [off]
func (*Storms) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() || d.NextBlock(0) {
		return d.Errf("storms: unexpected %q: want off, or nothing", d.Val())
	}
	return nil
}

// Join implements step.Step.
func (s *Storms) Join(site step.Site) error {
	var memory *Memory
	memory, s.release = shared.Get("challenge", NewMemory)
	s.check = New(memory, Config{Name: watch, Over: watchedOver, Window: time.Minute}, site.Key)
	return nil
}

// Cleanup implements caddy.CleanerUpper.
func (s *Storms) Cleanup() error {
	if s.release == nil {
		return nil
	}
	return s.release()
}

// Wrap implements step.Decider.
func (s *Storms) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		if isWatched(x.Request.Client) {
			s.check.Watch(arrivals.Of(x), &x.Request, x.HTTP, &x.Decision)
		}
		next(x)
	}
}

// Respond implements step.Responder.
func (*Storms) Respond(x *step.Exchange, w http.ResponseWriter) http.ResponseWriter {
	return arrivals.Of(x).Reach(w)
}

// End implements step.Ender.
func (*Storms) End(x *step.Exchange) { end(x) }

// View implements step.Feature.
func (*Storms) View(bool) step.Section { return step.Section{} }

// Explain implements step.Feature.
func (*Storms) Explain(*judge.Request, *judge.Decision) string { return "" }

// Accidents implements step.Feature.
func (s *Storms) Accidents(monitored bool) (list []step.Problem) {
	for site, state := range s.check.states(clock.Now()) {
		n := state.Lone * watchedShare
		p := accident(site, &state)
		p.Now = n
		p.Message = fmt.Sprintf("about %s in a minute asked %s for a page that robots.txt disallows, and for nothing else",
			words.Plural(n, "address", "addresses"), nameOf(site))
		p.Advice = "Write `challenge disallowed` into the block `robots` of " + nameOf(site) +
			": browsers then show once that they are browsers, without a click, and others get no page."
		if monitored {
			p.Advice += " In monitor mode they still get their pages. " + enforceAdvice
		}
		p.Actions = []statusapi.Action{{
			What: "Let browsers show once that they are browsers, without a click", Text: "challenge disallowed", Where: statusapi.Caddyfile,
		}}
		list = append(list, p)
	}
	return list
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Storms)(nil)
	_ step.Step          = (*Storms)(nil)
	_ step.Decider       = (*Storms)(nil)
	_ step.Responder     = (*Storms)(nil)
	_ step.Ender         = (*Storms)(nil)
	_ step.Feature       = (*Storms)(nil)
)
