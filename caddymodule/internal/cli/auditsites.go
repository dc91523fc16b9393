package cli

import (
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
	to.Sites = []audit.Site{{Rules: o.rules, Robots: given, Was: old}}
	if len(o.robots) == 0 {
		err = o.addRobots(cmd, to, []Site{{}})
		to.Sites = to.Sites[:max(len(to.Sites)-1, 1)] // other hosts have nothing to compare with
	}
	return err
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
		return fmt.Errorf("%s has no robots handler: add one (caddy robots init shows how), or leave out --config and give robots.txt with --robots", o.config.path)
	}
	sites = mainHandlers(sites, to)
	if len(o.hosts) > 0 {
		all := sites
		sites = slices.DeleteFunc(slices.Clone(all), func(s Site) bool { return !o.selects(all, &s) })
		if len(sites) == 0 {
			return fmt.Errorf("--host: %s has no site with a robots handler for %s", o.config.path, words.List(o.hosts, 5))
		}
	}
	for i := range sites {
		s := audit.Site{Hosts: sites[i].Hosts, Rules: sites[i].Rules, Robots: given, Was: old, Suspects: sites[i].Suspects}
		if cmd.Flags().Changed("max-crawl-delay") {
			s.Rules.MaxDelay = o.rules.MaxDelay
		}
		if len(o.robots)+len(o.against) > 0 { // the lines of these files are their own
			s.Rules.SourceFile, s.Rules.SourceLine = "", 0
		}
		to.Sites = append(to.Sites, s)
	}
	if len(o.robots) == 0 {
		if err := o.addRobots(cmd, to, sites); err != nil {
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
