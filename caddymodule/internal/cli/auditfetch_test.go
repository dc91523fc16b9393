package cli

import (
	"fmt"
	"slices"
	"testing"
)

func TestHostsToFetch(t *testing.T) {
	var (
		named    = Site{Hosts: []string{"a.test", "www.a.test"}}
		single   = Site{Hosts: []string{"a.test"}}
		wildcard = Site{Hosts: []string{"*.a.test"}}
		mixed    = Site{Hosts: []string{"a.test", "*.a.test"}}
		catchAll = Site{}
	)
	for _, tt := range []struct {
		name   string
		option string // of --site
		sites  []Site
		i      int
		main   []string // hosts of the log
		want   []string
	}{
		{"hosts that the site names", "", []Site{named, catchAll}, 0, []string{"www.a.test", "b.test", "A.test:8080"}, []string{"a.test", "www.a.test"}},
		{"a site for any host gets the others", "", []Site{named, catchAll}, 1, []string{"www.a.test", "b.test", "a.test"}, []string{"b.test"}},
		{"a name goes before a wildcard", "", []Site{wildcard, named}, 0, []string{"www.a.test", "b.a.test"}, []string{"b.a.test"}},
		{"a wildcard goes before any host", "", []Site{catchAll, wildcard}, 0, []string{"b.a.test"}, nil},
		{"the first of two sites with the same host", "", []Site{single, single}, 1, []string{"a.test"}, nil},
		{"--site with a host of the log", "a.test", []Site{catchAll}, 0, []string{"b.test", "a.test:8080"}, []string{"a.test:8080"}},
		{"--site with another host", "a.test", []Site{catchAll}, 0, []string{"b.test"}, []string{"a.test"}},
		{"the only host of the only site", "", []Site{single}, 0, nil, []string{"a.test"}},
		{"they need not be in the log", "", []Site{named, catchAll}, 0, nil, []string{"a.test", "www.a.test"}},
		{"a site that names hosts and a wildcard", "", []Site{mixed}, 0, []string{"x.a.test", "b.test"}, []string{"a.test", "x.a.test"}},
		{"a wildcard and a log without its hosts", "", []Site{wildcard}, 0, []string{"b.test"}, nil},
		{"--site with a host of a site that names several", "a.test", []Site{named}, 0, nil, []string{"a.test", "www.a.test"}},
	} {
		o := auditOptions{config: configFlags{host: tt.option}}
		if got := o.hostsToFetch(tt.sites, tt.i, tt.main); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	} // With --host, only these are fetched, and of a site for any host, all of these.
	o := auditOptions{hosts: []string{"www.a.test", "b.test"}}
	for i, want := range []string{"[www.a.test]", "[b.test]"} {
		if got := fmt.Sprint(o.hostsToFetch([]Site{named, catchAll}, i, []string{"a.test"})); got != want {
			t.Errorf("--host, site %d: %s, want %s", i, got, want)
		}
	}
}
