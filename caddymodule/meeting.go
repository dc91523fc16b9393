package caddymodule

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/forwarded"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// placed is a robots handler of a server that is being provisioned, with the settings that
// it has in JSON.
type placed struct {
	config.Settings

	route  *routes.Route
	advice string // what to write instead of this handler, which rewrites the URI and is no robots handler
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
	var places mistakes.Places
	needs := newNeeds()
	for route, object := range routes.WalkServer(server) {
		if object == nil {
			needs.addMatchers(route.Sets())
		}
		p := &placed{route: route, advice: forwarded.RewriteAdvice(object)}
		var robots *mistakes.Robots
		switch {
		case object["handler"] != "robots":
		case routes.Decode(object, p) != nil:
			needs.unknown = true // it is an error of its own
		default:
			p.AddDefaults(h.app.Defaults)
			robots = &mistakes.Robots{Name: p.name(), Forwarded: p.IsForwarded(), Reads: p.SourceKind() == config.SourceSite}
			needs.addHandler(&p.Settings)
		}
		places.Add(route, object, robots)
		if robots == nil && p.advice == "" {
			continue
		}
		if err := p.check(); err != nil {
			return err
		}
		if p.publishes() && route.IsApart() {
			h.log.Warn("only a request shows whether /robots.txt reaches this robots handler in a named route or an error route: "+
				"without it, the policy is not in force", zap.String("handler", p.name()))
		}
		if p.IsForwarded() && !server.TrustedProxiesUnix && !(&routes.Server{Live: server}).TrustsProxies() {
			h.log.Warn("forwarded_request needs trusted_proxies, but the server has none: every request gets 403",
				zap.String("handler", p.name()))
		}
		for _, first := range before.add(p) {
			if err := h.app.checkMeeting(first, p, h.log); err != nil {
				return err
			}
		}
	}
	h.warnOfPlaces(places.Found())
	return needs.check()
}

// warnOfPlaces logs what is wrong with the places of handlers, and keeps it for reports.
func (h *Handler) warnOfPlaces(places []mistakes.Place) {
	for _, p := range places {
		h.log.Warn("the place of a robots handler is most likely not meant", zap.String("what", p.What), zap.String("what_to_do", p.Advice),
			zap.String("handler", p.Name))
	}
	h.app.places = append(h.app.places, places...)
}

// wrongPlaces returns what is wrong with the places of handlers, and with what came of them.
func (a *App) wrongPlaces() []mistakes.Place {
	list, all := slices.Clone(a.places), a.allHandlers()
	for _, h := range all {
		if h.late.Load() && !h.decides.Load() {
			list = append(list, mistakes.Late(a.siteOf(h).Route.Hosts()))
		}
	}
	if len(a.meetings) > 0 {
		list = append(list, mistakes.Meeting(a.meetings))
	}
	if len(all) == 0 {
		list = append(list, mistakes.WithoutHandler())
	}
	return list
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

// publishes reports whether the handler publishes a policy, if requests for
// /robots.txt reach it.
func (p *placed) publishes() bool {
	return p.Policy != nil && p.Policy.Publishes() && p.Enforces()
}

// check returns an error if matchers of path or method keep requests for
// /robots.txt from the handler, so that it can't publish its policy. Other
// obstacles are found when the file is read.
func (p *placed) check() error {
	if !p.publishes() || p.route.PassesPath("/robots.txt") {
		return nil
	}
	return errors.New("robots: policy: a matcher of path or method keeps requests for /robots.txt from this handler, " +
		"so it can't publish the policy: move robots out of the matcher, or out of the handle block with the path")
}

// checkMeeting returns an error if two robots handlers decide on the same requests:
// the later one would have no effect. If nobody can know whether they do, it warns.
// If one of the two is no robots handler, but rewrites the URI, it warns of that.
func (a *App) checkMeeting(first, later *placed, log *zap.Logger) error {
	if robots, advice := first, later.advice; advice+first.advice != "" {
		if advice == "" {
			robots, advice = later, first.advice
		}
		if robots.advice == "" && !robots.IsForwarded() && routes.Meet(first.route, later.route) != routes.Never {
			log.Warn("a rewrite does not change what this robots handler judges", zap.String("handler", robots.name()),
				zap.String("what", advice))
		}
		return nil
	}
	reach := routes.Meet(first.route, later.route)
	if reach == routes.Never {
		return nil
	}
	handlers := fmt.Sprintf("the robots handlers %s and %s", first.name(), later.name())
	if reach == routes.Surely {
		return fmt.Errorf("robots: requests can reach two handlers: %s. Only the first decides, so the second would have no effect: %s",
			handlers, mistakes.MeetingAdvice)
	}
	log.Warn("requests may reach two robots handlers, and only the first decides: give them matchers that exclude each other",
		zap.String("handlers", handlers))
	a.meetings = append(a.meetings, handlers)
	return nil
}

// name describes the handler for messages.
func (p *placed) name() string {
	return fmt.Sprintf("of %s (%s)", cmp.Or(strings.Join(p.route.Hosts(), ", "), "any host"), cmp.Or(p.route.Matcher(), "no matcher"))
}

// needs finds matchers of a server that never match, because no robots handler of the
// server finds out what they ask for.
type needs struct {
	wanted, found map[string]bool // by the field of the matcher
	unknown       bool            // a handler can't be decoded, which is an error of its own
}

func newNeeds() *needs { return &needs{wanted: make(map[string]bool), found: make(map[string]bool)} }

// addMatchers adds the matchers of a route.
func (n *needs) addMatchers(sets []routes.Set) {
	for _, set := range sets {
		if inside, ok := set["not"].([]routes.Set); ok {
			n.addMatchers(inside)
		}
		m, live := set["robots"].(*MatchRobots)
		if !live {
			m = new(MatchRobots)
			_ = routes.Decode(set["robots"], m) // else an error of its own
		}
		for name, field := range m.fields() {
			if isSet, isFlag := field.(*bool); isFlag && *isSet {
				n.wanted[name] = true
			}
		}
	}
}

// addHandler adds a robots handler.
func (n *needs) addHandler(c *config.Settings) {
	if c.Challenge != nil {
		n.found["stranger"] = true
	}
	for _, s := range c.KnownSteps() {
		for _, name := range s.Info().Matches {
			n.found[name] = true
		}
	}
}

// check returns an error for matchers that never match.
func (n *needs) check() error {
	for _, matcher := range slices.Sorted(maps.Keys(n.wanted)) {
		if n.found[matcher] || n.unknown || matcher == "disallowed" {
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

// lineFor returns the line of the handler that a field of the matcher needs; "" if this
// program has none.
func lineFor(matcher string) string {
	if matcher == "stranger" {
		return "challenge"
	}
	for _, name := range step.Names(false) {
		if slices.Contains(step.New(name).Info().Matches, matcher) {
			return name
		}
	}
	return ""
}
