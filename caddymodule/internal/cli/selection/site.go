package selection

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Module is the part of the Caddy module that the commands use.
type Module interface {
	// ReadRegistry returns the crawlers of a registry file in addition to the
	// built-in ones.
	ReadRegistry(path string) (*crawler.Registry, error)
	// HeaderRules returns the x_robots_tag rules of all sites of a
	// configuration file: a Caddyfile, or JSON if its name ends in .json.
	HeaderRules(path string) ([]headers.Setting, error)
	// Sites returns the robots handlers of a configuration file.
	Sites(path string) ([]Site, error)
	// Config returns a configuration file as JSON.
	Config(path string) ([]byte, error)
}

// Site is a robots handler of a configuration file.
type Site struct {
	Hosts []string // hosts that its routes match; none: any
	Modes config.ModesOfHosts
	// Listen are the addresses of its server, separated by blanks, and Matcher
	// describes the other matchers of its routes; empty if there are none.
	Listen, Matcher string
	Unreached       bool // no request reaches it, because handlers before it answer all of them
	Rules           judge.Settings
	// Source is the source of its robots.txt, and SourceName the display name of the
	// source. Source is nil for source site: only the running server can read it.
	Source     origins.Source
	SourceName string
	// Inline says that the configuration itself has the robots.txt.
	Inline bool
	// Verification says what verify does, without a Checker; nil without verify.
	Verification *judge.Verification
	// Steps are those of the site with their settings, which are not set up.
	Steps []step.Step
	// Explainers are those of Steps.
	Explainers []statusapi.Explainer
	// Sampled says that a log of the configuration is sampled.
	Sampled bool
	// Routes are the sites of the configuration, also those without a robots handler.
	Routes []allsites.Site

	// Index is the number of the handler among those of the configuration, if a command
	// has set it.
	Index int
	// Number, from 1, and Of are the number of the handler among those of its site. They
	// are known only of handlers that were selected.
	Number, Of int
	// Server is Listen, if the handlers of the site are in different servers. It is known
	// only of handlers that were selected.
	Server string
}

// anySite is the name of the site that serves any host.
const anySite = "*"

// Name returns the name of the site for error messages.
func (s *Site) Name() string {
	if len(s.Hosts) == 0 {
		return anySite + " (any host)"
	}
	return strings.Join(s.Hosts, ", ")
}

// Describe describes the handler, if the site has several: "handler 1 of 2: path
// /api/*". It returns "" for the only handler of a site.
func (s *Site) Describe() string {
	if s.Of < 2 {
		return ""
	}
	text := fmt.Sprintf("handler %d of %d", s.Number, s.Of)
	if s.Server != "" {
		text += " at " + s.Server
	}
	if s.Matcher != "" {
		text += ": " + s.Matcher
	}
	return text
}

// Flags are the values of --config, --site and --handler.
type Flags struct {
	Module     Module
	Path, Host string
	Handler    int // from 1; 0: not given
}

// Add adds the flags to a command.
func (c *Flags) Add(cmd *cobra.Command, m Module) {
	cmd.Flags().StringVarP(&c.Path, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	c.AddSelection(cmd, m)
}

// AddSelection adds --site and --handler.
func (c *Flags) AddSelection(cmd *cobra.Command, m Module) {
	c.Module = m
	cmd.Flags().StringVar(&c.Host, "site", "", "host of the site, if the configuration has several; * is the site for any host")
	cmd.Flags().IntVar(&c.Handler, "handler", 0, "number of the robots handler, in the order of the configuration, if the site has several")
}

// settingFlags are the flags for settings that a configuration has.
var settingFlags = []string{"dialect", "http-clients", "programs", "no-user-triggered", "strict", "registry", "grace"}

// Any is the condition of commands for which every robots handler is
// suitable.
func Any(*Site) bool { return true }

// Validate checks that the flags of a command fit together.
func (c *Flags) Validate(cmd *cobra.Command) error {
	switch {
	case c.Path == "" && c.Host != "":
		return errors.New("--site needs --config")
	case c.Path == "" && c.Handler != 0:
		return errors.New("--handler needs --config")
	case c.Handler < 0:
		return fmt.Errorf("--handler %d: want a number from 1", c.Handler)
	case c.Path == "":
		return nil
	}
	for _, flag := range settingFlags {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s can't be used with --config, which has that setting", flag)
		}
	}
	return nil
}

// Handlers returns the robots handlers of one site, for which suitable returns
// true, in the order of the configuration: of the site that --site names or, if
// the flag is missing, of the site that serves the host of at, which may be nil.
// all are the handlers of the configuration.
func (c *Flags) Handlers(all []Site, at *url.URL, kind string, suitable func(*Site) bool) ([]Site, error) {
	list := slices.DeleteFunc(slices.Clone(all), func(s Site) bool { return !suitable(&s) })
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no robots handler%s", c.Path, kind)
	}
	group := c.Group(all, at)
	host := c.hostOf(at)
	for i := range group {
		switch group[i].Modes.Of(host) {
		case config.ModeOff:
			return nil, fmt.Errorf("%s leaves %s alone, by a line host", c.Path, host)
		case config.ModeMonitor:
			group[i].Rules.Monitor, group[i].Rules.Except = true, nil
		case config.ModeEnforce:
			group[i].Rules.Monitor, group[i].Rules.Except = false, nil
		}
	}
	switch {
	case group == nil && c.Host != "":
		return nil, fmt.Errorf("%s has no site %s. %s", c.Path, c.Host, SitesAre(handlerNames(all)))
	case group == nil && at != nil && sameSite(list):
		return nil, fmt.Errorf("%s has no site for %s. %s: to use its settings, add --site %s", c.Path, at.Hostname(),
			SitesAre(handlerNames(list)), output.ShellWord(list[0].Hosts[0]))
	case group == nil && at != nil:
		return nil, fmt.Errorf("%s has no site for %s. %s: select one with --site", c.Path, at.Hostname(), SitesAre(handlerNames(list)))
	case group == nil && !sameSite(list):
		return nil, fmt.Errorf("%s has several sites: select one with --site. %s", c.Path, SitesAre(handlerNames(list)))
	case group == nil:
		group = slices.DeleteFunc(slices.Clone(all), func(s Site) bool { return s.Name() != list[0].Name() })
	}
	for i := range group {
		group[i].Number, group[i].Of = i+1, len(group)
		if slices.ContainsFunc(group, func(s Site) bool { return s.Listen != group[0].Listen }) {
			group[i].Server = group[i].Listen
		}
	}
	if c.Handler > len(group) {
		return nil, fmt.Errorf("--handler %d: want a number from 1 to %d, because %s has that many robots handlers for %s", c.Handler, len(group),
			c.Path, group[0].Name())
	}
	name := group[0].Name()
	if c.Handler > 0 {
		group = group[c.Handler-1 : c.Handler]
	}
	if group = slices.DeleteFunc(group, func(s Site) bool { return !suitable(&s) }); len(group) == 0 {
		return nil, fmt.Errorf("%s has no robots handler%s for %s", c.Path, kind, name)
	}
	return group, nil
}

// hostOf returns the host of --site or, without, that of at, which may be nil.
func (c *Flags) hostOf(at *url.URL) string {
	if c.Host == "" && at != nil {
		return at.Hostname()
	}
	return c.Host
}

// Group returns the handlers of the site that --site names, or that serves the
// host of at. It returns nil if there are none, or if no host is given. Of the
// Handlers for a host, it returns those of the servers at the port of at, if
// there are any.
func (c *Flags) Group(all []Site, at *url.URL) []Site {
	host := c.hostOf(at)
	if host == "" {
		return nil
	}
	group := words.Map(BestFor(all, host), func(i int) Site { return all[i] })
	if at == nil {
		return group
	}
	port := cmp.Or(at.Port(), map[string]string{"http": "80", "https": "443"}[at.Scheme])
	here := slices.DeleteFunc(slices.Clone(group), func(s Site) bool { return !s.ListensAt(port) })
	if len(here) > 0 {
		return here
	}
	return group
}

// BestFor returns the indexes of the sites that fit a host best.
func BestFor(sites []Site, host string) []int {
	return routes.BestFor(sites, func(s Site) []string { return s.Hosts }, host)
}

// sameSite reports whether all handlers serve the same hosts.
func sameSite(list []Site) bool {
	return !slices.ContainsFunc(list, func(s Site) bool { return s.Name() != list[0].Name() })
}

// handlerNames returns the names of the sites of handlers, each once.
func handlerNames(list []Site) (names []string) {
	for i := range list {
		if name := list[i].Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// SitesAre lists the names of the sites of a configuration, for errors.
func SitesAre(names []string) string {
	if len(names) == 1 {
		return "Its only site is " + names[0]
	}
	return "Its sites are " + strings.Join(names, "; ")
}

// ListensAt reports whether the server of the site listens at a port.
func (s *Site) ListensAt(port string) bool {
	return slices.ContainsFunc(strings.Fields(s.Listen), func(address string) bool { return strings.HasSuffix(address, ":"+port) })
}

// RootFile returns the path of the robots.txt that the site serves from its root
// folder. It returns "" if there is no such file, or if the site has several root folders.
func (s *Site) RootFile() string {
	root := ""
	for i := range s.Routes {
		switch r := &s.Routes[i]; {
		case !r.Robots || !slices.Equal(r.Hosts, s.Hosts) || r.Port != 0 && !s.ListensAt(strconv.FormatUint(uint64(r.Port), 10)):
		case !r.Files || r.Roots != 1 || strings.Contains(r.Root, "{") || root != "" && root != r.Root:
			return ""
		default:
			root = r.Root
		}
	}
	if root == "" {
		return ""
	}
	file := filepath.Join(root, "robots.txt")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}

// URL returns the URL of a host of the site, with the scheme and port of its server.
func (s *Site) URL(host string) string {
	i := slices.IndexFunc(s.Routes, func(r allsites.Site) bool { return s.ListensAt(strconv.FormatUint(uint64(r.Port), 10)) })
	if i < 0 {
		return new(allsites.Site).URL(host)
	}
	return s.Routes[i].URL(host)
}
