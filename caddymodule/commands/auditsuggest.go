package commands

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/suggest"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// checkOnce returns an error for logs that can be read only once, if they have to be read
// several times.
func (o *auditOptions) checkOnce(files []logfile.File) error {
	for flag, is := range map[string]bool{"--suggest": o.suggest, "--verify": o.verify} {
		if is && slices.ContainsFunc(files, func(f logfile.File) bool { return f.Once }) {
			return fmt.Errorf("%s reads the log several times: give it as a file, not as standard input or a pipe", flag)
		}
	}
	return nil
}

// addSuggestions adds suggestions to the report.
func (o *auditOptions) addSuggestions(cmd *cobra.Command, options audit.Options, r *audit.Report) error {
	in := &suggest.Input{Options: options, Report: r}
	if o.config.Path != "" {
		in.Hosts = words.Map(o.hosts, hostname)
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
