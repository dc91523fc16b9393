package commands

import (
	"fmt"
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/selection"
)

func TestHostsToFetch(t *testing.T) {
	var (
		named    = selection.Site{Hosts: []string{"a.test", "www.a.test"}}
		single   = selection.Site{Hosts: []string{"a.test"}}
		wildcard = selection.Site{Hosts: []string{"*.a.test"}}
		mixed    = selection.Site{Hosts: []string{"a.test", "*.a.test"}}
		catchAll = selection.Site{}
	)
	for _, tt := range []struct {
		name   string
		option string // of --site
		sites  []selection.Site
		i      int
		main   []string // hosts of the log
		want   []string
	}{
		{"hosts that the site names", "", []selection.Site{named, catchAll}, 0, []string{"www.a.test", "b.test", "A.test:8080"}, []string{"a.test", "www.a.test"}},
		{"a site for any host gets the others", "", []selection.Site{named, catchAll}, 1, []string{"www.a.test", "b.test", "a.test"}, []string{"b.test"}},
		{"a name goes before a wildcard", "", []selection.Site{wildcard, named}, 0, []string{"www.a.test", "b.a.test"}, []string{"b.a.test"}},
		{"a wildcard goes before any host", "", []selection.Site{catchAll, wildcard}, 0, []string{"b.a.test"}, nil},
		{"the first of two sites with the same host", "", []selection.Site{single, single}, 1, []string{"a.test"}, nil},
		{"--site with a host of the log", "a.test", []selection.Site{catchAll}, 0, []string{"b.test", "a.test:8080"}, []string{"a.test:8080"}},
		{"--site with another host", "a.test", []selection.Site{catchAll}, 0, []string{"b.test"}, []string{"a.test"}},
		{"the only host of the only site", "", []selection.Site{single}, 0, nil, []string{"a.test"}},
		{"they need not be in the log", "", []selection.Site{named, catchAll}, 0, nil, []string{"a.test", "www.a.test"}},
		{"a site that names hosts and a wildcard", "", []selection.Site{mixed}, 0, []string{"x.a.test", "b.test"}, []string{"a.test", "x.a.test"}},
		{"a wildcard and a log without its hosts", "", []selection.Site{wildcard}, 0, []string{"b.test"}, nil},
		{"--site with a host of a site that names several", "a.test", []selection.Site{named}, 0, nil, []string{"a.test", "www.a.test"}},
	} {
		o := auditOptions{config: selection.Flags{Host: tt.option}}
		if got := o.hostsToFetch(tt.sites, tt.i, tt.main); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	} // With --host, only these are fetched, and of a site for any host, all of these.
	o := auditOptions{hosts: []string{"www.a.test", "b.test"}}
	for i, want := range []string{"[www.a.test]", "[b.test]"} {
		if got := fmt.Sprint(o.hostsToFetch([]selection.Site{named, catchAll}, i, []string{"a.test"})); got != want {
			t.Errorf("--host, site %d: %s, want %s", i, got, want)
		}
	}
}
