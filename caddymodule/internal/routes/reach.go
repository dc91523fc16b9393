package routes

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Reach says whether a request reaches a handler, or passes a matcher.
type Reach uint8

const (
	Never Reach = iota
	Maybe       // it depends on what is not known about the request
	Surely
)

// Reach says whether a GET request takes the route. isKnown reports whether all is known
// about the request that a matcher looks at; nil: of none.
func (r *Route) Reach(request *http.Request, isKnown func(r *Route, matcher any) bool) Reach {
	reach := Surely
	for ; r != nil; r = r.Around {
		if r.isBehind {
			return Never
		}
		for _, b := range r.before {
			if b.ends || b.isAlternativeTo(r) {
				reach = min(reach, Surely-b.passes(request, isKnown))
			}
		}
		reach = min(reach, r.passes(request, isKnown))
	}
	return reach
}

// passes says whether a request passes the matchers of the route.
func (r *Route) passes(request *http.Request, isKnown func(*Route, any) bool) Reach {
	if sets := r.Sets(); len(sets) > 0 {
		return r.anySet(sets, request, isKnown)
	}
	return Surely
}

// anySet says whether a request passes all matchers of one set. Without sets it does not.
func (r *Route) anySet(sets []caddyhttp.MatcherSet, request *http.Request, isKnown func(*Route, any) bool) (best Reach) {
	for _, set := range sets {
		all := Surely
		for _, m := range set {
			one := Maybe
			if inside := inNot(m); inside != nil {
				one = Surely - r.anySet(inside, request, isKnown)
			} else if isKnown != nil && isKnown(r, m) {
				one = evaluate(m, request)
			}
			all = min(all, one)
		}
		best = max(best, all)
	}
	return best
}

// evaluate runs a matcher.
func evaluate(m any, request *http.Request) (result Reach) {
	defer func() {
		if recover() != nil {
			result = Maybe
		}
	}()
	match, err := caddyhttp.MatcherSet{m}.MatchWithError(request)
	switch {
	case err != nil:
		return Maybe
	case match:
		return Surely
	}
	return Never
}

// PassesPath reports whether the matchers of path and method, also inside not, let GET
// requests for a path pass to the route.
func (r *Route) PassesPath(path string) bool {
	request := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: "localhost", Path: path}}
	request = caddyhttp.PrepareRequest(request, caddy.NewReplacer(), nil, new(caddyhttp.Server))
	return r.Reach(request, func(r *Route, matcher any) bool { return r.IsPathKnown(matcher) }) != Never
}

// IsPathKnown reports whether a matcher of the route looks only at the method, or the
// path, which is the one that the client sent.
func (r *Route) IsPathKnown(matcher any) bool {
	switch caddy.GetModuleName(matcher) {
	case "method":
		return true
	case "path", "path_regexp":
		return !r.rewritten
	}
	return false
}

// Reached is a handler that a request may reach.
type Reached struct {
	Handler caddyhttp.MiddlewareHandler
	Route   *Route
	Reach   Reach
}

// Reached returns the handlers for which is returns true that a GET request may reach, in
// the order in which it reaches them, up to one that it surely reaches. See Route.Reach for
// isKnown.
func (s *Server) Reached(request *http.Request, is func(caddyhttp.MiddlewareHandler) bool, isKnown func(*Route, any) bool) (list []Reached) {
	for route, handler := range Walk(s.Live.Routes) {
		if !handler.is(is) || handler.isBehind {
			continue
		}
		reach := route.Reach(request, isKnown)
		if reach != Never {
			list = append(list, Reached{handler.Live, route, reach})
		}
		if reach == Surely {
			break
		}
	}
	return list
}

// Answers reports whether a request reaches a handler of routes or of their
// subroutes. It evaluates all matchers, and allocates nothing itself, because it
// runs for each refused request.
func Answers(list caddyhttp.RouteList, r *http.Request) bool {
	for i := range list {
		if match, err := list[i].MatcherSets.AnyMatchWithError(r); !match || err != nil {
			continue
		}
		for _, handler := range list[i].Handlers {
			if sub, ok := handler.(*caddyhttp.Subroute); !ok || Answers(sub.Routes, r) {
				return true
			}
		}
	}
	return false
}

// IsReached reports whether requests may reach a handler in the route: no handler before
// it answers all of them.
func (r *Route) IsReached(h *Handler) bool { return !h.isBehind && r.Reach(nil, nil) != Never }

// HasOnly reports whether requests take the route by matchers with some names alone, such
// as path.
func (r *Route) HasOnly(names ...string) bool {
	for ; r != nil; r = r.Around {
		sets := r.Sets()
		only := func(set caddyhttp.MatcherSet) bool {
			return !slices.ContainsFunc(set, func(m any) bool { return !slices.Contains(names, caddy.GetModuleName(m)) })
		}
		if len(sets) > 0 && !slices.ContainsFunc(sets, only) {
			return false
		}
	}
	return true
}

// Meet reports whether a request surely reaches two routes of a walk, in this order: they
// have a host in common, and one of them has no other matcher than those around both.
func Meet(first, later *Route) bool {
	return first.sharesHost(later) && !first.excludes(later) && (first.implies(later) || later.implies(first))
}

// sharesHost reports whether a host can be that of requests of both routes. A placeholder
// may stand for any.
func (r *Route) sharesHost(other *Route) bool {
	list, others := r.Hosts(), other.Hosts()
	isUnknown := func(host string) bool { return strings.Contains(host, "{") }
	both := intersection(list, others)
	return both == nil || len(both) > 0 || slices.ContainsFunc(list, isUnknown) || slices.ContainsFunc(others, isUnknown)
}

// excludes reports whether no request that takes the route reaches a later one.
func (r *Route) excludes(later *Route) bool {
	for a := r; a != nil; a = a.Around {
		if a.ends && a != later && !later.isInside(a) {
			return true
		}
		for b := later; b != nil; b = b.Around {
			if a != b && a.isAlternativeTo(b) {
				return true
			}
		}
	}
	return false
}

// isAlternativeTo reports whether a request takes only one of two routes.
func (r *Route) isAlternativeTo(other *Route) bool {
	return r.route.Group != "" && r.route.Group == other.route.Group
}

// implies reports whether each request that takes the route passes the matchers of
// another one, and of those around it: there are none but those around both.
func (r *Route) implies(other *Route) bool {
	for ; other != nil; other = other.Around {
		if r != other && !r.isInside(other) && len(other.Sets()) > 0 {
			return false
		}
	}
	return true
}

// isInside reports whether the route is inside another one.
func (r *Route) isInside(other *Route) bool {
	for r = r.Around; r != nil; r = r.Around {
		if r == other {
			return true
		}
	}
	return false
}
