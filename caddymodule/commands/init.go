package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/proposal"
	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// initOptions has the flags of `caddy robots init`.
type initOptions struct {
	module         cli.Module
	config, robots string
	site           string
	logs           []string
	proxies        proxies
}

func initCommand(m cli.Module) *cobra.Command {
	o := initOptions{module: m}
	cmd := cli.NewCommand("init [--config <file>] [--site <host>] [--robots <file|url|->] [--log <file>]", "Proposes a robots block for a site",
		cli.NoArgs, o.propose)
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	f.StringVar(&o.site, "site", "",
		"host of the site to print a block for; default: all sites without a robots handler that do not only redirect")
	f.StringVarP(&o.robots, "robots", "r", "", "the site's robots.txt: a file, a URL, or - for standard input")
	f.StringArrayVar(&o.logs, "log", nil, "access log from which changes are suggested; a file or a pattern; may be repeated")
	o.proxies.addTo(cmd)
	return cmd
}

func (o *initOptions) propose(cmd *cobra.Command, _ []string) error {
	sites, err := o.sites(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if o.robots != "" && len(sites) > 1 {
		return fmt.Errorf("--robots is for one site: select it with --site. The sites are %s", strings.Join(siteNames(sites), "; "))
	}
	var notes grouped
	how := ""
	for i := range sites {
		answer, from, err := o.file(cmd, &sites[i])
		if err != nil {
			return err
		}
		suggestions, err := o.suggestions(cmd, sites, i, answer, &notes)
		if err != nil {
			return err
		}
		var f *robots.File
		if from != "" {
			f = robots.Parse(answer.Body)
		}
		block, known := proposal.Propose(&sites[i], f, func(lines []string) string { return report.Commented(suggestions, lines) })
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		fmt.Fprintf(cmd.OutOrStdout(), "# For %s\n# Into the block of the site:\n%s", cli.Visible(sites[i].Name()), block)
		for _, note := range known {
			notes.add(note, sites[i].Name())
		}
		if f != nil {
			o.lint(cmd, f, from)
		} else {
			how = cmp.Or(how, "robots.txt was not read. To take it into account, run this for each site, as here: "+o.command(&sites[i]))
			notes.add(how, sites[i].Name())
		}
	}
	for _, note := range notes.texts {
		cli.Say(cmd.ErrOrStderr(), "note: %s: %s", cli.Visible(words.List(notes.names[note], 5)), cli.Visible(note))
	}
	return nil
}

// grouped has texts with the names of the sites that they are for.
type grouped struct {
	texts []string // in the order of add
	names map[string][]string
}

func (g *grouped) add(text, name string) {
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if g.names[text] == nil {
		g.texts = append(g.texts, text)
	}
	if !slices.Contains(g.names[text], name) {
		g.names[text] = append(g.names[text], name)
	}
}

// command returns the command line that reads the robots.txt of a site from its URL.
func (o *initOptions) command(s *allsites.Site) string {
	host := cmp.Or(o.site, s.Host())
	list := []string{"--site", host, "--robots", s.URL(host)}
	if o.config != "" {
		list = append(list, "--config", o.config)
	}
	for _, log := range o.logs {
		list = append(list, "--log", log)
	}
	return "caddy robots init " + strings.Join(words.Map(list, cli.ShellWord), " ")
}

// sites returns the sites to print a block for.
func (o *initOptions) sites(stderr io.Writer) ([]allsites.Site, error) {
	path := cmp.Or(o.config, cli.DefaultConfig)
	config, err := o.module.Config(path)
	if errors.Is(err, fs.ErrNotExist) && o.config == "" {
		cli.Say(stderr, "note: this folder has no %s: the block is for a site without a known configuration", cli.DefaultConfig)
		return []allsites.Site{{Hosts: []string{cmp.Or(o.site, "example.com")}}}, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := allsites.Read(config)
	if err != nil {
		return nil, err
	}
	if o.site != "" {
		best := routes.BestFor(all, func(s allsites.Site) []string { return s.Hosts }, o.site)
		if best == nil {
			return nil, fmt.Errorf("%s has no site %s. %s", path, o.site, cli.SitesAre(siteNames(all)))
		}
		return all[best[0]:][:1], nil
	}
	left := slices.DeleteFunc(slices.Clone(all), func(s allsites.Site) bool { return s.Robots || s.Redirects })
	if len(left) == 0 {
		return nil, fmt.Errorf("all sites of %s have a robots handler, or only redirect: select one with --site", path)
	}
	return left, nil
}

// file returns the answer for the site's robots.txt, and its name; "" if it is not
// available.
func (o *initOptions) file(cmd *cobra.Command, s *allsites.Site) (judge.Response, string, error) {
	name := o.robots
	if name == "" && s.Root != "" && !strings.Contains(s.Root, "{") {
		name = filepath.Join(s.Root, "robots.txt")
	}
	none := judge.Response{Status: http.StatusNotFound}
	if name == "" {
		return none, "", nil
	}
	answer, err := cli.ReadAnswer(cmd.Context(), name, cmd.InOrStdin())
	if o.robots == "" && errors.Is(err, fs.ErrNotExist) {
		return none, "", nil
	}
	if missing := cli.Missing(name, answer); err == nil && missing != nil {
		cli.Say(cmd.ErrOrStderr(), "note: %v: the site has no robots.txt", missing)
	}
	return answer, name, err
}

// lint prints the number of errors and warnings in the file.
func (o *initOptions) lint(cmd *cobra.Command, f *robots.File, name string) {
	count := 0
	for _, finding := range lint.Lint(f, findings.Crawlers(crawler.Builtin())) {
		if finding.Severity >= lint.Warning {
			count++
		}
	}
	if count > 0 {
		cli.Say(cmd.ErrOrStderr(), "note: %s: the linter finds errors and warnings: %d. Run caddy robots lint %s to see them", cli.Shown(name), count,
			cli.Shown(name))
	}
}

// siteNames returns the names of sites.
func siteNames(sites []allsites.Site) []string {
	return words.Map(sites, func(s allsites.Site) string { return s.Name() })
}
