package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/input"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/selection"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The bounds for the robots.txt files that an audit reads.
const (
	maxPlaces   = 200
	readsAtOnce = 8
	readTimeout = 10 * time.Second // for one address
	readsTime   = time.Minute      // for all
)

// place says where hosts of a site have their robots.txt, and what is there.
type place struct {
	site   int            // index among the sites
	hosts  []string       // nil: all hosts of the site
	who    string         // the hosts, for messages
	source origins.Source // nil for the source site
	names  []string       // files and URLs; the first that can be read has the robots.txt
	robots []audit.Version
	err    error
}

// addRobots adds the robots.txt of each of several sites, as far as they can be read.
func (o *auditOptions) addRobots(cmd *cobra.Command, to *audit.Options, sites []selection.Site) error {
	places, err := o.placesOf(to, sites)
	if err != nil {
		return err
	}
	o.readPlaces(cmd, to, places)
	to.Sites = withPlaces(to.Sites, places)
	return nil
}

// placesOf returns where the sites have their robots.txt: in the source that their
// settings name, in their root folder, or at the address of each of their hosts.
func (o *auditOptions) placesOf(to *audit.Options, sites []selection.Site) (places []place, err error) {
	main, named, err := audit.Hosts(to)
	if err != nil {
		return nil, err
	}
	all, err := o.config.Routes()
	if err != nil {
		return nil, err
	}
	for i := range sites {
		s := &sites[i]
		p := place{site: i, who: s.Name(), source: s.Source, names: []string{s.SourceName}}
		root := selection.RootFile(all, s)
		switch hosts := o.hostsToFetch(sites, i, main); {
		case !named && len(sites) > 1:
			p.err = errors.New("the log does not have the hosts of requests")
		case s.Source != nil:
		case root != "":
			p.names = []string{root}
		case len(hosts) == 0:
			p.err = errors.New("no host in the log that it serves has a tenth of the requests")
		default:
			for _, host := range hosts {
				p.hosts, p.who = []string{hostname(host)}, host
				p.names = []string{"https://" + host + "/robots.txt", "http://" + host + "/robots.txt"}
				if hostname(host) == host {
					p.names = slices.Insert(p.names, 0, urlOf(all, s, host)+"/robots.txt")
				}
				places = append(places, p)
			}
			continue
		}
		if o.config.Path != "" {
			places = append(places, p)
		}
	}
	return places, nil
}

// hostsToFetch returns the hosts of a site to fetch the robots.txt from. Besides those
// that its address names, these are hosts that clients may have made up: that of --site,
// those of --host, or those with the most requests in the log.
func (o *auditOptions) hostsToFetch(sites []selection.Site, i int, main []string) (hosts []string) {
	list, wanted := sites[i].Hosts, o.hosts
	if len(list) == 0 || slices.ContainsFunc(list, routes.IsPattern) {
		if o.config.Host != "" && !routes.IsPattern(o.config.Host) {
			wanted = []string{o.config.Host}
		}
		list = slices.Concat(list, main, wanted) // main may have ports
	}
	has := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(host string) bool { return hostname(host) == name })
	}
	for _, host := range list {
		name := hostname(host)
		if slices.Index(selection.BestFor(sites, name), i) == 0 && !routes.IsPattern(name) && !has(hosts, name) && (len(wanted) == 0 || has(wanted, name)) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// hostname returns a host of a log without its port, in lower case.
func hostname(host string) string { return judge.NewOrigin("", host, 0).Host }

// readPlaces reads the robots.txt of places, several at once. It prints for each where
// it was found, and adds warnings.
func (o *auditOptions) readPlaces(cmd *cobra.Command, to *audit.Options, places []place) {
	ctx, cancel := context.WithTimeout(cmd.Context(), readsTime)
	defer cancel()
	reads := background.AtMost(readsAtOnce)
	for i := range places {
		switch p := &places[i]; {
		case p.err != nil:
		case i >= maxPlaces:
			p.err = fmt.Errorf("at most %d files are read", maxPlaces)
		default:
			reads.Go("audit: a read of robots.txt", func() { p.read(ctx) })
		}
	}
	reads.Wait()
	var unknown []string
	now := false
	for i := range places {
		p := &places[i]
		if p.err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "Warning: The robots.txt of %s is not known: %v\n", p.who, p.err)
			unknown = append(unknown, p.who)
			continue
		}
		found := input.Shown(p.robots[0].Name)
		if status := p.robots[0].Response.Status; status != http.StatusOK {
			found += fmt.Sprintf(" answers %d: no rules", status)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "The robots.txt of %s: %s\n", p.who, found)
		now = now || p.hosts != nil
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
			words.List(unknown, maxPlaces), how))
		fmt.Fprintf(cmd.ErrOrStderr(), "Requests to %s are not judged. %s.\n", words.List(unknown, 5), how)
	}
}

// warn adds a warning to the report.
func warn(to *audit.Options, code, text string) {
	to.Warnings = append(to.Warnings, audit.Warning{Code: code, Text: text})
}

// read reads the robots.txt of a place. If there is none, the error is that of the first
// name.
func (p *place) read(ctx context.Context) {
	var first error
	for _, name := range slices.Compact(p.names) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		var answer judge.Response
		var err error
		if p.source != nil {
			answer, err = p.source.Fetch(ctx, judge.Origin{})
		} else {
			answer, err = input.Answer(input.Read(ctx, name, nil))
		}
		cancel()
		if err == nil {
			p.robots = []audit.Version{{Name: name, Response: answer}}
			return
		}
		first = cmp.Or(first, err)
	}
	p.err = first
}

// withPlaces returns sites with the robots.txt of places: one for the hosts with the
// same file, and last the site as it was, if it serves other hosts.
func withPlaces(sites []audit.Site, places []place) (list []audit.Site) {
	for i, site := range sites {
		first, left := len(list), slices.Clone(site.Hosts)
		all := false // hosts have a robots.txt
		for _, p := range places {
			if p.site != i || p.err != nil {
				continue
			}
			left = slices.DeleteFunc(left, func(host string) bool { return words.ContainsFold(p.hosts, host) })
			all = p.hosts == nil || len(site.Hosts) > 0 && len(left) == 0
			same := slices.IndexFunc(list[first:], func(s audit.Site) bool { return sameRobots(s.Robots, p.robots) })
			if same >= 0 {
				list[first+same].Hosts = append(list[first+same].Hosts, p.hosts...)
				continue
			}
			one := site
			one.Robots = p.robots
			if p.hosts != nil {
				one.Hosts = p.hosts
			}
			list = append(list, one)
		}
		if !all {
			list = append(list, site)
		}
	}
	return list // an audit takes the first site that names a host
}

// sameRobots reports whether the robots.txt files of two hosts are the same, as with
// and without www.
func sameRobots(a, b []audit.Version) bool {
	return len(a) > 0 && len(b) > 0 && a[0].Response.Status == b[0].Response.Status && bytes.Equal(a[0].Response.Body, b[0].Response.Body)
}

// urlOf returns the URL of a host of a site, with the scheme and port of the site's
// server. all are the sites of the configuration.
func urlOf(all []allsites.Site, site *selection.Site, host string) string {
	i := slices.IndexFunc(all, func(s allsites.Site) bool { return site.ListensAt(strconv.FormatUint(uint64(s.Port), 10)) })
	if i < 0 {
		return new(allsites.Site).URL(host)
	}
	return all[i].URL(host)
}
