package routes

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// PlainHost returns a host, or a pattern of hosts, in the form of a site's name: in
// lower case, without port, brackets and final dot.
func PlainHost(host string) string { return judge.NewOrigin("", host, 0).Host }

// siteName returns a host of a host matcher as the name of a site. It replaces the
// placeholders that do not depend on a request.
func siteName(host string) string {
	if strings.Contains(host, "{") {
		host = caddy.NewReplacer().ReplaceKnown(host, "")
	}
	return PlainHost(host)
}

// IsPattern reports whether a site's name stands for hosts that it does not name.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*{") }

// MatchesHost reports whether a host matches a name or pattern. As in Caddy's host
// matcher, a * in the pattern stands for one label.
func MatchesHost(pattern, host string) bool {
	for {
		p, restP, moreP := strings.Cut(pattern, ".")
		h, restH, moreH := strings.Cut(host, ".")
		if p != "*" && !strings.EqualFold(p, h) || moreP != moreH {
			return false
		}
		if !moreP {
			return true
		}
		pattern, host = restP, restH
	}
}

// intersection returns the hosts that both a route and a route around it match.
// Nil means any host.
func intersection(inside, around []string) []string {
	switch {
	case inside == nil:
		return around
	case around == nil:
		return inside
	}
	both := []string{}
	for _, in := range inside {
		for _, out := range around {
			if MatchesHost(out, in) {
				both = append(both, in)
			} else if MatchesHost(in, out) {
				both = append(both, out)
			}
		}
	}
	return both
}

// BestFor returns the indexes of the sites that fit a host best: those that name
// it, else those with a pattern that it matches, else those for any host.
func BestFor[S any](sites []S, hosts func(S) []string, host string) (best []int) {
	const anyHost, pattern, name = 1, 2, 3
	most := anyHost
	for i, site := range sites {
		fits := 0
		switch list := hosts(site); {
		case len(list) == 0:
			fits = anyHost
		case words.ContainsFold(list, host):
			fits = name
		case slices.ContainsFunc(list, func(h string) bool { return MatchesHost(h, host) }):
			fits = pattern
		}
		if fits > most {
			best, most = nil, fits
		}
		if fits == most {
			best = append(best, i)
		}
	}
	return best
}
