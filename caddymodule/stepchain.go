package caddymodule

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// steps are the steps of a handler, in the order of their stages: all of them, and those that
// do something with each request.
type steps struct {
	all        []namedStep
	decide     step.Decide // all stages
	receivers  []step.Receiver
	strippers  []step.Stripper
	answerers  []step.Answerer
	recorders  []step.Recorder
	holders    []step.Holder
	responders []step.Responder
	servers    []step.Server
	enders     []step.Ender
	busy       []step.Busy
	verifier   step.Verifier      // nil without one
	claims     judge.Verification // of the verifier, without a Checker
}

type namedStep struct {
	step.Step
	name string
}

// stepsThat returns the steps that do something.
func stepsThat[Do any](s *steps) (list []Do) {
	for _, one := range s.all {
		if does, ok := one.Step.(Do); ok {
			list = append(list, does)
		}
	}
	return list
}

// stepThat returns the step that does something of which a handler can have one, nil without.
func stepThat[Do any](s *steps) (one Do) {
	for _, one = range stepsThat[Do](s) {
	}
	return one
}

// busyVar is the name of the request variable that is set while the server is busy.
const busyVar = "caddy_robots.busy"

// strangerVar is the name of the request variable that is set for an Exchange.Stranger.
const strangerVar = "caddy_robots.stranger"

// provisionSteps sets up the steps of the settings. Contexts of Caddy share the list of the
// modules that they are for. With that of the app, none of its modules becomes the origin of
// the app's events.
func (h *Handler) provisionSteps(ctx caddy.Context) error {
	s, site := &h.steps, h.site(ctx)
	for name := range h.KnownSteps() {
		site.File, site.Line = h.Places.Of(name)
		one, err := h.app.loadStep(name, h.Settings.Steps[name], site)
		if err != nil {
			return err
		}
		s.all = append(s.all, namedStep{one, name})
	}
	s.receivers, s.strippers = stepsThat[step.Receiver](s), stepsThat[step.Stripper](s)
	s.answerers, s.recorders = stepsThat[step.Answerer](s), stepsThat[step.Recorder](s)
	s.holders, s.busy = stepsThat[step.Holder](s), stepsThat[step.Busy](s)
	s.responders, s.servers, s.enders = stepsThat[step.Responder](s), stepsThat[step.Server](s), stepsThat[step.Ender](s)
	s.verifier = stepThat[step.Verifier](s)
	if s.verifier != nil {
		s.claims = s.verifier.Verification()
	}
	s.decide = step.Chain(stepsThat[step.Step](s),
		step.Own{Before: step.Limit, Do: func(x *step.Exchange) { x.Request.Caller.(*exchange).examine() }},
		step.Own{Before: step.Shed, Do: func(x *step.Exchange) { x.Request.Caller.(*exchange).useBudgets() }})
	return nil
}

// provisionSteps sets up the steps for the process.
func (a *App) provisionSteps() error {
	for _, name := range step.Names(true) {
		if a.Steps[name] == nil {
			continue
		}
		site := a.site()
		site.File, site.Line = a.Places().Of(name)
		if _, err := a.loadStep(name, a.Steps[name], site); err != nil {
			return err
		}
	}
	return nil
}

// loadStep loads a step and sets it up.
func (a *App) loadStep(name string, settings json.RawMessage, site step.Site) (step.Step, error) {
	if string(settings) == "{}" {
		settings = nil // nothing to decode, three times a site
	}
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

// site returns the process as its steps see it, without the place of their line.
func (a *App) site() step.Site {
	return step.Site{Storage: func() certmagic.Storage { return a.storage(a.ctx) }, Budgets: a.memory, Log: a.log}
}

// site returns the handler as its steps see it, without the place of their line.
func (h *Handler) site(ctx caddy.Context) step.Site {
	s := h.app.site()
	s.Server, _ = ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	s.ExemptPaths, s.Redirects, s.Page = h.EffectiveExemptPaths(), make(map[string]string), h.page
	for _, a := range h.Answers {
		if a.Redirect != "" {
			s.Redirects[a.Verdict] = a.Redirect
		}
	}
	s.Key = func() string { return fmt.Sprint(h.app.siteOf(h).Key) }
	s.Hosts = func() []string { return h.app.siteOf(h).Hosts }
	s.Publishes = func() bool {
		return (config.On(h.Publish) || h.addsLines()) && !h.running.Load().modes.All().Monitor
	}
	s.Monitors = func() bool { return h.running.Load().modes.All().MonitorsAll() }
	s.IsBusy = h.steps.areBusy
	s.Store = func() step.Store {
		if sharer := stepThat[step.Sharer](&h.steps); sharer != nil {
			return sharer.Store()
		}
		return nil
	}
	return s
}

// page is step.Site.Page.
func (h *Handler) page(verdict string, use func(text []byte) error) (mark bool, err error) {
	for _, a := range h.Answers {
		if a.Verdict != verdict || a.File == "" {
			mark = mark || a.Verdict == verdict && a.Mark
			continue
		}
		option := "answer " + verdict
		file, err := config.Resolve(option, a.File)
		if err != nil {
			return false, err
		}
		text, err := localfile.Read(file)
		if err == nil {
			err = use(text)
		}
		if err != nil {
			return false, config.InOption(option, fmt.Errorf("%s: %w", file, err))
		}
	}
	return mark, nil
}

// examine is before all that counts a request as one that is let through.
func (x *exchange) examine() {
	x.Uses = x.Uses[:0] // a step before may decide again
	if x.HTTP.ContentLength != 0 {
		x.readBody(&x.Decision)
	}
}

// useBudgets uses the budgets of a request that is let through, if all have room.
func (x *exchange) useBudgets() {
	x.running.Pace(x.HTTP.Context(), &x.Request, &x.Decision, x.Uses)
}

// strip takes from a request what is the steps' own.
func (s *steps) strip(x *step.Exchange, off bool) {
	for _, one := range s.strippers {
		one.Strip(x, off)
	}
}

// answererOf returns the step that answers a request, nil if none does.
func (s *steps) answererOf(x *step.Exchange) step.Answerer {
	for _, one := range s.answerers {
		if one.Answers(x) {
			return one
		}
	}
	return nil
}

// record returns the values of the placeholders of the steps, by the steps that have them.
func (s *steps) record(x *step.Exchange) (all []func(name string) (string, bool)) {
	for _, one := range s.recorders {
		if own := one.Record(x); own != nil {
			all = append(all, own)
		}
	}
	return all
}

// misfits returns what is wrong with the settings of steps under rules.
func (s *steps) misfits(rules *judge.Rules) (list []step.Problem) {
	for _, one := range stepsThat[step.Fitter](s) {
		list = append(list, one.Misfits(rules)...)
	}
	return list
}

// areBusy reports whether a step finds the server busy.
func (s *steps) areBusy() bool {
	return slices.ContainsFunc(s.busy, step.Busy.IsBusy)
}

// budgets returns the keys of the budgets of steps.
func (s *steps) budgets() (list []enforce.BudgetsOf) {
	for _, one := range stepsThat[step.Budgeter](s) {
		list = append(list, one.Budgets)
	}
	return list
}

// switches returns the steps that can be switched off, by their names.
func (s *steps) switches() map[string]step.Switch {
	list := make(map[string]step.Switch)
	for _, one := range s.all {
		if switched, ok := one.Step.(step.Switch); ok {
			list[one.name] = switched
		}
	}
	return list
}
