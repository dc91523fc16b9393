package caddymodule

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// steps are the steps of a handler, in the order of their stages: those that do something
// in each place.
type steps struct {
	decide     step.Decide // all stages
	receivers  []step.Receiver
	holders    []step.Holder
	responders []step.Responder
	servers    []step.Server
	enders     []step.Ender
	busy       []step.Busy
	troubled   []step.Troubled
	reviewers  []step.Reviewer
	editor     step.Editor            // nil without one
	reader     func() step.HeadReader // nil without one
	budgets    []enforce.BudgetsOf
	places     []*judge.Place
	features   []step.Feature
	sharer     step.Sharer        // nil without
	verifier   step.Verifier      // nil without one
	claims     judge.Verification // of the verifier, without a Checker
}

// busyVar is the name of the request variable that is set while the server is busy.
const busyVar = "caddy_robots.busy"

// provisionSteps sets up the steps of the settings. Contexts of Caddy share the list of the
// modules that they are for. With that of the app, none of its modules becomes the origin of
// the app's events.
func (h *Handler) provisionSteps(ctx caddy.Context) error {
	var list []step.Step
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	for name := range h.KnownSteps() {
		s, err := h.app.loadStep(name, h.Steps[name], joined{h, h.app, server, h.Places, name})
		if err != nil {
			return err
		}
		list = append(list, s)
		h.steps.add(s)
	}
	h.steps.decide = stages(list)
	return nil
}

// provisionSteps sets up the steps for the process.
func (a *App) provisionSteps() error {
	for _, name := range step.Names(true) {
		if a.Steps[name] == nil {
			continue
		}
		if _, err := a.loadStep(name, a.Steps[name], joined{nil, a, nil, a.Places(), name}); err != nil {
			return err
		}
	}
	return nil
}

// loadStep loads a step and sets it up.
func (a *App) loadStep(name string, settings json.RawMessage, site joined) (step.Step, error) {
	module, err := a.ctx.LoadModuleByID(step.Namespace+"."+name, settings)
	if err != nil {
		return nil, config.InOption(name, err)
	}
	s := module.(step.Step)
	if err := s.Join(site); err != nil {
		return nil, config.InOption(name, err)
	}
	if starter, ok := s.(step.Starter); ok {
		a.onStart(starter.Start)
	}
	return s, nil
}

// joined is a handler, nil for the process, as its step with a name sees it.
type joined struct {
	*Handler
	app    *App
	server *caddyhttp.Server
	places config.Places
	name   string
}

// Place implements step.Site.
func (j joined) Place() (file string, line int) { return j.places.Of(j.name) }

// Key implements step.Site.
func (j joined) Key() string {
	if j.Handler == nil {
		return ""
	}
	return fmt.Sprint(j.app.siteOf(j.Handler).Key)
}

// Publishes implements step.Site.
func (j joined) Publishes() bool {
	return (config.On(j.Handler.Publish) || j.addsLines()) && !j.running.Load().modes.All().Monitor
}

// Monitors implements step.Site.
func (j joined) Monitors() bool { return j.running.Load().modes.All().MonitorsAll() }

// Redirects implements step.Site.
func (j joined) Redirects() map[string]string {
	list := make(map[string]string)
	for _, a := range j.Answers {
		if a.Redirect != "" {
			list[a.Verdict] = a.Redirect
		}
	}
	return list
}

// Hosts implements step.Site.
func (j joined) Hosts() []string {
	if j.Handler == nil {
		return nil
	}
	return j.app.siteOf(j.Handler).Hosts
}

// ExemptPaths implements step.Site.
func (j joined) ExemptPaths() []string { return j.Settings.EffectiveExemptPaths() }

// Server implements step.Site.
func (j joined) Server() *caddyhttp.Server { return j.server }

// Counts implements step.Site.
func (j joined) Counts(sites []string) (all, crawlers []statusapi.FleetRow) {
	return j.app.counters.FleetRows(statusapi.Sites(sites...))
}

// Budgets implements step.Site.
func (j joined) Budgets() *throttle.Memory { return j.app.memory }

// Log implements step.Site.
func (j joined) Log() *zap.Logger { return j.app.log }

// add notes what a step does.
func (s *steps) add(a step.Step) {
	s.receivers = appendIf(s.receivers, a)
	s.holders = appendIf(s.holders, a)
	s.responders = appendIf(s.responders, a)
	s.servers = appendIf(s.servers, a)
	s.enders = appendIf(s.enders, a)
	if reader, ok := a.(step.Reader); ok {
		s.reader = reader.NewReader
	}
	s.busy = appendIf(s.busy, a)
	s.troubled = appendIf(s.troubled, a)
	s.reviewers = appendIf(s.reviewers, a)
	s.features = appendIf(s.features, a)
	if editor, ok := a.(step.Editor); ok {
		s.editor = editor
	}
	if sharer, ok := a.(step.Sharer); ok {
		s.sharer = sharer
	}
	if verifier, ok := a.(step.Verifier); ok {
		s.verifier, s.claims = verifier, verifier.Verification()
	}
	if budgeter, ok := a.(step.Budgeter); ok {
		s.budgets = append(s.budgets, budgeter.Budgets)
	}
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

// stages returns the decision of all stages: those of the steps, and the core's before and
// after the stage Limit.
func stages(list []step.Step) step.Decide {
	decide := func(*step.Exchange) {}
	core := []struct {
		before step.Stage
		do     func(*exchange, *judge.Decision)
	}{{step.Limit, (*exchange).examine}, {step.Shed, (*exchange).useBudgets}}
	wrap := func() {
		next, do := decide, core[len(core)-1].do
		core = core[:len(core)-1]
		decide = func(x *step.Exchange) {
			do(x.Request.Caller.(*exchange), &x.Decision)
			next(x)
		}
	}
	for _, s := range slices.Backward(list) {
		for len(core) > 0 && s.Info().Stage < core[len(core)-1].before {
			wrap()
		}
		if decider, ok := s.(step.Decider); ok {
			decide = decider.Wrap(decide)
		}
	}
	for len(core) > 0 {
		wrap()
	}
	return decide
}

// examine is before all that counts a request as one that is let through.
func (x *exchange) examine(d *judge.Decision) {
	x.Uses = x.Uses[:0] // a step before may decide again
	if x.handler.check != nil {
		x.check(d)
	}
	if x.handler.watch != nil {
		x.watchStorms(d)
	}
	if x.HTTP.ContentLength != 0 {
		x.readBody(d)
	}
}

// useBudgets uses the budgets of a request that is let through, if all have room.
func (x *exchange) useBudgets(d *judge.Decision) {
	x.running.Pace(x.HTTP.Context(), &x.Request, d, x.Uses)
}

// areBusy reports whether a step finds the server busy.
func (s *steps) areBusy() bool {
	return slices.ContainsFunc(s.busy, step.Busy.IsBusy)
}
