package caddymodule

import (
	"cmp"
	"errors"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/advice"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func init() {
	caddy.RegisterModule(new(AdminAPI))
}

// adminPrefix is the prefix of the admin API's paths.
const adminPrefix = "/robots/"

// AdminAPI adds the status and the controls of the robots app to Caddy's admin
// endpoint. It needs no configuration. All answers are JSON; the types of the package
// statusapi describe them. The routes, with their parameters:
//
//	GET  /robots/               the status, with problems, requests, sites, crawlers, rules, files and the last refusals: span=hour|day|month, limit, name, after, id
//	GET  /robots/lines          the lines that decided, with their counts, and the files with their texts: id, refused, text, limit
//	GET  /robots/check          the decision about a request: url (required), ua, client
//	GET  /robots/health         problems with advice, and the state of memory
//	POST /robots/refresh        fetches robots.txt files again now: id, grace=off, accept=on
//	POST /robots/budgets/reset  forgets how much of its limits a crawler has used: crawler (required), id
//	POST /robots/mode           sets the mode until the next load: mode=enforce|monitor|configured (required), crawler
//	POST /robots/NAME           switches a step, such as challenge, off or on again, until the next load: set=off|configured (required)
//
// With site=NAME, which may be repeated, a route applies only to these sites.
// (Caddy provisions AdminAPI before all apps, and goes on using it if a new
// configuration can't be loaded. So AdminAPI looks up the running app at each
// request.)
type AdminAPI struct{}

// CaddyModule returns the Caddy module information.
func (*AdminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.robots", New: func() caddy.Module { return new(AdminAPI) }}
}

// Routes implements caddy.AdminRouter.
func (a *AdminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: adminPrefix, Handler: caddy.AdminHandlerFunc(a.serve)}}
}

// serve answers one request.
func (*AdminAPI) serve(w http.ResponseWriter, r *http.Request) error {
	app, err := runningApp()
	if err == nil {
		err = statusapi.ServeHTTP(w, r, strings.TrimPrefix(r.URL.Path, adminPrefix), app.report, statusapi.AllSites())
	}
	if err == nil {
		return nil
	}
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[*statusapi.Error](err); ok {
		status = e.Status
	}
	return caddy.APIError{HTTPStatus: status, Err: err, Message: "robots: " + err.Error()}
}

// runningApp returns the robots app of the running configuration.
func runningApp() (*App, error) {
	app, err := caddy.ActiveContext().AppIfConfigured("robots")
	if err != nil {
		return nil, statusapi.Errorf(http.StatusServiceUnavailable, "no configuration with a robots handler is running")
	}
	return app.(*App), nil
}

// Interface guards
var _ caddy.AdminRouter = (*AdminAPI)(nil)

// newReporter returns a reporter for the app. It may only be used after Start.
func (a *App) newReporter() *live.Reporter {
	return live.New(live.App{
		Handlers: a.liveHandlers, Admin: adminOf(a.ctx), Counters: a.counters, Ceiling: a.ceiling, Log: a.log, Now: clock.Now,
		Active:   a.isActive,
		Problems: a.problems,
	})
}

// adminOf returns the address of the admin endpoint of a configuration. Caddy has no
// function for it, so that this reads the fields that it has now; with others, no address
// is known.
func adminOf(ctx caddy.Context) advice.Admin {
	config := reflect.ValueOf(ctx).FieldByName("cfg")
	if config.Kind() != reflect.Pointer || config.IsNil() || config.Type() != reflect.TypeFor[*caddy.Config]() {
		return ""
	}
	listen := ""
	if admin := config.Elem().FieldByName("Admin"); !admin.IsNil() {
		if admin.Elem().FieldByName("Disabled").Bool() {
			return ""
		}
		listen = admin.Elem().FieldByName("Listen").String()
	}
	return advice.Admin(cmp.Or(caddy.NewReplacer().ReplaceKnown(listen, ""), caddy.DefaultAdminListen))
}

// problems returns what its steps know of, and what is wrong with its registry.
func (h *Handler) problems(monitored bool) (problems []statusapi.Problem) {
	for _, s := range stepsThat[step.Diagnoser](&h.steps) {
		problems = append(problems, s.Problems(monitored)...)
	}
	note := func(severity, kind, message, advice string) {
		problems = append(problems, statusapi.Problem{Severity: severity, Kind: kind, Message: message, Advice: advice})
	}
	err, storageErr := h.registry.Err()
	if err != nil {
		note(statusapi.Warning, "registry", "the registry can't be read: the previous crawlers stay in force: "+err.Error(),
			"Mend the registry. It is read again as soon as it changes, or can be fetched.")
	}
	if storageErr != nil {
		note(statusapi.Warning, "registry", "the copy of the registry can't be loaded from storage or stored: after a restart, its crawlers may be "+
			"unknown until the URL is read again: "+storageErr.Error(),
			"Check that Caddy's user may read and write robots/registry in Caddy's storage, and that the disk is not full.")
	}
	return problems
}

// liveHandlers returns the handlers of the configuration for reports.
func (a *App) liveHandlers() (list []*live.Handler) {
	for _, h := range a.allHandlers() {
		site := a.siteOf(h)
		list = append(list, &live.Handler{
			Site: site, Module: h, Settings: &h.Settings, SourceID: h.sourceID, Limiter: h.limiter, Sharer: stepThat[step.Sharer](&h.steps),
			Verifies: h.steps.verifier != nil,
			SetModes: h.setModes, Views: stepsThat[step.Viewer](&h.steps), Explainers: stepsThat[step.Explainer](&h.steps), Budgets: h.steps.budgets(),
			Switches: h.steps.switches(), Review: h.steps.misfits, Problems: h.problems,
			Running: func() (*enforce.Engine, *live.Modes) {
				current := h.running.Load()
				return current.Engine, current.modes
			},
			IsVerified: func(name string, addr netip.Addr) bool {
				current := h.running.Load()
				row := current.Registry().Lookup(name)
				return current.verification.Checker.Address(row, claim.Client{Addr: addr}, clock.Now()).State == claim.Verified
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

// caller returns an judge.Caller for a read of robots.txt that no request
// causes.
func (h *Handler) caller(site *routes.Site, origin judge.Origin) judge.Caller {
	if site.Server == nil {
		return nil
	}
	return siteread.NewPrefetch(site.Server, origin, h, h.addsLines())
}
