package commands

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/suggest"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// suggestions returns what the logs suggest for the robots block of a site, as comments. Only
// requests for its hosts count; for a site that serves hosts that its address does not name,
// those for no other site; for the only one, all in a log that names no hosts. answer is
// that for the robots.txt.
func (o *initOptions) suggestions(cmd *cobra.Command, sites []allsites.Site, index int, answer judge.Response, notes *grouped) (string, error) {
	if len(o.logs) == 0 {
		return "", nil
	}
	files, err := openLogs(o.logs, cmd.InOrStdin(), "--log")
	if err != nil {
		return "", err
	}
	s := &sites[index]
	options := audit.Options{
		Files: files,
		Sites: []audit.Site{{Robots: []audit.Version{{Name: "robots.txt", Response: answer}}}},
	}
	if s.Open() {
		for _, other := range slices.Delete(slices.Clone(sites), index, index+1) {
			options.Sites = append(options.Sites, audit.Site{Hosts: other.Hosts})
		}
	} else {
		options.Hosts = s.Hosts
	}
	r, err := audit.Run(cmd.Context(), options)
	if errors.Is(err, audit.ErrHosts) && len(sites) == 1 {
		options.Hosts = nil
		whole, wholeErr := audit.Run(cmd.Context(), options)
		if wholeErr == nil && len(whole.Hosts) == 0 {
			r, err = whole, nil
		}
	}
	switch {
	case errors.Is(err, audit.ErrHosts) && len(sites) > 1:
		notes.add("the log has no request for it, or names no hosts, so nothing is suggested", s.Name())
		return "", nil
	case err != nil:
		return "", err
	case len(r.Hosts) == 0 && len(sites) > 1:
		notes.add("it does not name the hosts of requests, so nothing is suggested from it. Run this with --site and the log of that site", "the log")
		return "", nil
	}
	if err := suggest.Add(cmd.Context(), &suggest.Input{Options: options, Report: r}); err != nil {
		return "", err
	}
	if len(r.Suggestions) == 0 {
		for _, note := range r.Suggested.Notes {
			notes.add(note, s.Name())
		}
	}
	return report.Commented(r), nil
}
