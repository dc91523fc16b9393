package commands

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/input"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/suggest"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// checkSuggest checks the flags for suggestions.
func (o *auditOptions) checkSuggest(files []logfile.File) error {
	switch {
	case !o.suggest && len(o.sitemaps) > 0:
		return errors.New("--sitemap needs --suggest")
	case o.suggest && slices.ContainsFunc(files, func(f logfile.File) bool { return f.Once }):
		return errors.New("--suggest reads the log several times: give it as a file, not as standard input or a pipe")
	}
	return nil
}

// addSuggestions adds suggestions to the report.
func (o *auditOptions) addSuggestions(cmd *cobra.Command, options audit.Options, r *audit.Report) error {
	in := &suggest.Input{Options: options, Report: r}
	for _, name := range o.sitemaps {
		if name == "none" {
			continue
		}
		targets, err := readSitemap(name)
		if err != nil {
			return fmt.Errorf("--sitemap %s: %w", input.Shown(name), err)
		}
		in.Sitemap = append(in.Sitemap, targets...)
	}
	in.NoSitemap = len(o.sitemaps) == 0 && slices.ContainsFunc(r.Sources,
		func(s audit.Source) bool { return len(robots.ParseText(s.Text).Sitemaps()) > 0 })
	if o.config.Path != "" {
		in.Hosts, in.IsShared = words.Map(o.hosts, hostname), o.isShared
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

// What a sitemap may have at most (sitemaps.org).
const (
	maxLocations = 50_000
	maxSitemap   = 50 << 20 // octets
)

// readSitemap returns the paths of the pages in a sitemap, with their queries.
func readSitemap(name string) (targets []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	decoder := xml.NewDecoder(io.LimitReader(f, maxSitemap))
	for {
		token, err := decoder.Token()
		if err == io.EOF && len(targets) == 0 {
			return nil, errors.New("it names no page")
		}
		if err == io.EOF {
			return targets, nil
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "loc" && start.Name.Local != "sitemapindex" {
			continue
		}
		if start.Name.Local == "sitemapindex" {
			return nil, errors.New("this is an index: give the sitemaps that it names")
		}
		var location string
		if err := decoder.DecodeElement(&location, &start); err != nil {
			return nil, err
		}
		if u, err := url.Parse(strings.TrimSpace(location)); err == nil {
			targets = append(targets, u.RequestURI())
		}
		if len(targets) > maxLocations {
			return nil, fmt.Errorf("it has more than %d pages", maxLocations)
		}
	}
}
