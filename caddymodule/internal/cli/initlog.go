package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/proposal"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/suggest"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// readLogs returns what the logs suggest for the robots block, as comments, and adds
// notes about their clients. Only requests for the hosts of the sites count, unless the logs
// name no hosts, or a site serves hosts that its address does not name. f is the robots.txt, nil if it is not known.
func (o *initOptions) readLogs(cmd *cobra.Command, sites []proposal.Site, f *robots.File, notes *grouped) (string, error) {
	if len(o.logs) == 0 {
		return "", nil
	}
	files, size, err := openLogs(o.logs, cmd.InOrStdin())
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(files, func(f logfile.File) bool { return f.Once }) {
		return "", errors.New("--log reads the log several times: give it as a file, not as standard input or a pipe")
	}
	answer := enforce.Response{Status: http.StatusNotFound}
	if f != nil {
		answer = enforce.Response{Status: http.StatusOK, Body: f.Bytes()}
	}
	options := audit.Options{
		Files: files, Progress: progressOn(cmd.ErrOrStderr(), size),
		Sites: []audit.Site{{Robots: []audit.Version{{Name: "robots.txt", Response: answer}}}},
	}
	named, err := audit.Hosts(&options)
	if err != nil {
		return "", err
	}
	open := slices.ContainsFunc(sites, func(s proposal.Site) bool { return s.Open() })
	for i := 0; i < len(sites) && len(named) > 0 && !open; i++ {
		options.Hosts = append(options.Hosts, sites[i].Hosts...)
	}
	r, err := audit.Run(cmd.Context(), options)
	clearProgress(cmd.ErrOrStderr())
	if err != nil {
		return "", err
	}
	noteClients(r, notes)
	if err := suggest.Add(cmd.Context(), &suggest.Input{Options: options, Report: r}); err != nil {
		return "", err
	}
	text, others := report.Commented(r)
	if others > 0 {
		notes.add(fmt.Sprintf("suggestions for robots.txt: %d. To see them, run caddy robots audit --suggest", others), theLog)
	}
	if len(r.Suggestions) == 0 {
		for _, note := range r.Suggested.Notes {
			notes.add(note, theLog)
		}
	}
	return text, nil
}

// theLog is the name before notes about logs.
const theLog = "the log"

// noteClients adds notes about probes, and about clients that may be those of an API.
func noteClients(r *audit.Report, notes *grouped) {
	for _, kind := range []struct {
		text    string
		classes []crawler.Class
	}{
		{"it has health checks or monitors: %s. Only a group of robots.txt that names them applies to them", []crawler.Class{crawler.Probe}},
		{"it has programs that may be clients of an API: %s. Before you add http_clients or programs to the block, exempt those that are", []crawler.Class{crawler.Library, crawler.Program, crawler.Webhook}},
	} {
		var list []string
		refused := int64(0)
		for i := range r.Crawlers {
			c := &r.Crawlers[i]
			if slices.ContainsFunc(kind.classes, func(class crawler.Class) bool { return class.String() == c.Class }) {
				list = append(list, fmt.Sprintf("%s (%s)", cmp.Or(c.Name, "no User-Agent"), words.Plural(c.Requests, "request", "requests")))
				refused += c.Denied + c.Throttled
			}
		}
		if len(list) == 0 {
			continue
		}
		text := fmt.Sprintf(kind.text, words.List(list, 5))
		if refused > 0 {
			text += fmt.Sprintf(". robots.txt would have refused some of these requests: %s", words.Count(refused))
		}
		notes.add(text, theLog)
	}
}
