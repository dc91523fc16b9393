package caddymodule

import (
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/federation"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// steps are the steps of a handler, in the order of their stages: those that do something
// in each place.
type steps struct {
	decide     step.Decide // all stages
	holders    []step.Holder
	responders []step.Responder
	enders     []step.Ender
	busy       []step.Busy
	places     []*judge.Place
	features   []step.Feature
}

// busyVar is the name of the request variable that is set while the server is busy.
const busyVar = "caddy_robots.busy"

// provisionSteps sets up the steps of the settings. Contexts of Caddy share the list of the
// modules that they are for. With that of the app, none of its modules becomes the origin of
// the app's events.
func (h *Handler) provisionSteps() error {
	var list []step.Step
	for name := range h.KnownSteps() {
		module, err := h.app.ctx.LoadModuleByID(step.Namespace+"."+name, h.Steps[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s := module.(step.Step)
		if err := s.Join(joined{h}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, s)
		h.steps.add(s)
	}
	h.steps.decide = stages(list)
	return nil
}

// joined is a handler as its steps see it.
type joined struct{ *Handler }

// Key implements step.Site.
func (h joined) Key() string { return fmt.Sprint(h.app.siteOf(h.Handler).Key) }

// add notes what a step does.
func (s *steps) add(a step.Step) {
	s.holders = appendIf(s.holders, a)
	s.responders = appendIf(s.responders, a)
	s.enders = appendIf(s.enders, a)
	s.busy = appendIf(s.busy, a)
	s.features = appendIf(s.features, a)
	if placed, ok := a.(step.Placed); ok {
		s.places = append(s.places, placed.Places()...)
	}
}

// appendIf appends a step to those that do the same, if it does.
func appendIf[T any](list []T, a step.Step) []T {
	if t, ok := a.(T); ok {
		return append(list, t)
	}
	return list
}

// stages returns the decision of all stages: those of the steps, and the core's budgets.
func stages(list []step.Step) step.Decide {
	decide := func(*step.Exchange) {}
	budgets := func(next step.Decide) step.Decide {
		return func(x *step.Exchange) {
			x.Request.Caller.(*exchange).useBudgets(&x.Decision)
			next(x)
		}
	}
	for _, s := range slices.Backward(list) {
		if budgets != nil && s.Info().Stage < step.Shed {
			decide, budgets = budgets(decide), nil
		}
		if decider, ok := s.(step.Decider); ok {
			decide = decider.Wrap(decide)
		}
	}
	if budgets != nil {
		decide = budgets(decide)
	}
	return decide
}

// useBudgets uses the budgets of a request that is let through, if all have room.
func (x *exchange) useBudgets(d *judge.Decision) {
	if x.handler.check != nil {
		x.check(d)
	}
	if x.handler.watch != nil {
		x.watchStorms(d)
	}
	if x.HTTP.ContentLength != 0 {
		x.readBody(d)
	}
	x.running.Pace(x.HTTP.Context(), &x.Request, d)
	if d.Action != judge.Pass && x.handler.forwarded == nil && federation.Asks(x.HTTP) {
		x.federate(d)
	}
}

// areBusy reports whether a step finds the server busy.
func (s *steps) areBusy() bool {
	return slices.ContainsFunc(s.busy, step.Busy.IsBusy)
}
