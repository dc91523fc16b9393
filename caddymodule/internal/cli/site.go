package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/audit"
)

// Site is a robots handler of a configuration file.
type Site struct {
	Hosts []string // hosts that its routes match; none: any
	Rules enforce.Rules
	// Source is the source of its robots.txt, and SourceName the display name of the
	// source. Source is nil for source site: only the running server can read it.
	Source     enforce.Source
	SourceName string
	// Suspects has the settings of the subdirective suspects; nil without it.
	Suspects *audit.SuspectRules
	// Sampled says that a log of the configuration is sampled.
	Sampled bool
}

// name returns the name of the site for error messages.
func (s *Site) name() string {
	if len(s.Hosts) == 0 {
		return "the site for any host"
	}
	return strings.Join(s.Hosts, ", ")
}

// configFlags are --config and --site.
type configFlags struct {
	module     Module
	path, host string
}

// add adds the flags to a command.
func (c *configFlags) add(cmd *cobra.Command, m Module) {
	c.module = m
	cmd.Flags().StringVarP(&c.path, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	cmd.Flags().StringVar(&c.host, "site", "", "host of the site, if the configuration has several")
}

// site returns the site that the flags select from those for which suitable returns
// true.
func (c *configFlags) site(suitable func(*Site) bool) (*Site, error) {
	sites, err := c.module.Sites(c.path)
	if err != nil {
		return nil, err
	}
	sites = slices.DeleteFunc(sites, func(s Site) bool { return !suitable(&s) })
	var names []string
	for i := range sites {
		names = append(names, sites[i].name())
	}
	if c.host != "" {
		sites = slices.DeleteFunc(sites, func(s Site) bool { return !s.serves(c.host) })
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no suitable robots handler", c.path)
	case len(sites) == 0:
		return nil, fmt.Errorf("%s has no site %s. The sites are %s", c.path, c.host, strings.Join(names, "; "))
	case len(sites) > 1:
		return nil, fmt.Errorf("%s has several sites: select one with --site. The sites are %s", c.path, strings.Join(names, "; "))
	}
	return &sites[0], nil
}

// names reports whether the site names a host, without a wildcard.
func (s *Site) names(host string) bool {
	return slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// serves reports whether the site serves a host.
func (s *Site) serves(host string) bool {
	return len(s.Hosts) == 0 || slices.ContainsFunc(s.Hosts, func(h string) bool {
		if rest, ok := strings.CutPrefix(h, "*."); ok {
			_, parent, _ := strings.Cut(host, ".")
			return strings.EqualFold(parent, rest)
		}
		return strings.EqualFold(h, host)
	})
}
