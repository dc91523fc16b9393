package routes

import (
	"reflect"
	"strings"
)

// IsReached reports whether requests reach the handler that a walk through JSON
// yielded with the route: no handler before it answers all of them.
func (r *Route) IsReached() bool { return r == nil || !r.unreached }

// Meet says whether a request can reach the handlers of two routes that a walk
// through JSON yielded in this order. Maybe stands for routes of which it is not
// known when they run: error routes and named routes.
func Meet(first, later *Route) Reach {
	switch apart := first.isApart() || later.isApart(); {
	case !first.IsReached(), !later.IsReached(), !apart && first.endsBefore(later), first.excludes(later):
		return Never
	case apart:
		return Maybe
	}
	return Surely
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

// excludes reports whether no request takes both routes.
func (r *Route) excludes(other *Route) bool {
	if hosts := intersection(r.Hosts(), other.Hosts()); hosts != nil && len(hosts) == 0 {
		return true
	}
	for a := r; a != nil; a = a.Around {
		for b := other; b != nil; b = b.Around {
			if a != b && (a.group != "" && a.group == b.group || exclude(a.Sets(), b.Sets())) {
				return true
			}
		}
	}
	return false
}

// isApart reports whether the route is an error route or a named route, or inside
// one.
func (r *Route) isApart() bool { return r != nil && (r.apart || r.Around.isApart()) }

// exclude reports whether no request passes both of two lists of matcher sets. It
// knows hosts, paths and the matcher not.
func exclude(a, b []Set) bool {
	for _, s := range a {
		for _, t := range b {
			if !s.excludes(t) && !t.excludes(s) {
				return false
			}
		}
	}
	return len(a) > 0 && len(b) > 0
}

// excludes reports whether no request passes both s and t, by their paths or by
// the matcher not of t.
func (s Set) excludes(t Set) bool {
	if s["path"] != nil && t["path"] != nil && !anyPathMeets(stringsOf(s["path"]), stringsOf(t["path"])) {
		return true
	}
	negated, _ := t["not"].([]Set)
	for _, set := range negated {
		if s.has(set) {
			return true
		}
	}
	return false
}

// has reports whether s has all matchers of t.
func (s Set) has(t Set) bool {
	for name, value := range t {
		if !reflect.DeepEqual(s[name], value) {
			return false
		}
	}
	return true
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
