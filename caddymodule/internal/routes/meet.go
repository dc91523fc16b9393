package routes

import (
	"fmt"
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
			if anySetsMeet(inner.Sets(), outer.Sets(), inner.seesPathOf(outer)) == Never || !anyHostMeets(inner.hosts(), outer.hosts()) {
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
// through JSON yielded in this order. Maybe stands for matchers of which it is not
// known whether they exclude each other, and for routes of which it is not known
// when they run: error routes and named routes.
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
	if hosts := intersection(r.Hosts(), other.Hosts()); hosts != nil && len(hosts) == 0 {
		return Never
	}
	if r.isAlternativeTo(other) {
		return Never
	}
	reach := Surely
	for a := r; a != nil; a = a.Around {
		for b := other; b != nil; b = b.Around {
			if a != b {
				reach = min(reach, anySetsMeet(a.Sets(), b.Sets(), a.seesPathOf(b)))
			}
		}
	}
	return reach
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

// anySetsMeet says whether a request can pass both of two lists of matcher sets.
func anySetsMeet(list, other []Set, samePath bool) Reach {
	if len(list) == 0 || len(other) == 0 {
		return Surely
	}
	reach := Never
	for _, s := range list {
		for _, t := range other {
			reach = max(reach, min(s.meets(t, samePath), t.meets(s, samePath)))
		}
	}
	return reach
}

// meets says whether a request can pass both s and t, as far as the matcher not of
// t and the matchers that both have tell.
func (s Set) meets(t Set, samePath bool) Reach {
	reach := Surely
	for name, value := range s {
		if t.dependsWith(name) {
			reach = Maybe
		}
		switch other := t[name]; {
		case other == nil, name == "host", name == "not", reflect.DeepEqual(value, other):
		case name == "path":
			if !anyPathMeets(stringsOf(value), stringsOf(other)) && samePath {
				return Never
			}
			if !samePath {
				reach = Maybe
			}
		case name == "method":
			isOther := func(method string) bool { return slices.Contains(stringsOf(other), method) }
			if !slices.ContainsFunc(stringsOf(value), isOther) {
				return Never
			}
		case name == "protocol" && isScheme(value) && isScheme(other):
			return Never
		default:
			reach = Maybe
		}
	}
	negated, _ := t["not"].([]Set)
	for _, set := range negated {
		if s.has(set) && (samePath || set["path"] == nil) || samePath && len(set) == 1 &&
			allPathsInside(stringsOf(s["path"]), stringsOf(set["path"])) {
			return Never
		}
	}
	return reach
}

// aspects says on which part of a request a matcher depends. Of all others, such as
// expression, it is not known.
var aspects = map[string]string{
	"client_ip": "address", "remote_ip": "address",
	"file": "path", "path": "path", "path_regexp": "path",
	"header": "header", "header_regexp": "header",
	"host": "host", "method": "method", "protocol": "protocol", "query": "query",
}

// dependsWith reports whether a matcher of another name in s, also in a not, can
// depend on the same part of a request as the matcher with a name does. So the two
// may exclude each other, and nothing here tells.
func (s Set) dependsWith(name string) bool {
	if name == "not" || name == "host" {
		return false
	}
	sets, _ := s["not"].([]Set)
	for _, set := range append(sets[:len(sets):len(sets)], s) {
		for other := range set {
			if other != name && other != "not" && other != "host" &&
				(aspects[other] == aspects[name] || aspects[other] == "" || aspects[name] == "") {
				return true
			}
		}
	}
	return false
}

// isScheme reports whether a matcher protocol stands for requests with or without
// TLS.
func isScheme(protocol any) bool {
	text := fmt.Sprint(protocol)
	return text == "http" || text == "https"
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

// allPathsInside reports whether each path that a pattern of the list matches is
// one that a pattern of other matches: one that ends in its only *.
func allPathsInside(list, other []string) bool {
	for _, p := range list {
		if !slices.ContainsFunc(other, func(q string) bool {
			begin, ok := strings.CutSuffix(strings.ToLower(q), "*")
			return ok && !strings.ContainsAny(begin, "*{%") && strings.HasPrefix(strings.ToLower(p), begin)
		}) {
			return false
		}
	}
	return len(list) > 0
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
