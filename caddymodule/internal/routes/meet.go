package routes

import (
	"reflect"
	"slices"
	"strings"
)

// IsReached reports whether requests reach the handler that a walk through JSON
// yielded with the route: no handler before it answers all of them, and no route around
// it excludes what the route matches.
func (r *Route) IsReached() bool {
	for inner := r; inner != nil; inner = inner.Around {
		if inner.unreached {
			return false
		}
		for outer := inner.Around; outer != nil; outer = outer.Around {
			if !anySetsMeet(inner.Sets(), outer.Sets(), inner.seesPathOf(outer)) || !anyHostMeets(inner.hosts(), outer.hosts()) {
				return false
			}
		}
	}
	return true
}

// SharesHost reports whether a host can be that of requests of both routes.
func (r *Route) SharesHost(other *Route) bool { return anyHostMeets(r.Hosts(), other.Hosts()) }

// anyHostMeets reports whether a host can be in two lists. Nil means any host, and a
// placeholder may stand for any.
func anyHostMeets(list, other []string) bool {
	isUnknown := func(host string) bool { return strings.Contains(host, "{") }
	both := intersection(list, other)
	return both == nil || len(both) > 0 || slices.ContainsFunc(list, isUnknown) || slices.ContainsFunc(other, isUnknown)
}

// Meet says whether a request can reach the handlers of two routes that a walk
// through JSON yielded in this order. Surely stands for matchers of which one lets pass
// what the other does, and Maybe for all others that don't exclude each other, and for
// routes of which it is not known when they run: error routes and named routes.
func Meet(first, later *Route) Reach {
	if !first.IsReached() || !later.IsReached() {
		return Never
	}
	if first.IsApart() || later.IsApart() {
		return min(first.meets(later), Maybe)
	}
	if first.endsBefore(later) {
		return Never
	}
	return first.meets(later)
}

// endsBefore reports whether no request that passes the route reaches a later one.
func (r *Route) endsBefore(later *Route) bool {
	for ; r != nil && r != later && !later.isInside(r); r = r.Around {
		if r.ends {
			return true
		}
	}
	return false
}

// meets says whether a request can take both routes, by their matchers and groups.
func (r *Route) meets(other *Route) Reach {
	if !r.SharesHost(other) || r.isAlternativeTo(other) {
		return Never
	}
	for a := r; a != nil; a = a.Around {
		for b := other; b != nil; b = b.Around {
			if a != b && !anySetsMeet(a.Sets(), b.Sets(), a.seesPathOf(b)) {
				return Never
			}
		}
	}
	if r.seesPathOf(other) && (r.implies(other) || other.implies(r)) {
		return Surely
	}
	return Maybe // also where a path is stripped or rewritten between the two
}

// implies reports whether each request that takes the route surely passes the matchers of
// another one, and of those around it.
func (r *Route) implies(other *Route) bool {
	for ; other != nil; other = other.Around {
		passes := len(other.Sets()) == 0
		for a := r; a != nil && !passes; a = a.Around {
			passes = a == other || allInside(a.Sets(), other.Sets(), a.seesPathOf(other))
		}
		if !passes {
			return false
		}
	}
	return true
}

// allInside reports whether each of the sets is inside one of the others.
func allInside(sets, others []Set, samePath bool) bool {
	return len(sets) > 0 && !slices.ContainsFunc(sets, func(s Set) bool {
		return !slices.ContainsFunc(others, func(t Set) bool { return s.isInside(t, samePath) })
	})
}

// isAlternativeTo reports whether a request takes only one of two routes, because
// they, or routes around them, are in one group.
func (r *Route) isAlternativeTo(other *Route) bool {
	for a := r; a != nil; a = a.Around {
		for b := other; b != nil; b = b.Around {
			if a != b && a.group != "" && a.group == b.group {
				return true
			}
		}
	}
	return false
}

// seesPathOf reports whether requests have the same path at two routes: no handler
// between them rewrites it.
func (r *Route) seesPathOf(other *Route) bool {
	if len(r.rewrites) > len(other.rewrites) {
		r, other = other, r
	}
	return !slices.ContainsFunc(other.rewrites[len(r.rewrites):], func(at *Route) bool { return !at.isAlternativeTo(other) })
}

// IsApart reports whether the route that a walk through JSON yielded is an error
// route or a named route, or inside one.
func (r *Route) IsApart() bool { return r != nil && (r.apart || r.Around.IsApart()) }

// anySetsMeet reports whether a request can pass both of two lists of matcher sets, as far
// as is known.
func anySetsMeet(list, other []Set, samePath bool) bool {
	if len(list) == 0 || len(other) == 0 {
		return true
	}
	for _, s := range list {
		for _, t := range other {
			if !s.excludes(t, samePath) && !t.excludes(s, samePath) {
				return true
			}
		}
	}
	return false
}

// excludes reports whether no request passes both s and t, by their paths or by a matcher not
// of t. Of other matchers it is not known what they let pass.
func (s Set) excludes(t Set, samePath bool) bool {
	paths, others := stringsOf(s["path"]), stringsOf(t["path"])
	if samePath && len(paths) > 0 && len(others) > 0 && !anyPathMeets(paths, others) {
		return true
	}
	negated, _ := t["not"].([]Set)
	return slices.ContainsFunc(negated, func(set Set) bool { return s.isInside(set, samePath) })
}

// isInside reports whether all requests that pass s surely pass t: s has the matchers of t,
// with the same values, or hosts and paths inside those of t.
func (s Set) isInside(t Set, samePath bool) bool {
	for name, value := range t {
		if name == "path" && !samePath || s[name] == nil || !covers(name, value, s[name]) {
			return false
		}
	}
	return true
}

// covers reports whether a matcher surely lets pass what another one with the same name
// does.
func covers(name string, outer, inner any) bool {
	if reflect.DeepEqual(outer, inner) {
		return true
	}
	one := pathInside
	switch name {
	case "path":
	case "host":
		one = MatchesHost
	default:
		return false
	}
	list, others := stringsOf(inner), stringsOf(outer)
	return len(list) > 0 && !slices.ContainsFunc(list, func(in string) bool {
		return strings.Contains(in, "{") || !slices.ContainsFunc(others, func(out string) bool { return one(out, in) })
	})
}

// pathInside reports whether a pattern that ends in its only * matches all paths that
// another one does.
func pathInside(outer, inner string) bool {
	begin, ok := strings.CutSuffix(strings.ToLower(outer), "*")
	return ok && !strings.ContainsAny(begin, "*{%") && strings.HasPrefix(strings.ToLower(inner), begin)
}

// anyPathMeets reports whether a path can match a pattern of each list.
func anyPathMeets(list, other []string) bool {
	for _, p := range list {
		for _, q := range other {
			if pathCovers(p, q) || pathCovers(q, p) {
				return true
			}
		}
	}
	return false
}

// pathCovers reports whether the beginning of a pattern, up to its first wildcard
// or placeholder, begins the pattern other.
func pathCovers(pattern, other string) bool {
	const wild = "*{%"
	begin, other := strings.ToLower(pattern), strings.ToLower(other)
	i := strings.IndexAny(begin, wild)
	if i < 0 {
		return begin == other
	}
	if j := strings.IndexAny(other, wild); j >= 0 {
		other = other[:j]
	}
	return strings.HasPrefix(other, begin[:i])
}
