package commands

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/suggest"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// suggestions returns a report on the logs with what they suggest for a site; nil if that is nothing.
// Only requests to it count; for the only site, all in a log that names no hosts. answer is that for
// the robots.txt.
func (o *initOptions) suggestions(cmd *cobra.Command, sites []allsites.Site, index int, answer judge.Response, notes *grouped) (*audit.Report, error) {
	if len(o.logs) == 0 {
		return nil, nil
	}
	files, err := openLogs(o.logs, cmd.InOrStdin(), "--log")
	if err != nil {
		return nil, err
	}
	s := &sites[index]
	options := audit.Options{
		Files: files, Only: true, IsProxy: o.proxies.trusts,
		Sites: []audit.Site{{Hosts: s.Hosts, Robots: []audit.Version{{Name: "robots.txt", Response: answer}}}},
	}
	for _, other := range slices.Delete(slices.Clone(sites), index, index+1) {
		options.Sites = append(options.Sites, audit.Site{Hosts: other.Hosts})
	}
	r, err := audit.Run(cmd.Context(), options)
	switch {
	case errors.Is(err, audit.ErrHosts) && len(sites) > 1:
		notes.add("the log has no request for it, so nothing is suggested", s.Name())
		return nil, nil
	case err != nil:
		return nil, err
	case len(r.Hosts) == 0 && len(sites) > 1:
		notes.add("it does not name the hosts of requests, so nothing is suggested from it. Run this with --site and the log of that site", "the log")
		return nil, nil
	}
	if err := suggest.Add(cmd.Context(), &suggest.Input{Options: options, Report: r}); err != nil {
		return nil, err
	}
	if len(r.Suggestions) == 0 {
		for _, note := range r.Suggested.Notes {
			notes.add(note, s.Name())
		}
		return nil, nil
	}
	return r, nil
}
