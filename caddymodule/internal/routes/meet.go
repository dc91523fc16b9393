package routes

import (
	"fmt"
	"net/netip"
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

// excludes reports whether no request passes both s and t, by a matcher not of t or the
// matchers that both have.
func (s Set) excludes(t Set, samePath bool) bool {
	for name, value := range s {
		other := t[name]
		switch {
		case other == nil || reflect.DeepEqual(value, other):
		case name == "path":
			if samePath && !anyPathMeets(stringsOf(value), stringsOf(other)) {
				return true
			}
		case name == "method":
			isOther := func(method string) bool { return slices.Contains(stringsOf(other), method) }
			if !slices.ContainsFunc(stringsOf(value), isOther) {
				return true
			}
		case name == "protocol" && isScheme(value) && isScheme(other):
			return true
		case name == "remote_ip", name == "client_ip":
			if !anyRangeMeets(stringsOf(value), stringsOf(other)) {
				return true
			}
		}
	}
	negated, _ := t["not"].([]Set)
	return slices.ContainsFunc(negated, func(set Set) bool { return s.isInside(set, samePath) })
}

// isInside reports whether all requests that pass s surely pass t.
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
	one := map[string]func(outer, inner string) bool{
		"host": MatchesHost, "method": func(a, b string) bool { return a == b }, "path": pathInside, "remote_ip": rangeInside, "client_ip": rangeInside,
	}[name]
	list, others := stringsOf(inner), stringsOf(outer)
	return one != nil && len(list) > 0 && !slices.ContainsFunc(list, func(in string) bool {
		return strings.Contains(in, "{") || !slices.ContainsFunc(others, func(out string) bool { return one(out, in) })
	})
}

// pathInside reports whether a pattern that ends in its only * matches all paths that
// another one does.
func pathInside(outer, inner string) bool {
	begin, ok := strings.CutSuffix(strings.ToLower(outer), "*")
	return ok && !strings.ContainsAny(begin, "*{%") && strings.HasPrefix(strings.ToLower(inner), begin)
}

// rangeInside reports whether a range of addresses has all of another one.
func rangeInside(outer, inner string) bool {
	out, in := parseRange(outer), parseRange(inner)
	return out.IsValid() && in.IsValid() && out.Bits() <= in.Bits() && out.Contains(in.Addr())
}

// anyRangeMeets reports whether an address can be in a range of each list. It is true for
// what is no address, such as a placeholder.
func anyRangeMeets(list, other []string) bool {
	for _, a := range list {
		for _, b := range other {
			if p, q := parseRange(a), parseRange(b); !p.IsValid() || !q.IsValid() || p.Overlaps(q) {
				return true
			}
		}
	}
	return len(list) == 0 || len(other) == 0
}

// parseRange parses a range or an address, as the matcher remote_ip has it.
func parseRange(s string) netip.Prefix {
	if addr, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	prefix, _ := netip.ParsePrefix(s)
	return prefix
}

// isScheme reports whether a matcher protocol stands for requests with or without
// TLS.
func isScheme(protocol any) bool {
	text := fmt.Sprint(protocol)
	return text == "http" || text == "https"
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
