package commands

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/suggest"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// addSuggestions adds suggestions to the report.
func (o *auditOptions) addSuggestions(cmd *cobra.Command, options audit.Options, r *audit.Report) error {
	in := &suggest.Input{Options: options, Report: r}
	if o.config.Path != "" {
		in.Hosts = words.Map(o.hosts, routes.PlainHost)
		index := slices.IndexFunc(options.Sites, func(s audit.Site) bool { return len(s.Robots) > 0 })
		in.Steps = o.steps[index]
	}
	return suggest.Add(cmd.Context(), in)
}

// checkSite checks that suggestions can be made: there is one site with a robots.txt.
func (o *auditOptions) checkSite(to *audit.Options) error {
	switch known := slices.DeleteFunc(slices.Clone(to.Sites), func(s audit.Site) bool { return len(s.Robots) == 0 }); {
	case !o.suggest || len(known) == 1:
		return nil
	case len(known) > 1:
		return errors.New("--suggest is for one site: select it with --site or --host")
	}
	return errors.New("--suggest needs the robots.txt of the site: give the file with --robots FILE")
}
