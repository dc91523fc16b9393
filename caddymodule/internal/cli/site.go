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
	Hosts []string // that its routes match; none: any
	Rules enforce.Rules
	// Source is the source of its robots.txt, and SourceName the name of that
	// source. Source is nil if only the running server knows it.
	Source     enforce.Source
	SourceName string
	// Suspects is how it looks for robots among people; nil if it does not.
	Suspects *audit.SuspectRules
	// Sampled reports that the configuration has access logs sampled.
	Sampled bool
}

// name returns the name of the site for error messages.
func (s *Site) name() string {
	if len(s.Hosts) == 0 {
		return "the site without a host"
	}
	return strings.Join(s.Hosts, ", ")
}

// configFlags are --config and --site.
type configFlags struct {
	module     Module
	path, host string
}

func (c *configFlags) add(cmd *cobra.Command, m Module) {
	c.module = m
	cmd.Flags().StringVarP(&c.path, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	cmd.Flags().StringVar(&c.host, "site", "", "host name of the site in it, where it has several")
}

// site returns the site that the flags select from the suitable ones.
func (c *configFlags) site(fits func(*Site) bool) (*Site, error) {
	sites, err := c.module.Sites(c.path)
	if err != nil {
		return nil, err
	}
	sites = slices.DeleteFunc(sites, func(s Site) bool { return !fits(&s) })
	var names []string
	for i := range sites {
		names = append(names, sites[i].name())
	}
	if c.host != "" {
		sites = slices.DeleteFunc(sites, func(s Site) bool { return !s.serves(c.host) })
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no robots handler that fits", c.path)
	case len(sites) == 0:
		return nil, fmt.Errorf("%s has no site %s; it has %s", c.path, c.host, strings.Join(names, "; "))
	case len(sites) > 1:
		return nil, fmt.Errorf("%s has several sites: choose one with --site: %s", c.path, strings.Join(names, "; "))
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
