package caddymodule

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// placed is a robots handler of a server that is being provisioned, with the settings that
// it has in JSON.
type placed struct {
	*config.Settings

	route *routes.Route
}

// checkPlaces checks the places of all robots handlers of the server that is being
// provisioned. It does so for the first of them, while the configuration of the
// others is still there in JSON.
func (h *Handler) checkPlaces(ctx caddy.Context) error {
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if _, checked := h.app.placesOf.LoadOrStore(server, true); checked || server == nil {
		return nil
	}
	var before placedByHost
	var missed []*placed
	need := needs{wanted: make(map[string]bool), found: map[string]bool{"disallowed": true}}
	read := placesReader{h.app.Defaults, make(map[string]*config.Settings)}
	isClosed := false // the server refuses the requests that miss a handler that another proxy asks
	for route, handler := range routes.Walk(server.Routes) {
		p := read.placed(route, handler)
		need.add(route, handler, p)
		if p == nil {
			isClosed = isClosed || handler != nil && refusesAll(route, handler)
			continue
		}
		if !route.IsReached(handler) {
			h.warnOfPlace(mistakes.Unreached(route.Hosts()), p)
			continue
		}
		if err := p.check(); err != nil {
			return err
		}
		for _, first := range before.add(p) {
			if routes.Meet(first.route, route) {
				return fmt.Errorf("robots: requests can reach two handlers: the robots handlers %s and %s. "+
					"Only the first decides, so the second would have no effect: %s", first.name(), p.name(), mistakes.MeetingAdvice)
			}
		}
		asker := p.AskedBy()
		switch {
		case asker == "":
		case route.HasOnly("path", "remote_ip"):
			isClosed = true
		default:
			missed = append(missed, p)
		}
		if asker != "" && !server.TrustedProxiesUnix && !(&routes.Server{Live: server}).TrustsProxies() {
			h.log.Warn("the requests of a proxy need trusted_proxies, but the server has none: every request gets 403",
				zap.String("step", asker), zap.String("handler", p.name()))
		}
	}
	for _, p := range missed {
		if !isClosed {
			h.warnOfPlace(mistakes.Missed(p.AskedBy(), p.route.Hosts()), p)
		}
	}
	for route, handler := range routes.Walk(routes.All(server)[len(server.Routes):]) {
		need.add(route, handler, read.placed(route, handler))
	}
	return need.check()
}

// refusesAll reports whether a handler answers all requests with an error.
func refusesAll(route *routes.Route, handler *routes.Handler) bool {
	var answer struct {
		Status caddyhttp.WeakString `json:"status_code"`
		Abort  bool                 `json:"abort"`
	}
	if !route.HasOnly() || handler.Name != "static_response" && handler.Name != "error" || handler.Decode(&answer) != nil {
		return false
	}
	return handler.Name == "error" || answer.Abort || answer.Status.Int() >= http.StatusBadRequest
}

// placesReader reads the settings of handlers. Those with the same JSON share them.
type placesReader struct {
	defaults *config.Settings
	known    map[string]*config.Settings // by their JSON
}

// placed returns a handler of a walk, nil for one that is no robots handler, or has an
// error of its own.
func (r *placesReader) placed(route *routes.Route, handler *routes.Handler) *placed {
	if handler == nil || handler.Name != "robots" {
		return nil
	}
	s := r.known[string(handler.JSON)]
	if s == nil {
		s = new(config.Settings)
		if handler.Decode(s) != nil {
			return nil
		}
		s.AddDefaults(r.defaults)
		if handler.JSON != nil {
			r.known[string(handler.JSON)] = s
		}
	}
	return &placed{s, route}
}

// warnOfPlace logs what is wrong with the place of a handler, and keeps it for reports.
func (h *Handler) warnOfPlace(wrong statusapi.Problem, of *placed) {
	h.log.Warn("the place of a robots handler is most likely not meant", zap.String("what", wrong.Message),
		zap.String("what_to_do", wrong.Advice), zap.String("handler", of.name()))
	h.app.places = append(h.app.places, wrong)
}

// problems returns what is wrong with the places of handlers, and with what came of them, and
// what is configured for all sites and does not run.
func (a *App) problems() []statusapi.Problem {
	list, all := slices.Clone(a.places), a.allHandlers()
	for _, h := range all {
		if h.late.Load() && !h.decides.Load() {
			list = append(list, mistakes.Late(a.siteOf(h).Route.Hosts()))
		}
	}
	if len(all) == 0 {
		list = append(list, mistakes.WithoutHandler())
	}
	return append(list, step.Problems()...)
}

// placedByHost finds handlers that can serve the same hosts, so that those of many
// sites are not compared with each other.
type placedByHost struct {
	all, wide []*placed // wide are those for any host, or with a pattern
	byHost    map[string][]*placed
}

// add adds p, and returns the handlers that were added before and that can serve
// the same hosts.
func (l *placedByHost) add(p *placed) (found []*placed) {
	hosts, before := p.route.Hosts(), l.all
	l.all = append(l.all, p)
	if len(hosts) == 0 || slices.ContainsFunc(hosts, routes.IsPattern) {
		l.wide = append(l.wide, p)
		return before
	}
	if l.byHost == nil {
		l.byHost = make(map[string][]*placed)
	}
	found = slices.Clone(l.wide)
	for _, host := range hosts {
		host = strings.ToLower(host)
		for _, other := range l.byHost[host] {
			if !slices.Contains(found, other) {
				found = append(found, other)
			}
		}
		l.byHost[host] = append(l.byHost[host], p)
	}
	return found
}

// check returns an error if matchers of path or method keep requests for
// /robots.txt from the handler, so that it can't publish the lines that a step adds.
// Other obstacles are found when the file is read.
func (p *placed) check() error {
	name, editor := p.Editor()
	if editor == nil || !editor.Publishes() || !p.Enforces() || p.route.PassesPath("/robots.txt") {
		return nil
	}
	return fmt.Errorf("robots: %s: a matcher of path or method keeps requests for /robots.txt from this handler, "+
		"so it can't publish the lines of %[1]s: move robots out of the matcher, or out of the handle block with the path", name)
}

// name describes the handler for messages.
func (p *placed) name() string {
	return fmt.Sprintf("of %s (%s)", cmp.Or(strings.Join(p.route.Hosts(), ", "), "any host"), cmp.Or(p.route.Matcher(), "no matcher"))
}

// needs are what the matchers of a server ask for, and what its robots handlers find out.
type needs struct {
	wanted, found map[string]bool // by the field of the matcher
	isUnknown     bool            // a handler has an error of its own, which comes later
}

// add adds what a walk yields. p is the handler, if it is a robots handler without an error.
func (n *needs) add(route *routes.Route, handler *routes.Handler, p *placed) {
	switch {
	case handler == nil:
		for _, matcher := range route.Matchers() {
			if m, ok := matcher.(*MatchRobots); ok {
				m.addNeeds(n.wanted)
			}
		}
	case p != nil:
		p.addFound(n.found)
	case handler.Name == "robots":
		n.isUnknown = true
	}
}

// check returns an error for matchers of a server that never match, because no robots
// handler of the server finds out what they ask for.
func (n *needs) check() error {
	if n.isUnknown {
		return nil
	}
	for _, matcher := range slices.Sorted(maps.Keys(n.wanted)) {
		if n.found[matcher] {
			continue
		}
		if line := lineFor(matcher); line != "" {
			return fmt.Errorf("a matcher robots %s never matches: no robots block of its server has the line `%s`: add it, or remove the matcher",
				matcher, line)
		}
		return fmt.Errorf("a matcher robots %s never matches, because this program has no step for it: remove the matcher", matcher)
	}
	return nil
}

// addNeeds adds the fields that only some settings make match.
func (m *MatchRobots) addNeeds(wanted map[string]bool) {
	for name, field := range m.fields() {
		if isSet, isFlag := field.(*bool); isFlag && *isSet {
			wanted[name] = true
		}
	}
}

// addFound adds the fields of the matcher that the settings make match.
func (p *placed) addFound(found map[string]bool) {
	for _, s := range p.KnownSteps() {
		for _, name := range s.Info().Matches {
			found[name] = true
		}
	}
}

// lineFor returns the line of the handler that a field of the matcher needs; "" if this
// program has none.
func lineFor(matcher string) string {
	for _, name := range step.Names(false) {
		if slices.Contains(step.New(name).Info().Matches, matcher) {
			return name
		}
	}
	return ""
}
