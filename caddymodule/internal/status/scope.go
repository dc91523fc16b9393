package status

import (
	"slices"
	"strings"
)

// AnySite is the name of the site that serves all hosts which no site names.
const AnySite = "*"

// Scope is the set of sites that are told of. The zero value has none.
//
// A site is named as its host matcher has it: a host in lower case, a pattern
// such as *.example.com, or AnySite. Counts are kept by site, so those of a
// pattern are not split into its hosts.
type Scope struct {
	all   bool
	hosts []string
}

// AllSites returns the Scope that has every site.
func AllSites() Scope { return Scope{all: true} }

// Sites returns the Scope of sites, and of hosts that a pattern serves.
func Sites(hosts ...string) Scope {
	var s Scope
	for _, h := range hosts {
		s.hosts = append(s.hosts, strings.ToLower(strings.TrimSuffix(h, ".")))
	}
	return s
}

// All reports whether s has every site.
func (s Scope) All() bool { return s.all }

// Site reports whether a site is in s.
func (s Scope) Site(site string) bool { return s.all || slices.Contains(s.hosts, site) }

// Host reports whether a host that a site serves is in s.
func (s Scope) Host(site, host string) bool { return s.Site(site) || s.Site(host) }

// Only returns the part of s that is named by hosts; s where none is given.
func (s Scope) Only(hosts ...string) Scope {
	if len(hosts) == 0 {
		return s
	}
	only := Sites(hosts...)
	if !s.all {
		only.hosts = slices.DeleteFunc(only.hosts, func(h string) bool { return !slices.Contains(s.hosts, h) })
	}
	return only
}
