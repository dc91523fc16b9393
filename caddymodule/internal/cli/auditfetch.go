package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// addFetched fetches the robots.txt of the hosts with the most requests in the
// log.
func (o *auditOptions) addFetched(cmd *cobra.Command, to *audit.Options, old []audit.Version) error {
	hosts, err := audit.Hosts(to)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		site := audit.Site{Hosts: []string{hostname(host)}, Rules: o.rules, Was: old}
		site.Robots = fetchVersions(cmd, to, host)
		to.Sites = append(to.Sites, site)
	}
	if len(to.Sites) == 0 {
		to.Sites = []audit.Site{{Rules: o.rules, Was: old}}
	}
	return nil
}

// fetchConfigured fetches the robots.txt of the sites of a configuration that
// have the source site, from their hosts with the most requests in the log. It
// returns settings, which are those of sites in the same order, with a site for
// each host before them.
func (o *auditOptions) fetchConfigured(cmd *cobra.Command, to *audit.Options, sites []Site, settings []audit.Site) ([]audit.Site, error) {
	if !slices.ContainsFunc(sites, func(s Site) bool { return s.Source == nil }) {
		return settings, nil
	}
	main, err := audit.Hosts(to)
	if err != nil {
		return nil, err
	}
	var fetched, rest []audit.Site
	for i := range sites {
		s := &sites[i]
		if s.Source != nil {
			rest = append(rest, settings[i])
			continue
		}
		hosts := o.hostsToFetch(sites, i, main)
		if len(hosts) == 0 {
			warnUnknown(cmd, to, fmt.Sprintf("The robots.txt of %s is not known, because few or no requests in the log name its host. Requests to it are not judged. "+
				"Pass the file or its URL with --robots, and the site with --site.", s.name()))
		}
		for _, host := range hosts {
			one := settings[i]
			if o.config.host == "" {
				one.Hosts = []string{hostname(host)}
			}
			one.Robots = fetchVersions(cmd, to, host)
			fetched = append(fetched, one)
		}
		if len(hosts) != 1 || o.config.host == "" && (len(s.Hosts) != 1 || !strings.EqualFold(s.Hosts[0], hostname(hosts[0]))) {
			rest = append(rest, settings[i])
		}
	}
	return append(fetched, rest...), nil // an audit takes the first site that names a host
}

// hostsToFetch returns the hosts to fetch the robots.txt of a configured site
// from: those of the log's main hosts that it serves. If there are none, it
// returns the host of --site, or the only host of the only site.
func (o *auditOptions) hostsToFetch(sites []Site, i int, main []string) (hosts []string) {
	named := o.config.host != "" && !strings.Contains(o.config.host, "*")
	for _, host := range main {
		switch {
		case named:
			if strings.EqualFold(hostname(host), o.config.host) {
				return []string{host}
			}
		case slices.Index(bestFor(sites, hostname(host)), i) == 0:
			hosts = append(hosts, host)
		}
	}
	switch {
	case len(hosts) > 0:
		return hosts
	case named:
		return []string{o.config.host}
	case len(sites) == 1 && len(sites[0].Hosts) == 1 && !strings.ContainsAny(sites[0].Hosts[0], "*{"):
		return sites[0].Hosts
	}
	return nil
}

// hostname returns a host of a log without its port, in lower case.
func hostname(host string) string { return enforce.NewOrigin("", host, 0).Host }

// fetchVersions fetches the robots.txt of a host now. Without an answer it adds a
// warning and returns nil.
func fetchVersions(cmd *cobra.Command, to *audit.Options, host string) []audit.Version {
	address, answer, err := fetchOf(cmd, host)
	if err != nil {
		warnUnknown(cmd, to, fmt.Sprintf("The robots.txt of %s can't be fetched: %v. Pass it with --robots.", host, err))
		return nil
	}
	to.Warnings = append(to.Warnings, audit.Warning{Code: "robots_now", Text: fmt.Sprintf("Requests to %s are judged by %s as it is now. At the time of the log, the file may have been different.", host, address)})
	return []audit.Version{{Name: address, Response: answer}}
}

// warnUnknown adds a warning about a robots.txt that is not known to the report,
// and prints it.
func warnUnknown(cmd *cobra.Command, to *audit.Options, text string) {
	to.Warnings = append(to.Warnings, audit.Warning{Code: "no_robots", Text: text})
	fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s\n", text)
}

// fetchOf fetches the robots.txt of a host: by https or, if that fails, by http.
// It prints each address that it fetches.
func fetchOf(cmd *cobra.Command, host string) (address string, answer enforce.Response, err error) {
	for _, scheme := range []string{"https", "http"} {
		address = scheme + "://" + host + "/robots.txt"
		fmt.Fprintf(cmd.ErrOrStderr(), "Fetching %s\n", address)
		if answer, err = answerOf(readURL(cmd.Context(), address)); err == nil {
			return address, answer, nil
		}
	}
	return "", answer, err
}
