package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/proposal"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// initOptions are the flags of `caddy robots init`.
type initOptions struct {
	module         Module
	config, robots string
	site           string
}

// defaultConfig is the configuration file that is looked at if none is named,
// as by Caddy's own commands.
const defaultConfig = "Caddyfile"

func initCommand(m Module) *cobra.Command {
	o := initOptions{module: m}
	cmd := &cobra.Command{
		Use:   "init [--config <file>] [--site <host>] [--robots <file|url|->]",
		Short: "Proposes a robots block for a site",
		Long: `
Looks at a site's configuration and its robots.txt, and prints a robots block
that fits, in monitor mode: it counts and logs what would be refused, and
refuses nothing. Each line has a comment that says why it is there. What else
was noticed goes to standard error.

Without --config, the file Caddyfile of this folder is looked at. Without
--robots, the robots.txt in the site's root folder is, if it has one. Sites that
have a robots handler are left out, unless --site names them.

Nothing is written to any file.`,
		Example: `  caddy robots init
  caddy robots init --site example.com --robots https://example.com`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              run(func(cmd *cobra.Command, _ []string) (int, error) { return 0, o.propose(cmd) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	f.StringVar(&o.site, "site", "", "host name of one site in it")
	f.StringVarP(&o.robots, "robots", "r", "", "the site's robots.txt: a file, a URL, or - for standard input")
	return cmd
}

func (o *initOptions) propose(cmd *cobra.Command) error {
	sites, err := o.sites(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if o.robots != "" && len(sites) > 1 {
		return fmt.Errorf("--robots is for one site: choose one with --site: %s", strings.Join(siteNames(sites), "; "))
	}
	for i := range sites {
		f, from, err := o.file(cmd, &sites[i])
		if err != nil {
			return err
		}
		p := sites[i].Propose(f, crawler.Builtin())
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		fmt.Fprintf(cmd.OutOrStdout(), "# For %s\n%s", report.Visible(sites[i].Name()), p.Block)
		for _, note := range p.Notes {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %s: %s\n", report.Visible(sites[i].Name()), report.Visible(note))
		}
		if f != nil {
			o.lint(cmd, f, from)
		}
	}
	return nil
}

// sites returns the sites to propose something for.
func (o *initOptions) sites(stderr io.Writer) ([]proposal.Site, error) {
	path := o.config
	if path == "" {
		path = defaultConfig
	}
	config, err := o.module.Config(path)
	if errors.Is(err, fs.ErrNotExist) && o.config == "" {
		fmt.Fprintf(stderr, "note: this folder has no %s: the block is for a site of which nothing is known\n", defaultConfig)
		return []proposal.Site{{Hosts: o.hosts()}}, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := proposal.Read(config)
	if err != nil {
		return nil, err
	}
	if o.site != "" {
		chosen := slices.DeleteFunc(slices.Clone(all), func(s proposal.Site) bool { return !(&Site{Hosts: s.Hosts}).serves(o.site) })
		if len(chosen) == 0 {
			return nil, fmt.Errorf("%s has no such site as %s, but %s", path, o.site, strings.Join(siteNames(all), "; "))
		}
		// The site that names the host comes before those with a wildcard, as it does in Caddy.
		slices.SortStableFunc(chosen, func(a, b proposal.Site) int { return a.Breadth(o.site) - b.Breadth(o.site) })
		return chosen[:1], nil
	}
	left := slices.DeleteFunc(slices.Clone(all), func(s proposal.Site) bool { return s.Robots })
	if len(left) == 0 {
		return nil, fmt.Errorf("%s has no site without a robots handler", path)
	}
	return left, nil
}

// hosts are those of a site of which no configuration is known.
func (o *initOptions) hosts() []string {
	if o.site == "" {
		return []string{"example.com"}
	}
	return []string{o.site}
}

// file returns the site's robots.txt, and where it is from; nil if it is not
// at hand.
func (o *initOptions) file(cmd *cobra.Command, s *proposal.Site) (*robots.File, string, error) {
	name := o.robots
	if name == "" && s.Root != "" && !strings.Contains(s.Root, "{") {
		name = filepath.Join(s.Root, "robots.txt")
	}
	if name == "" {
		return nil, "", nil
	}
	text, err := readRobots(cmd.Context(), name, cmd.InOrStdin())
	if o.robots == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return robots.Parse(text), name, nil
}

// lint tells how many mistakes the file has.
func (o *initOptions) lint(cmd *cobra.Command, f *robots.File, name string) {
	count := 0
	for _, finding := range lint.Lint(f, findings.Crawlers(crawler.Builtin())) {
		if finding.Severity == lint.Error {
			count++
		}
	}
	if count > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s: errors that the linter finds: %d. See caddy robots lint %s\n", shown(name), count, shown(name))
	}
}

func siteNames(sites []proposal.Site) []string {
	names := make([]string, len(sites))
	for i := range sites {
		names[i] = sites[i].Name()
	}
	return names
}
