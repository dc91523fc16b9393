package commands

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/replay"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
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
	if err := o.config.Validate(cmd); err != nil {
		return err
	}
	if o.rules.Dialect, err = cli.ParseDialect(o.dialect); err != nil {
		return err
	}
	to.Sites = []audit.Site{{Rules: o.rules, Robots: given}}
	switch {
	case o.config.Path != "":
		err = o.addConfigured(cmd, to, given)
	case len(o.robots) == 0 && len(o.hosts) > 0 && !o.decided: // else the decisions are in the log
		o.addRobots(cmd, to, []cli.Site{{}})
	}
	to.Against = len(o.against) > 0
	for i := range to.Sites {
		if len(to.Sites[i].Robots) > 0 {
			to.Sites[i].Was = old
		}
	}
	return err
}

// addConfigured adds the sites of the configuration. given are the versions of --robots.
func (o *auditOptions) addConfigured(cmd *cobra.Command, to *audit.Options, given []audit.Version) error {
	sites, others, err := o.configured(to)
	if err != nil {
		return err
	}
	if to.Sites, err = o.auditSites(sites, to); err != nil {
		return err
	}
	o.steps = words.Map(sites, func(s cli.Site) []step.Step { return s.Steps })
	if len(o.robots) > 0 {
		for i := range to.Sites {
			to.Sites[i].Robots = given
		}
	} else {
		o.addRobots(cmd, to, sites)
	}
	to.Sites = append(to.Sites, others...)
	if slices.ContainsFunc(sites, func(s cli.Site) bool { return s.Sampled }) {
		warn(to, "sampled", "The configuration has sampling for logs: the log does not have all requests.")
	}
	return nil
}

// configured returns the sites of the configuration whose requests are judged, and
// others: those that --site does not select.
func (o *auditOptions) configured(to *audit.Options) (sites []cli.Site, others []audit.Site, err error) {
	c := &o.config
	all, err := c.Module.Sites(c.Path)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s has no robots handler: add one (caddy robots init shows how), "+
			"or leave out --config and give robots.txt with --robots", c.Path)
	}
	sites = all
	if c.Host != "" || c.Handler != 0 {
		site, err := c.One("", cli.AnyHandler)
		if err != nil {
			return nil, nil, err
		}
		sites = []cli.Site{*site}
		for i := range all {
			if all[i].Name() != site.Name() && len(all[i].Hosts) > 0 {
				others = append(others, audit.Site{Hosts: all[i].Hosts})
			}
		}
	}
	for i := range sites {
		if off := sites[i].Modes.Off(); len(off) > 0 {
			others = append(others, audit.Site{Hosts: off})
		}
	}
	sites = o.mainHandlers(sites, to)
	if len(o.hosts) > 0 {
		main := sites
		sites = slices.DeleteFunc(slices.Clone(main), func(s cli.Site) bool { return !o.selects(main, &s) })
		if len(sites) == 0 {
			return nil, nil, fmt.Errorf("--host: %s has no site with a robots handler for %s", c.Path, words.List(o.hosts, 5))
		}
	}
	return sites, others, nil
}

// auditSites returns sites in the form of the audit, without robots.txt. It warns of what steps
// can't tell from a log.
func (o *auditOptions) auditSites(sites []cli.Site, to *audit.Options) (list []audit.Site, err error) {
	unknown := make(map[string]bool)
	for i := range sites {
		s, lacks, err := replay.With(audit.Site{Hosts: sites[i].Hosts, Rules: sites[i].Rules}, sites[i].Steps)
		if err != nil {
			return nil, err
		}
		for _, what := range lacks {
			if !unknown[what] {
				unknown[what] = true
				warn(to, "step_unknown", what)
			}
		}
		if len(o.robots)+len(o.against) > 0 { // the lines of these files are their own
			s.Rules.SourceFile, s.Rules.SourceLine = "", 0
		}
		list = append(list, s)
	}
	return list, nil
}

// selects reports whether one of the sites serves a host of --host.
func (o *auditOptions) selects(all []cli.Site, s *cli.Site) bool {
	return slices.ContainsFunc(o.hosts, func(host string) bool {
		best := cli.BestFor(all, routes.PlainHost(host))
		return len(best) > 0 && all[best[0]].Name() == s.Name()
	})
}

// mainHandlers returns one handler of each site: the first without a matcher, or
// else the first. An audit can't know which of several handlers a request of the
// log would reach, so it warns.
func (o *auditOptions) mainHandlers(sites []cli.Site, to *audit.Options) (list []cli.Site) {
	for _, s := range sites {
		i := slices.IndexFunc(list, func(other cli.Site) bool { return other.Name() == s.Name() })
		if i < 0 {
			s.Number, s.Of = 1, 1
			list = append(list, s)
			continue
		}
		s.Number, s.Of = list[i].Of+1, list[i].Of+1
		if list[i].Of++; list[i].Matcher != "" && s.Matcher == "" {
			list[i] = s
		}
	}
	for i := range list {
		if s := &list[i]; s.Of > 1 {
			warn(to, "handlers", fmt.Sprintf("%s has several robots handlers. Its requests are judged by the settings of %s. "+
				"Select the site with --site, and another handler with --handler.", s.Name(), s.Describe()))
		}
	}
	return list
}

// versions reads the files of a flag: FILE, or DATE=FILE several times.
func (o *auditOptions) versions(cmd *cobra.Command, flag string, values []string) ([]audit.Version, error) {
	var list []audit.Version
	for _, value := range values {
		if value == "none" && len(values) == 1 {
			return []audit.Version{{Name: "no robots.txt", Response: judge.Response{Status: http.StatusNotFound}}}, nil
		}
		v := audit.Version{Name: value}
		if date, name, ok := strings.Cut(value, "="); ok {
			if from, ok := o.date(date); ok {
				v.From, v.Name = from, name
			}
		}
		if v.From.IsZero() && len(values) > 1 {
			return nil, fmt.Errorf("%s %s: if there are several, write each as DATE=FILE, with a date such as 2026-11-01 or a "+
				"time such as 2026-11-01T15:04:05Z",
				flag, value)
		}
		var err error
		if v.Response, err = cli.ReadAnswer(cmd.Context(), v.Name, cmd.InOrStdin()); err != nil {
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

// addVerification turns on the verification of crawlers.
func (o *auditOptions) addVerification(verifier *verify.Verifier, to *audit.Options) (err error) {
	checkers := map[*crawler.Registry]*verify.Checker{}
	for i := range to.Sites {
		rules := &to.Sites[i].Rules
		rules.Registry = cmp.Or(rules.Registry, crawler.Builtin())
		if checkers[rules.Registry] == nil {
			if checkers[rules.Registry], err = verifier.Bind(rules.Registry); err != nil {
				return err
			}
		}
		ignore := rules.Verification != nil && rules.Verification.IgnoreImpostors
		rules.Verification = &judge.Verification{Checker: checkers[rules.Registry], IgnoreImpostors: ignore}
	}
	return nil
}
