package routes

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
)

// reach says whether a request reaches a handler, or passes a matcher.
type reach uint8

const (
	never reach = iota
	maybe       // it depends on what is not known about the request
	surely
)

// reach says whether a GET request takes the route.
func (r *Route) reach(request *http.Request) reach {
	result := surely
	for ; r != nil; r = r.Around {
		if r.isBehind {
			return never
		}
		for _, b := range r.before {
			if b.ends || b.isAlternativeTo(r) {
				result = min(result, surely-b.passes(request))
			}
		}
		result = min(result, r.passes(request))
	}
	return result
}

// passes says whether a request passes the matchers of the route. Without a request nothing is
// known about it.
func (r *Route) passes(request *http.Request) reach {
	if sets := r.Sets(); len(sets) > 0 {
		return r.anySet(sets, request)
	}
	return surely
}

// anySet says whether a request passes all matchers of one set. Without sets it does not.
func (r *Route) anySet(sets []caddyhttp.MatcherSet, request *http.Request) (best reach) {
	for _, set := range sets {
		all := surely
		for _, m := range set {
			one := maybe
			if inside := inNot(m); inside != nil {
				one = surely - r.anySet(inside, request)
			} else if request != nil && r.isPathKnown(m) {
				one = evaluate(m, request)
			}
			all = min(all, one)
		}
		best = max(best, all)
	}
	return best
}

// evaluate runs a matcher.
func evaluate(m any, request *http.Request) (result reach) {
	defer func() {
		if recover() != nil {
			result = maybe
		}
	}()
	match, err := caddyhttp.MatcherSet{m}.MatchWithError(request)
	switch {
	case err != nil:
		return maybe
	case match:
		return surely
	}
	return never
}

// isPathKnown reports whether a matcher of the route looks only at the method, or the
// path, which is the one that the client sent.
func (r *Route) isPathKnown(matcher any) bool {
	switch caddy.GetModuleName(matcher) {
	case "method":
		return true
	case "path", "path_regexp":
		return !r.rewritten
	}
	return false
}

// PassesPath reports whether the matchers of path and method, also inside not, let GET
// requests for a path pass to the route.
func (r *Route) PassesPath(path string) bool {
	request := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: "localhost", Path: path}}
	return r.reach(caddyhttp.PrepareRequest(request, caddy.NewReplacer(), nil, new(caddyhttp.Server))) != never
}

// First returns the first handler for which is returns true that a request reaches in a list
// of routes and their subroutes; nil for none. It evaluates all matchers, and changes the
// request as the handlers of rewrites before do. Unless there are such or a group, it
// allocates nothing itself, because it runs for each refused request.
func First(list caddyhttp.RouteList, r *http.Request, is func(caddyhttp.MiddlewareHandler) bool) caddyhttp.MiddlewareHandler {
	var groups []string // those of which a route was taken
	found, _ := first(list, r, is, &groups)
	return found
}

// first also returns whether no request leaves the list.
func first(list caddyhttp.RouteList, r *http.Request, is func(caddyhttp.MiddlewareHandler) bool, groups *[]string) (found caddyhttp.MiddlewareHandler, ended bool) {
	for i := range list {
		group := list[i].Group
		if group != "" && slices.Contains(*groups, group) {
			continue
		}
		if match, err := list[i].MatcherSets.AnyMatchWithError(r); !match || err != nil {
			continue
		}
		if group != "" {
			*groups = append(*groups, group)
		}
		for _, handler := range list[i].Handlers {
			if sub, ok := handler.(*caddyhttp.Subroute); ok {
				found, ended = first(sub.Routes, r, is, groups)
				if found != nil || ended {
					return found, ended
				}
				continue
			}
			if is(handler) {
				return handler, false
			}
			if h := (&Handler{Name: caddy.GetModuleName(handler), Live: handler}); h.answers() {
				return nil, true
			}
			replacer, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
			if h, ok := handler.(*rewrite.Rewrite); ok && replacer != nil {
				h.Rewrite(r, replacer)
			}
		}
		if list[i].Terminal {
			return nil, true
		}
	}
	return nil, false
}

// IsReached reports whether requests may reach a handler in the route: no handler before
// it answers all of them.
func (r *Route) IsReached(h *Handler) bool {
	for ; r != nil && !h.isBehind; r = r.Around {
		if r.isBehind || r.passes(nil) == never {
			return false
		}
	}
	return !h.isBehind
}

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
