package statusapi

import (
	"fmt"
	"net/http"
	"strings"
)

// maxSitesNamed is the maximum number of sites in an error message.
const maxSitesNamed = 20

// narrow returns the part of a scope that the values of a parameter `site`
// name: sites, or hosts that a site serves. Without values it returns the whole
// scope. For a name that the scope does not have, it returns an *Error that lists
// the sites of the scope, at most maxSitesNamed.
func narrow(reporter Reporter, scope Scope, names []string) (Scope, error) {
	for _, name := range names {
		if one := scope.Only(name); len(one.hosts) == 0 || !reporter.HasSite(one, one.hosts[0]) {
			return Scope{}, unknownSite(name, reporter.Sites(scope))
		}
	}
	return scope.Only(names...), nil
}

// unknownSite returns the error for a site that is not one of those known.
func unknownSite(name string, known []string) error {
	var list string
	switch n := len(known); {
	case n == 0:
		list = "there are no sites"
	case n > maxSitesNamed:
		list = fmt.Sprintf("the sites are %s and %d more", strings.Join(known[:maxSitesNamed], ", "), n-maxSitesNamed)
	default:
		list = "the sites are " + strings.Join(known, ", ")
	}
	return Errorf(http.StatusNotFound, "site=%.100q is not the name of a site with a robots handler: %s", name, list)
}
