package caddymodule

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// steps are the steps of a handler, in the order of their stages: those that do something
// in each place.
type steps struct {
	decide     step.Decide // all stages
	receivers  []step.Receiver
	strippers  []step.Stripper
	answerers  []step.Answerer
	recorders  []step.Recorder
	fitters    []step.Fitter
	switches   map[string]step.Switch // by name
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

// strangerVar is the name of the request variable that is set for an Exchange.Stranger.
const strangerVar = "caddy_robots.stranger"

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
		h.steps.add(name, s)
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

// Page implements step.Site.
func (j joined) Page(verdict string, use func(text []byte) error) (mark bool, err error) {
	for _, a := range j.Answers {
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

// IsBusy implements step.Site.
func (j joined) IsBusy() bool { return j.steps.areBusy() }

// Storage implements step.Site.
func (j joined) Storage() certmagic.Storage { return j.app.storage(j.app.ctx) }

// Store implements step.Site.
func (j joined) Store() step.Store {
	if j.steps.sharer == nil {
		return nil
	}
	return j.steps.sharer.Store()
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

// Budgets implements step.Site.
func (j joined) Budgets() *throttle.Memory { return j.app.memory }

// Log implements step.Site.
func (j joined) Log() *zap.Logger { return j.app.log }

// add notes what a step with a name does.
func (s *steps) add(name string, a step.Step) {
	s.receivers = appendIf(s.receivers, a)
	s.strippers = appendIf(s.strippers, a)
	s.answerers = appendIf(s.answerers, a)
	s.recorders = appendIf(s.recorders, a)
	s.fitters = appendIf(s.fitters, a)
	if one, ok := a.(step.Switch); ok {
		if s.switches == nil {
			s.switches = make(map[string]step.Switch)
		}
		s.switches[name] = one
	}
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
	if x.HTTP.ContentLength != 0 {
		x.readBody(d)
	}
}

// useBudgets uses the budgets of a request that is let through, if all have room.
func (x *exchange) useBudgets(d *judge.Decision) {
	x.running.Pace(x.HTTP.Context(), &x.Request, d, x.Uses)
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

// record returns the values of the placeholders of the steps, nil if all are empty.
func (s *steps) record(x *step.Exchange) (all func(name string) (string, bool)) {
	for _, one := range s.recorders {
		before, own := all, one.Record(x)
		if own == nil || before == nil {
			all = own
			if own == nil {
				all = before
			}
			continue
		}
		all = func(name string) (string, bool) {
			if value, ok := own(name); ok {
				return value, true
			}
			return before(name)
		}
	}
	return all
}

// misfits returns what is wrong with the settings of steps under rules.
func (s *steps) misfits(rules *judge.Rules) (list []step.Problem) {
	for _, one := range s.fitters {
		list = append(list, one.Misfits(rules)...)
	}
	return list
}

// areBusy reports whether a step finds the server busy.
func (s *steps) areBusy() bool {
	return slices.ContainsFunc(s.busy, step.Busy.IsBusy)
}
