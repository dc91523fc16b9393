package routes

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Route is a route and the routes around it. The methods accept a nil Route, which
// is outside of all routes.
type Route struct {
	Around *Route // nil for a route of the server itself

	live caddyhttp.MatcherSets // of a running server
	sets []Set                 // of a configuration in JSON

	// Known only in a walk through JSON:
	group     string   // of routes of which a request takes only the first that matches
	ends      bool     // no request leaves the route
	unreached bool     // no request reaches the handler that was yielded with the route
	apart     bool     // an error route or a named route, or inside one
	rewrites  []*Route // routes of earlier handlers that rewrite the request
}

// Set has matchers that must all match, by their names. The value of the matcher
// not is a []Set. Other values are as in JSON, or the matchers of a running server.
type Set map[string]any

// Sets returns the matcher sets of the route, of which one must match.
func (r *Route) Sets() []Set {
	if r.live != nil {
		return setsOf(r.live)
	}
	return r.sets
}

// setsOf returns the matcher sets of a running server.
func setsOf(live []caddyhttp.MatcherSet) (sets []Set) {
	for _, matchers := range live {
		set := make(Set)
		for _, m := range matchers {
			module, ok := m.(caddy.Module)
			if !ok {
				continue
			}
			if not, ok := m.(*caddyhttp.MatchNot); ok {
				m = setsOf(not.MatcherSets)
			}
			set[module.CaddyModule().ID.Name()] = m
		}
		sets = append(sets, set)
	}
	return sets
}

// setsOfJSON returns the matcher sets in the field match of a route.
func setsOfJSON(match any) (sets []Set) {
	list, _ := match.([]any)
	for _, matchers := range list {
		object, _ := matchers.(map[string]any)
		set := make(Set)
		for name, value := range object {
			if name == "not" {
				value = setsOfJSON(value)
			}
			set[name] = value
		}
		sets = append(sets, set)
	}
	return sets
}

// jsonOf returns the value of a matcher in a Set as in JSON. It leaves out values
// of a running server that may be secret, because people who may see the dashboard
// see the text about its matchers.
func jsonOf(name string, value any) any {
	if _, ok := value.(caddy.Module); !ok {
		return value
	}
	var tree any
	_ = Decode(value, &tree)
	return withoutSecrets(name, tree)
}

// Decode converts a part of a configuration in JSON to another type.
func Decode(tree, to any) error {
	text, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// Hosts returns the hosts that the route and the routes around it match: names and
// patterns with a *. Nil means any host.
func (r *Route) Hosts() (hosts []string) {
	for ; r != nil; r = r.Around {
		hosts = intersection(hosts, r.hosts())
	}
	return hosts
}

// hosts returns the hosts in the route's own host matchers. Nil means any host: a
// matcher set has no host matcher.
func (r *Route) hosts() []string {
	if hosts, all := r.namedHosts(); all {
		return hosts
	}
	return nil
}

// namedHosts returns the hosts in the route's own host matchers, and whether all
// matcher sets have one.
func (r *Route) namedHosts() (hosts []string, all bool) {
	all = true
	for _, set := range r.Sets() {
		all = all && set["host"] != nil
		for _, host := range stringsOf(set["host"]) {
			if r.live != nil {
				host = siteName(host)
			}
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	return hosts, all
}

// stringsOf returns the strings of a matcher that is a list, or has ranges of addresses.
func stringsOf(matcher any) (texts []string) {
	switch list := matcher.(type) {
	case nil:
	case *caddyhttp.MatchHost:
		return slices.Clone(*list)
	case *caddyhttp.MatchPath:
		return slices.Clone(*list)
	default:
		if Decode(matcher, &texts) != nil {
			var addresses struct{ Ranges []string }
			_ = Decode(matcher, &addresses)
			texts = addresses.Ranges
		}
	}
	return texts
}

// paths returns the paths in the route's own path matchers.
func (r *Route) paths() (paths []string) {
	for _, set := range r.Sets() {
		paths = append(paths, stringsOf(set["path"])...)
	}
	return paths
}

// PassesPath reports whether the matchers of path and method of the route and of
// the routes around it, also inside not, let GET requests for a path pass.
func (r *Route) PassesPath(path string) bool {
	request := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: "localhost", Path: path}}
	request = caddyhttp.PrepareRequest(request, caddy.NewReplacer(), nil, new(caddyhttp.Server))
	for ; r != nil; r = r.Around {
		if sets := r.Sets(); len(sets) > 0 && matchAny(sets, request) == Never {
			return false
		}
	}
	return true
}

// matchAny returns whether one of the sets matches a request. Only the matchers of
// path and method, and not, are evaluated.
func matchAny(sets []Set, request *http.Request) (best Reach) {
	for _, set := range sets {
		all := Surely
		for name, value := range set {
			one := Maybe
			switch name {
			case "path":
				match := caddyhttp.MatchPath(stringsOf(value))
				one = reachIf(match.Provision(caddy.Context{}) == nil && match.Match(request))
			case "method":
				one = reachIf(slices.Contains(stringsOf(value), request.Method))
			case "not":
				inside, _ := value.([]Set)
				one = Surely - matchAny(inside, request)
			}
			all = min(all, one)
		}
		best = max(best, all)
	}
	return best
}

func reachIf(matches bool) Reach {
	if matches {
		return Surely
	}
	return Never
}

// Misses reports whether a client can make the requests of a proxy, which always have
// the same path and come from its address, miss the route: by their host, method,
// header fields or another matcher of the route or of those around it.
func (r *Route) Misses() bool {
	passes := func(set Set) bool {
		for name := range set {
			if name != "path" && name != "remote_ip" {
				return false
			}
		}
		return true
	}
	for ; r != nil; r = r.Around {
		if sets := r.Sets(); len(sets) > 0 && !slices.ContainsFunc(sets, passes) {
			return true
		}
	}
	return false
}

// isInside reports whether the route is inside another one.
func (r *Route) isInside(other *Route) bool {
	return r != other && slices.Contains(r.fromOutside(), other)
}

// fromOutside returns the routes around the route, the outermost first, and then
// the route itself.
func (r *Route) fromOutside() []*Route {
	if r == nil {
		return nil
	}
	return append(r.Around.fromOutside(), r)
}
