package statusapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// AnySite is the name of the site that serves all hosts that no other site names.
const AnySite = "*"

// SiteName returns the name of a site for people.
func SiteName(site string) string {
	if site == AnySite {
		return "this server"
	}
	return site
}

// Scope is a set of sites and hosts. The zero value is empty.
//
// The name of a site is a host in lower case, a pattern such as *.example.com, or
// AnySite. Counts are kept per site: a pattern has counts, but its hosts have none
// of their own.
type Scope struct {
	all   bool
	owner bool
	hosts []string
}

// AllSites returns the Scope that contains every site.
func AllSites() Scope { return Scope{all: true, owner: true} }

// Sites returns the Scope that contains the given sites, and hosts that match a
// pattern.
func Sites(hosts ...string) Scope {
	var s Scope
	for _, h := range hosts {
		s.hosts = append(s.hosts, strings.ToLower(strings.TrimSuffix(h, ".")))
	}
	return s
}

// All reports whether s contains every site.
func (s Scope) All() bool { return s.all }

// Owner reports whether who asks may see every site, also if s does not contain them all.
func (s Scope) Owner() bool { return s.owner }

// Hosts returns the names in s, none if it contains every site.
func (s Scope) Hosts() []string { return s.hosts }

// Site reports whether a site is in s.
func (s Scope) Site(site string) bool { return s.all || slices.Contains(s.hosts, site) }

// Host reports whether s contains a host, by its own name or by that of the site that
// serves it.
func (s Scope) Host(site, host string) bool { return s.Site(site) || s.Site(host) }

// Only returns the part of s that hosts names. Without hosts, it returns s.
func (s Scope) Only(hosts ...string) Scope {
	if len(hosts) == 0 {
		return s
	}
	only := Sites(hosts...)
	only.owner = s.owner
	if !s.all {
		only.hosts = slices.DeleteFunc(only.hosts, func(h string) bool { return !slices.Contains(s.hosts, h) })
	}
	return only
}

// maxSitesNamed is the maximum number of sites in an error message.
const maxSitesNamed = 20

// checkSites checks the values of a parameter `site`: sites, or hosts that a site serves.
// For a name that the scope does not have, it returns an *Error that lists
// the sites of the scope, at most maxSitesNamed.
func checkSites(reporter Reporter, scope Scope, names []string) error {
	for _, name := range names {
		if one := scope.Only(name); len(one.hosts) == 0 || !reporter.HasSite(one, one.hosts[0]) {
			return UnknownSite(name, reporter.Sites(scope))
		}
	}
	return nil
}

// UnknownSite returns the error for a site that is not one of those known.
func UnknownSite(name string, known []string) error {
	list := "there are no sites"
	if len(known) > 0 {
		list = "the sites are " + words.List(known, maxSitesNamed)
	}
	return Errorf(http.StatusNotFound, "site=%.100q is not the name of a site with a robots handler: %s", name, list)
}
