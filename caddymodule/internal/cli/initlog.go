package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/proposal"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
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
	answer := judge.Response{Status: http.StatusNotFound}
	if f != nil {
		answer = judge.Response{Status: http.StatusOK, Body: f.Bytes()}
	}
	options := audit.Options{
		Files: files, Progress: progressOn(cmd.ErrOrStderr(), size),
		Sites: []audit.Site{{Robots: []audit.Version{{Name: "robots.txt", Response: answer}}}},
	}
	_, named, err := audit.Hosts(&options)
	if err != nil {
		return "", err
	}
	open := slices.ContainsFunc(sites, func(s proposal.Site) bool { return s.Open() })
	for i := 0; i < len(sites) && named && !open; i++ {
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
		host, each := sites[0].Host(), ""
		if len(sites) > 1 {
			host, each = "HOST", " for each HOST"
		}
		notes.add(fmt.Sprintf("suggestions for robots.txt: %d. To see them, run this%s: caddy robots audit --host %s "+
			"--robots robots.txt --suggest %s",
			others, each, host, shellWords(o.logs)), theLog)
	}
	if len(sites) > 1 && len(r.Suggestions) > 0 {
		notes.add("the suggestions are for all of its sites together. Robots "+
			"cost most at "+costliest(r.Hosts)+". To see what would help one site, run this with --site",
			theLog)
	}
	if len(r.Suggestions) == 0 {
		for _, note := range r.Suggested.Notes {
			notes.add(note, theLog)
		}
	}
	return text, nil
}

// costliest returns the three hosts that sent most octets to robots.
func costliest(hosts []audit.Host) string {
	var names []string
	for _, h := range slices.SortedFunc(slices.Values(hosts), func(a, b audit.Host) int { return cmp.Compare(b.Octets, a.Octets) }) {
		names = append(names, fmt.Sprintf("%s (%s)", h.Name, words.Octets(h.Octets)))
	}
	return strings.Join(names[:min(3, len(names))], ", ")
}

// theLog is the name before notes about logs.
const theLog = "the log"

// noteClients adds notes about probes, and about clients that may be those of an API.
func noteClients(r *audit.Report, notes *grouped) {
	is := func(classes ...crawler.Class) func(*audit.Crawler) bool {
		return func(c *audit.Crawler) bool {
			return slices.ContainsFunc(classes, func(class crawler.Class) bool { return class.String() == c.Class })
		}
	}
	programs := is(crawler.Library, crawler.Program, crawler.Webhook)
	for _, kind := range []struct {
		text    string
		selects func(*audit.Crawler) bool
	}{
		{"it has health checks or monitors: %s. Only a group of robots.txt that names them applies to them", is(crawler.Probe)},
		{"it has programs that may be clients of an API: %s. Before you add http_clients or programs to the block, exempt those that are",
			programs},
		{"it has clients that came from one or two addresses, and that the group for * applies to: %s. Exempt those that " +
			"are yours: exempt NAME from ADDRESS",
			func(c *audit.Crawler) bool { return c.MayBeOwn() && !programs(c) }},
	} {
		var list []string
		refused := int64(0)
		for i := range r.Crawlers {
			c := &r.Crawlers[i]
			if kind.selects(c) {
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
