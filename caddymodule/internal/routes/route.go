package routes

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Route is a route of a walk, and the routes around it. The methods accept a nil Route,
// which is outside of all routes.
type Route struct {
	Around *Route // nil for a route of the server itself

	route     *caddyhttp.Route
	before    []*Route // in the same list
	isBehind  bool     // handlers around it answer all requests before
	rewritten bool     // a handler before it may have changed the request
	rewrites  bool     // a request that leaves it may be a changed one
	ends      bool     // no request leaves the route
}

// Sets returns the matcher sets of the route, of which one must match. Those of a
// configuration that is not provisioned are decoded.
func (r *Route) Sets() []caddyhttp.MatcherSet {
	return setsOf(r.route.MatcherSets, r.route.MatcherSetsRaw)
}

func setsOf(sets []caddyhttp.MatcherSet, raw []caddy.ModuleMap) []caddyhttp.MatcherSet {
	if sets != nil {
		return sets
	}
	for _, modules := range raw {
		set := caddyhttp.MatcherSet{}
		for name, text := range modules {
			set = append(set, newMatcher(name, text))
		}
		sets = append(sets, set)
	}
	return sets
}

// newMatcher decodes a matcher.
func newMatcher(name string, text json.RawMessage) any {
	info, err := caddy.GetModule("http.matchers." + name)
	if err != nil {
		return unknown(name)
	}
	m := info.New()
	if json.Unmarshal(text, m) != nil {
		return unknown(name) // it is an error of its own
	}
	if path, ok := m.(*caddyhttp.MatchPath); ok {
		_ = path.Provision(caddy.Context{})
	}
	return m
}

// unknown is the name of a matcher that can't be decoded.
type unknown string

// CaddyModule implements caddy.Module.
func (u unknown) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: caddy.ModuleID(u)} }

// inNot returns the matcher sets of a matcher not, none of others.
func inNot(m any) []caddyhttp.MatcherSet {
	if not, ok := m.(*caddyhttp.MatchNot); ok {
		return setsOf(not.MatcherSets, not.MatcherSetsRaw)
	}
	return nil
}

// Matchers returns all matchers of the route, and those inside not.
func (r *Route) Matchers() []any { return matchersOf(r.Sets()) }

func matchersOf(sets []caddyhttp.MatcherSet) (list []any) {
	for _, set := range sets {
		for _, m := range set {
			list = append(append(list, m), matchersOf(inNot(m))...)
		}
	}
	return list
}

// textsOf returns the texts of the matchers with a name, such as host, in a set; nil
// without one.
func textsOf(set caddyhttp.MatcherSet, name string) (texts []string) {
	list := reflect.TypeFor[[]string]()
	for _, m := range set {
		v := reflect.Indirect(reflect.ValueOf(m))
		if caddy.GetModuleName(m) == name && v.CanConvert(list) {
			texts = append(texts, v.Convert(list).Interface().([]string)...)
		}
	}
	return texts
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
		own := textsOf(set, "host")
		all = all && own != nil
		for _, host := range own {
			if r.route.MatcherSets != nil {
				host = siteName(host)
			}
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	return hosts, all
}

// paths returns the paths in the route's own path matchers.
func (r *Route) paths() (paths []string) {
	for _, set := range r.Sets() {
		paths = append(paths, textsOf(set, "path")...)
	}
	return paths
}

// maxMatcherText is the most octets of a text about matchers.
const maxMatcherText = 120

// Matcher describes the matchers of the route and of the routes around it in a short
// text, such as "not path /api/* and method GET". It leaves out host matchers, because they
// select a site and not one of the site's handlers: other sites' hosts may be none of the
// reader's business. For the same reason it has no values but paths and methods. It returns
// "" if there is no other matcher.
func (r *Route) Matcher() string {
	var texts []string
	for ; r != nil; r = r.Around {
		if text := setsText(r.Sets(), ""); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	slices.Reverse(texts)
	text := strings.Join(texts, " and ")
	if len(text) > maxMatcherText {
		text = strings.ToValidUTF8(text[:maxMatcherText], "") + "…"
	}
	return text
}

// setsText describes matcher sets. host stands for a host matcher. If it is "", a set of
// hosts alone makes the text "".
func setsText(sets []caddyhttp.MatcherSet, host string) string {
	var texts []string
	for _, set := range sets {
		var all []string
		for _, m := range set {
			text := caddy.GetModuleName(m)
			switch text {
			case "not":
				text = "not " + enclosed(setsText(inNot(m), "host …"))
			case "path", "method":
				text += " " + strings.Join(textsOf(caddyhttp.MatcherSet{m}, text), " ")
			case "host":
				text = host
			}
			all = append(all, text)
		}
		slices.Sort(all)
		all = slices.DeleteFunc(slices.Compact(all), func(text string) bool { return text == "" })
		if len(all) == 0 {
			return ""
		}
		texts = append(texts, strings.Join(all, " and "))
	}
	text := strings.Join(slices.Compact(texts), " or ")
	if len(texts) > 1 {
		return enclosed(text)
	}
	return text
}

// enclosed puts a text that joins others in parentheses.
func enclosed(text string) string {
	if !strings.HasPrefix(text, "(") && (strings.Contains(text, " and ") || strings.Contains(text, " or ")) {
		return "(" + text + ")"
	}
	return text
}
