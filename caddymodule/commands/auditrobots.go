package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The bounds for reading the robots.txt files of sites.
const (
	readsAtOnce = 8
	readTimeout = 10 * time.Second // for one address
	readsTime   = time.Minute      // for all
)

// addRobots reads the robots.txt of each of several sites, several at once: that of its source, of
// its root folder, or of the address of its first host. It prints where each was found, and adds
// warnings.
func (o *auditOptions) addRobots(cmd *cobra.Command, to *audit.Options, sites []cli.Site) {
	ctx, cancel := context.WithTimeout(cmd.Context(), readsTime)
	defer cancel()
	reads, failed := background.AtMost(readsAtOnce), make([]error, len(sites))
	for i := range sites {
		names := o.places(sites, i)
		if len(names) == 0 {
			failed[i] = errors.New("the site names no host")
			continue
		}
		reads.Go("audit: a read of robots.txt", func() { failed[i] = read(ctx, &to.Sites[i], sites[i].Source, names) })
	}
	reads.Wait()
	var unknown []string
	now := false
	for i := range sites {
		who := sites[i].Name()
		if failed[i] != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "Warning: The robots.txt of %s is not known: %v\n", who, failed[i])
			unknown = append(unknown, who)
			continue
		}
		v := to.Sites[i].Robots[0]
		now = now || sites[i].Source == nil && cli.IsURL(v.Name)
		found := cli.Shown(v.Name)
		if v.Response.Status != http.StatusOK {
			found += fmt.Sprintf(" answers %d: no rules", v.Response.Status)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "The robots.txt of %s: %s\n", who, found)
	}
	if now {
		warn(to, "robots_now", "Requests are judged by robots.txt as the sites have it now. At the time of the log, it may have been different.")
	}
	if len(unknown) > 0 {
		how := "Pass the file or its URL with --robots"
		if o.config.Path != "" {
			how += ", and the site with --site"
		}
		warn(to, "no_robots", fmt.Sprintf("The robots.txt of these hosts is not known, so requests to them are not judged: %s. %s.",
			words.List(unknown, maxUnknown), how))
	}
}

// maxUnknown is the largest number of sites that a warning lists.
const maxUnknown = 200

// places returns the files and URLs that may have the robots.txt of a site: the first that can be
// read has it. Of a site for any host, the address is that of --site or --host.
func (o *auditOptions) places(sites []cli.Site, i int) []string {
	s := &sites[i]
	if s.Source != nil {
		return []string{s.SourceName}
	}
	if root := s.RootFile(); root != "" {
		return []string{root}
	}
	for _, host := range slices.Concat([]string{o.config.Host}, o.hosts, s.Hosts) {
		name := routes.PlainHost(host)
		if name == "" || routes.IsPattern(name) || slices.Index(cli.BestFor(sites, name), i) != 0 {
			continue
		}
		names := []string{"https://" + host + "/robots.txt", "http://" + host + "/robots.txt"}
		if name == host { // without a port
			names = slices.Insert(names, 0, s.URL(host)+"/robots.txt")
		}
		return slices.Compact(names)
	}
	return nil
}

// warn adds a warning to the report.
func warn(to *audit.Options, code, text string) {
	to.Warnings = append(to.Warnings, audit.Warning{Code: code, Text: text})
}

// read reads the robots.txt of a site. If there is none, the error is that of the first name.
func read(ctx context.Context, to *audit.Site, source origins.Source, names []string) (first error) {
	for _, name := range names {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		var answer judge.Response
		var err error
		if source != nil {
			answer, err = source.Fetch(ctx, judge.Origin{})
		} else {
			answer, err = cli.ReadAnswer(ctx, name, nil)
		}
		cancel()
		if err == nil {
			to.Robots = []audit.Version{{Name: name, Response: answer}}
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}
