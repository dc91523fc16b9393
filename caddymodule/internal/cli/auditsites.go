package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// addSites adds the sites whose requests are judged.
func (o *auditOptions) addSites(cmd *cobra.Command, to *audit.Options) error {
	given, err := o.versions(cmd, "--robots", o.robots)
	if err != nil {
		return err
	}
	old, err := o.versions(cmd, "--against", o.against)
	if err != nil {
		return err
	}
	if err := o.config.validate(cmd); err != nil {
		return err
	}
	if o.config.path != "" {
		return o.addConfigured(cmd, to, given, old)
	}
	if o.rules.Dialect, err = dialectFlag(o.dialect); err != nil {
		return err
	}
	if len(o.robots) > 0 {
		to.Sites = []audit.Site{{Rules: o.rules, Robots: given, Was: old}}
		return nil
	}
	return o.addFetched(cmd, to, old)
}

// addConfigured adds the sites of a configuration. given are the versions of
// --robots, and old are those of --against.
func (o *auditOptions) addConfigured(cmd *cobra.Command, to *audit.Options, given, old []audit.Version) error {
	sites, err := o.config.module.Sites(o.config.path)
	if err != nil {
		return err
	}
	var others []audit.Site // those that --site does not select: they are not judged
	if o.config.host != "" || o.config.handler != 0 {
		site, err := o.config.site("", anyHandler)
		if err != nil {
			return err
		}
		for i := range sites {
			if sites[i].name() != site.name() && len(sites[i].Hosts) > 0 {
				others = append(others, audit.Site{Hosts: sites[i].Hosts})
			}
		}
		sites = []Site{*site}
	}
	if len(sites) == 0 {
		return fmt.Errorf("%s has no robots handler: leave out --config, and give the file with --robots", o.config.path)
	}
	sites = mainHandlers(sites, to)
	if len(o.hosts) > 0 {
		all := sites
		sites = slices.DeleteFunc(slices.Clone(all), func(s Site) bool { return !o.selects(all, &s) })
		if len(sites) == 0 {
			return fmt.Errorf("--host: %s has no site with a robots handler for %s", o.config.path, words.List(o.hosts, 5))
		}
	}
	var settings []audit.Site
	for i := range sites {
		s := audit.Site{Hosts: sites[i].Hosts, Rules: sites[i].Rules, Robots: given, Was: old, Suspects: sites[i].Suspects}
		if cmd.Flags().Changed("max-crawl-delay") {
			s.Rules.MaxDelay = o.rules.MaxDelay
		}
		if len(o.robots)+len(o.against) > 0 { // the lines of these files are their own
			s.Rules.SourceFile, s.Rules.SourceLine = "", 0
		}
		if len(o.robots) == 0 && sites[i].Source != nil {
			if s.Robots, err = sites[i].versions(cmd); err != nil {
				return err
			}
		}
		settings = append(settings, s)
	}
	to.Sites = settings
	if len(o.robots) == 0 {
		if to.Sites, err = o.fetchConfigured(cmd, to, sites, settings); err != nil {
			return err
		}
	}
	to.Sites = append(to.Sites, others...)
	if len(sites) > 0 && sites[0].Sampled {
		to.Warnings = append(to.Warnings, audit.Warning{Code: "sampled", Text: "The configuration has sampling for logs: the log does not have all requests."})
	}
	return nil
}

// selects reports whether one of the sites serves a host of --host.
func (o *auditOptions) selects(all []Site, s *Site) bool {
	return slices.ContainsFunc(o.hosts, func(host string) bool {
		best := bestFor(all, hostname(host))
		return len(best) > 0 && all[best[0]].name() == s.name()
	})
}

// mainHandlers returns one handler of each site: the first without a matcher, or
// else the first. An audit can't know which of several handlers a request of the
// log would reach, so it warns.
func mainHandlers(sites []Site, to *audit.Options) (list []Site) {
	for _, s := range sites {
		i := slices.IndexFunc(list, func(other Site) bool { return other.name() == s.name() })
		if i < 0 {
			s.number, s.of = 1, 1
			list = append(list, s)
			continue
		}
		s.number, s.of = list[i].of+1, list[i].of+1
		if list[i].of++; list[i].Matcher != "" && s.Matcher == "" {
			list[i] = s
		}
	}
	for i := range list {
		if s := &list[i]; s.of > 1 {
			to.Warnings = append(to.Warnings, audit.Warning{Code: report.SeveralHandlers, Text: fmt.Sprintf("%s has several robots handlers. Its requests are judged by the settings of %s. "+
				"Select the site with --site, and another handler with --handler.", s.name(), s.handler())})
		}
	}
	return list
}

// versions reads the robots.txt of a site's source, which must not be nil.
func (s *Site) versions(cmd *cobra.Command) ([]audit.Version, error) {
	answer, err := s.Source.Fetch(cmd.Context(), enforce.Origin{})
	if err != nil {
		return nil, fmt.Errorf("reading the robots.txt of %s: %w", s.name(), err)
	}
	return []audit.Version{{Name: s.SourceName, Response: answer}}, nil
}

// versions reads the files of a flag: FILE, or DATE=FILE several times.
func (o *auditOptions) versions(cmd *cobra.Command, flag string, values []string) ([]audit.Version, error) {
	var list []audit.Version
	for _, value := range values {
		if value == "none" && len(values) == 1 {
			return nil, nil
		}
		v := audit.Version{Name: value}
		if date, name, ok := strings.Cut(value, "="); ok {
			if from, ok := o.date(date); ok {
				v.From, v.Name = from, name
			}
		}
		if v.From.IsZero() && len(values) > 1 {
			return nil, fmt.Errorf("%s %s: if there are several, write each as DATE=FILE, with a date such as 2026-11-01 or a time such as 2026-11-01T15:04:05Z", flag, value)
		}
		var err error
		if v.Response, err = answerOf(readRobots(cmd.Context(), v.Name, cmd.InOrStdin())); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// date reads a day or a time. A day begins at midnight in --zone.
func (o *auditOptions) date(s string) (time.Time, bool) {
	location := o.location
	if location == nil {
		location = time.UTC
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, s, location); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// addVerification turns on the verification of crawlers. The returned function
// stops it.
func (o *auditOptions) addVerification(to *audit.Options) (done func(), err error) {
	if !o.verify {
		if o.resolver != "" {
			return nil, errors.New("--resolver needs --verify")
		}
		return func() {}, nil
	}
	verifier, err := newVerifier(verify.Config{Lists: true, DNS: true}, o.resolver)
	if err != nil {
		return nil, err
	}
	checkers := map[*crawler.Registry]*verify.Checker{}
	for i := range to.Sites {
		rules := &to.Sites[i].Rules
		rules.Registry = cmp.Or(rules.Registry, crawler.Builtin())
		if checkers[rules.Registry] == nil {
			if checkers[rules.Registry], err = verifier.Bind(rules.Registry); err != nil {
				verifier.Close()
				return nil, err
			}
		}
		rules.Verification = &enforce.Verification{Checker: checkers[rules.Registry]}
	}
	return verifier.Close, nil
}

// addFetched fetches the robots.txt of the hosts of --host, or else of those with the
// most requests in the log.
func (o *auditOptions) addFetched(cmd *cobra.Command, to *audit.Options, old []audit.Version) error {
	hosts, err := o.hosts, error(nil)
	if len(hosts) == 0 {
		hosts, err = audit.Hosts(to)
	}
	if err != nil {
		return err
	}
	for _, host := range hosts {
		robots := fetchVersions(cmd, to, host)
		i := slices.IndexFunc(to.Sites, func(s audit.Site) bool { return sameRobots(s.Robots, robots) })
		if i >= 0 {
			to.Sites[i].Hosts = append(to.Sites[i].Hosts, hostname(host))
			continue
		}
		to.Sites = append(to.Sites, audit.Site{Hosts: []string{hostname(host)}, Rules: o.rules, Was: old, Robots: robots})
	}
	if len(to.Sites) == 0 {
		to.Sites = []audit.Site{{Rules: o.rules, Was: old}}
	}
	return nil
}

// sameRobots reports whether the robots.txt files that were fetched from two hosts are
// the same, as with and without www.
func sameRobots(a, b []audit.Version) bool {
	return len(a) > 0 && len(b) > 0 && a[0].Response.Status == b[0].Response.Status && bytes.Equal(a[0].Response.Body, b[0].Response.Body)
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
			if len(main) > 0 { // otherwise the log names no hosts, and the site has one robots.txt
				one.Hosts = []string{hostname(host)}
			}
			one.Robots = fetchVersions(cmd, to, host)
			fetched = append(fetched, one)
		}
		if len(hosts) != 1 || len(main) > 0 && (len(s.Hosts) != 1 || !strings.EqualFold(s.Hosts[0], hostname(hosts[0]))) {
			rest = append(rest, settings[i])
		}
	}
	return append(fetched, rest...), nil // an audit takes the first site that names a host
}

// hostsToFetch returns the hosts to fetch the robots.txt of a configured site
// from: those of the log's main hosts that it serves; if it serves any host, only
// that of --site. If there are none, it returns the host of --site, or the only
// host of the only site.
func (o *auditOptions) hostsToFetch(sites []Site, i int, main []string) (hosts []string) {
	named := o.config.host != "" && !strings.Contains(o.config.host, "*")
	for _, host := range main {
		if slices.Index(bestFor(sites, hostname(host)), i) == 0 && (!named || len(sites[i].Hosts) > 0 || strings.EqualFold(hostname(host), o.config.host)) {
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
