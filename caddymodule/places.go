package caddymodule

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/forwarded"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// placed is a robots handler of a server that is being provisioned, as in JSON.
type placed struct {
	*checked
	route  *routes.Route
	advice string // what to write instead of this handler, which rewrites the URI and is no robots handler
}

// checked are settings of a handler that are checked.
type checked struct {
	config.Settings
	Off      []string `json:"off"`
	identity string   // what checkLater compares, in JSON
}

// checkPlaces checks the places of all robots handlers of the server that is being
// provisioned. It does so for the first of them, while the configuration of the
// others is still there in JSON.
func (h *Handler) checkPlaces(ctx caddy.Context) error {
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if _, checked := h.app.placesOf.LoadOrStore(server, true); checked || server == nil {
		return nil
	}
	var before [][]*placed // with the same identity
	var doors []*placed    // with forwarded_request, that a client can miss
	closed := false        // a request that misses them is refused
	none, known := new(checked), make(map[string]*checked)
	for route, object := range routes.WalkServer(server) {
		p := &placed{checked: none, route: route, advice: forwarded.RewriteAdvice(object)}
		if object["handler"] == "robots" {
			p.checked = h.app.checkedOf(object, known)
		}
		closed = closed || refuses(object) && route.Hosts() == nil && route.Matcher() == "" && !route.IsApart()
		if p.checked == nil || p.checked == none && p.advice == "" {
			continue // an error of its own, or no robots handler
		}
		if err := p.check(); err != nil {
			return err
		}
		if p.publishes() && route.IsApart() {
			h.log.Warn("only a request shows whether /robots.txt reaches this robots handler in a named route or an error route: without it, the policy is not in force", zap.String("handler", p.name()))
		}
		if p.advice == "" && !route.IsReached() {
			h.log.Warn("no request reaches this robots handler, because handlers before it answer all of them: move it up", zap.String("handler", p.name()))
		}
		if p.IsForwarded() && !server.TrustedProxiesUnix && !(&routes.Server{Live: server}).TrustsProxies() {
			h.log.Warn("forwarded_request needs trusted_proxies, but the server has none: every request gets 403", zap.String("handler", p.name()))
		}
		switch {
		case !p.IsForwarded():
		case route.Misses():
			doors = append(doors, p)
		default:
			closed = true
		}
		same := slices.IndexFunc(before, func(list []*placed) bool { return list[0].identity == p.identity && list[0].advice == p.advice })
		if same < 0 {
			same, before = len(before), append(before, nil)
		}
		for _, first := range slices.Concat(slices.Delete(slices.Clone(before), same, same+1)...) { // the same do not differ
			if err := first.checkLater(p, h.log); err != nil {
				return err
			}
		}
		before[same] = append(before[same], p)
	}
	for _, p := range doors {
		if !closed {
			h.log.Warn("clients can miss forwarded_request, and then get 200, so that the proxy lets them in: "+live.DoorAdvice, zap.String("handler", p.name()))
			h.app.doors = append(h.app.doors, p.route.Hosts())
		}
	}
	return nil
}

// refuses reports whether a handler in JSON refuses all requests that reach it.
func refuses(object map[string]any) bool {
	status := fmt.Sprint(object["status_code"])
	switch object["handler"] {
	case "static_response":
		return object["abort"] == true || len(status) == 3 && status >= "400"
	case "error":
		return true
	}
	return false
}

// checkedOf returns the settings of a robots handler that are checked, with those
// of the global option; nil if they can't be decoded. known has those of others.
func (a *App) checkedOf(object map[string]any, known map[string]*checked) *checked {
	settings := maps.Clone(object)
	maps.DeleteFunc(settings, func(name string, _ any) bool {
		return !slices.Contains([]string{"crawlers", "forwarded_request", "mode", "off", "policy", "registry", "verify"}, name)
	})
	text, _ := json.Marshal(settings)
	c := known[string(text)]
	if c != nil {
		return c
	}
	if c = new(checked); json.Unmarshal(text, c) != nil {
		return nil
	}
	c.AddDefaults(a.Defaults, c.Off)
	identity, _ := json.Marshal([]any{c.Crawlers, c.Registry, c.Verify, c.Off})
	c.identity, known[string(text)] = string(identity), c
	return c
}

// publishes reports whether the handler publishes a policy, if requests for
// /robots.txt reach it.
func (p *placed) publishes() bool {
	return p.Policy != nil && p.Policy.Publishes() && p.Mode != config.ModeMonitor
}

// check returns an error if matchers of path or method keep requests for
// /robots.txt from the handler, so that it can't publish its policy. Other
// obstacles are found when the file is read.
func (p *placed) check() error {
	if !p.publishes() || p.route.PassesPath("/robots.txt") {
		return nil
	}
	return errors.New("robots: policy: a matcher of path or method keeps requests for /robots.txt from this handler, so it can't publish the policy: " +
		"move robots out of the matcher, or out of the handle block with the path")
}

// checkLater returns an error if requests that reach the handler p can reach the
// handler later too, and the two would identify or verify their client differently.
// It warns if one of them is a robots handler, and the other one rewrites the URI.
func (p *placed) checkLater(later *placed, log *zap.Logger) error {
	if robots, advice := p, later.advice; advice+p.advice != "" {
		if advice == "" {
			robots, advice = later, p.advice
		}
		if robots.advice == "" && !robots.IsForwarded() && routes.Meet(p.route, later.route) != routes.Never {
			log.Warn("a rewrite does not change what this robots handler judges", zap.String("handler", robots.name()), zap.String("what", advice))
		}
		return nil
	}
	differ := p.differences(later)
	if differ == nil {
		return nil
	}
	text := fmt.Sprintf("the robots handlers %s and %s differ in %s: write it in the global option robots, or the same in both, because the first handler that a request reaches identifies and verifies the client for the others",
		p.name(), later.name(), strings.Join(differ, " and "))
	switch routes.Meet(p.route, later.route) {
	case routes.Surely:
		return errors.New("robots: requests can reach two handlers: " + text)
	case routes.Maybe:
		log.Warn("requests may reach two handlers", zap.String("handlers", text))
	}
	return nil
}

// differences returns the settings about the identity of clients in which a later
// handler differs. Without verify, it uses the results of the first one.
func (p *placed) differences(later *placed) (names []string) {
	if !reflect.DeepEqual(p.Crawlers, later.Crawlers) {
		names = append(names, "crawler")
	}
	if p.Registry != later.Registry {
		names = append(names, "registry")
	}
	if later.Verify == nil && p.Verify != nil && slices.Contains(later.Off, "verify") || later.Verify != nil && !reflect.DeepEqual(p.Verify, later.Verify) {
		names = append(names, "verify")
	}
	return names
}

// name describes the handler for messages.
func (p *placed) name() string {
	return fmt.Sprintf("of %s (%s)", cmp.Or(strings.Join(p.route.Hosts(), ", "), "any host"), cmp.Or(p.route.Matcher(), "no matcher"))
}
