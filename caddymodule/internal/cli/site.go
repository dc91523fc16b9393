package cli

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

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/proposal"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

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
	// Features are those of the site, which are not set up.
	Features []statusapi.Feature
	// Sampled says that a log of the configuration is sampled.
	Sampled bool

	index      int    // among the handlers of the configuration; only check sets it
	number, of int    // set by configFlags.handlers and mainHandlers: the number of the handler among those of its site
	server     string // Listen, if the handlers of the site are in different servers
}

// anySite is the name of the site that serves any host.
const anySite = "*"

// name returns the name of the site for error messages.
func (s *Site) name() string {
	if len(s.Hosts) == 0 {
		return anySite + " (any host)"
	}
	return strings.Join(s.Hosts, ", ")
}

// handler describes the handler, if the site has several: "handler 1 of 2: path
// /api/*". It returns "" for the only handler of a site.
func (s *Site) handler() string {
	if s.of < 2 {
		return ""
	}
	text := fmt.Sprintf("handler %d of %d", s.number, s.of)
	if s.server != "" {
		text += " at " + s.server
	}
	if s.Matcher != "" {
		text += ": " + s.Matcher
	}
	return text
}

// configFlags are --config, --site and --handler.
type configFlags struct {
	module     Module
	path, host string
	handler    int // from 1; 0: not given
}

// add adds the flags to a command.
func (c *configFlags) add(cmd *cobra.Command, m Module) {
	cmd.Flags().StringVarP(&c.path, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	c.addSelection(cmd, m)
}

// addSelection adds --site and --handler.
func (c *configFlags) addSelection(cmd *cobra.Command, m Module) {
	c.module = m
	cmd.Flags().StringVar(&c.host, "site", "", "host of the site, if the configuration has several; * is the site for any host")
	cmd.Flags().IntVar(&c.handler, "handler", 0, "number of the robots handler, in the order of the configuration, if the site has several")
}

// settingFlags are the flags for settings that a configuration has.
var settingFlags = []string{"dialect", "http-clients", "programs", "no-user-triggered", "strict", "registry", "grace"}

// anyHandler is the condition of commands for which every robots handler is
// suitable.
func anyHandler(*Site) bool { return true }

// validate checks that the flags of a command fit together.
func (c *configFlags) validate(cmd *cobra.Command) error {
	switch {
	case c.path == "" && c.host != "":
		return errors.New("--site needs --config")
	case c.path == "" && c.handler != 0:
		return errors.New("--handler needs --config")
	case c.handler < 0:
		return fmt.Errorf("--handler %d: want a number from 1", c.handler)
	case c.path == "":
		return nil
	}
	for _, flag := range settingFlags {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s can't be used with --config, which has that setting", flag)
		}
	}
	return nil
}

// site returns the one robots handler that the flags select from those for which
// suitable returns true. kind describes these in errors, such as " with a policy".
func (c *configFlags) site(kind string, suitable func(*Site) bool) (*Site, error) {
	all, err := c.module.Sites(c.path)
	if err != nil {
		return nil, err
	}
	list, err := c.handlers(all, nil, kind, suitable)
	if err != nil {
		return nil, err
	}
	if len(list) > 1 {
		texts := words.Map(list, func(s Site) string { return s.handler() })
		return nil, fmt.Errorf("%s has several robots handlers%s for %s: select one with --handler. The handlers are %s", c.path, kind,
			list[0].name(), strings.Join(texts, "; "))
	}
	return &list[0], nil
}

// replace replaces settings by those of the robots handler that the flags select,
// if there is a --config.
func (c *configFlags) replace(cmd *cobra.Command, settings *judge.Settings) error {
	if err := c.validate(cmd); err != nil || c.path == "" {
		return err
	}
	site, err := c.site("", anyHandler)
	if err == nil {
		*settings = site.Rules
	}
	return err
}

// handlers returns the robots handlers of one site, for which suitable returns
// true, in the order of the configuration: of the site that --site names or, if
// the flag is missing, of the site that serves the host of at, which may be nil.
// all are the handlers of the configuration.
func (c *configFlags) handlers(all []Site, at *url.URL, kind string, suitable func(*Site) bool) ([]Site, error) {
	list := slices.DeleteFunc(slices.Clone(all), func(s Site) bool { return !suitable(&s) })
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no robots handler%s", c.path, kind)
	}
	group := c.group(all, at)
	host := c.hostOf(at)
	for i := range group {
		switch group[i].Modes.Of(host) {
		case config.ModeOff:
			return nil, fmt.Errorf("%s leaves %s alone, by a line host", c.path, host)
		case config.ModeMonitor:
			group[i].Rules.Monitor, group[i].Rules.Except = true, nil
		case config.ModeEnforce:
			group[i].Rules.Monitor, group[i].Rules.Except = false, nil
		}
	}
	switch {
	case group == nil && c.host != "":
		return nil, fmt.Errorf("%s has no site %s. %s", c.path, c.host, sitesAre(handlerNames(all)))
	case group == nil && at != nil && sameSite(list):
		return nil, fmt.Errorf("%s has no site for %s. %s: to use its settings, add --site %s", c.path, at.Hostname(),
			sitesAre(handlerNames(list)), output.ShellWord(list[0].Hosts[0]))
	case group == nil && at != nil:
		return nil, fmt.Errorf("%s has no site for %s. %s: select one with --site", c.path, at.Hostname(), sitesAre(handlerNames(list)))
	case group == nil && !sameSite(list):
		return nil, fmt.Errorf("%s has several sites: select one with --site. %s", c.path, sitesAre(handlerNames(list)))
	case group == nil:
		group = slices.DeleteFunc(slices.Clone(all), func(s Site) bool { return s.name() != list[0].name() })
	}
	for i := range group {
		group[i].number, group[i].of = i+1, len(group)
		if slices.ContainsFunc(group, func(s Site) bool { return s.Listen != group[0].Listen }) {
			group[i].server = group[i].Listen
		}
	}
	if c.handler > len(group) {
		return nil, fmt.Errorf("--handler %d: want a number from 1 to %d, because %s has that many robots handlers for %s", c.handler, len(group),
			c.path, group[0].name())
	}
	name := group[0].name()
	if c.handler > 0 {
		group = group[c.handler-1 : c.handler]
	}
	if group = slices.DeleteFunc(group, func(s Site) bool { return !suitable(&s) }); len(group) == 0 {
		return nil, fmt.Errorf("%s has no robots handler%s for %s", c.path, kind, name)
	}
	return group, nil
}

// hostOf returns the host of --site or, without, that of at, which may be nil.
func (c *configFlags) hostOf(at *url.URL) string {
	if c.host == "" && at != nil {
		return at.Hostname()
	}
	return c.host
}

// group returns the handlers of the site that --site names, or that serves the
// host of at. It returns nil if there are none, or if no host is given. Of the
// handlers for a host, it returns those of the servers at the port of at, if
// there are any.
func (c *configFlags) group(all []Site, at *url.URL) []Site {
	host := c.hostOf(at)
	if host == "" {
		return nil
	}
	group := words.Map(bestFor(all, host), func(i int) Site { return all[i] })
	if at == nil {
		return group
	}
	port := cmp.Or(at.Port(), map[string]string{"http": "80", "https": "443"}[at.Scheme])
	here := slices.DeleteFunc(slices.Clone(group), func(s Site) bool { return !s.listensAt(port) })
	if len(here) > 0 {
		return here
	}
	return group
}

// bestFor returns the indexes of the sites that fit a host best.
func bestFor(sites []Site, host string) []int {
	return routes.BestFor(sites, func(s Site) []string { return s.Hosts }, host)
}

// sameSite reports whether all handlers serve the same hosts.
func sameSite(list []Site) bool {
	return !slices.ContainsFunc(list, func(s Site) bool { return s.name() != list[0].name() })
}

// handlerNames returns the names of the sites of handlers, each once.
func handlerNames(list []Site) (names []string) {
	for i := range list {
		if name := list[i].name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sitesAre lists the names of the sites of a configuration, for errors.
func sitesAre(names []string) string {
	if len(names) == 1 {
		return "Its only site is " + names[0]
	}
	return "Its sites are " + strings.Join(names, "; ")
}

// listensAt reports whether the server of the site listens at a port.
func (s *Site) listensAt(port string) bool {
	return slices.ContainsFunc(strings.Fields(s.Listen), func(address string) bool { return strings.HasSuffix(address, ":"+port) })
}

// routes returns the sites of the configuration, also those without a robots handler;
// none without --config.
func (c *configFlags) routes() ([]proposal.Site, error) {
	if c.path == "" {
		return nil, nil
	}
	config, err := c.module.Config(c.path)
	if err != nil {
		return nil, err
	}
	return proposal.Read(config)
}

// rootFile returns the path of the robots.txt that a site serves from its root
// folder. all are the sites of the configuration. It returns "" if there is no such
// file, or if the site has several root folders.
func rootFile(all []proposal.Site, site *Site) string {
	root := ""
	for i := range all {
		switch s := &all[i]; {
		case !s.Robots || !slices.Equal(s.Hosts, site.Hosts) || s.Port != 0 && !site.listensAt(strconv.FormatUint(uint64(s.Port), 10)):
		case !s.Files || s.Roots != 1 || strings.Contains(s.Root, "{") || root != "" && root != s.Root:
			return ""
		default:
			root = s.Root
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

// urlOf returns the URL of a host of a site, with the scheme and port of the site's
// server. all are the sites of the configuration.
func urlOf(all []proposal.Site, site *Site, host string) string {
	i := slices.IndexFunc(all, func(s proposal.Site) bool { return site.listensAt(strconv.FormatUint(uint64(s.Port), 10)) })
	if i < 0 {
		return new(proposal.Site).URL(host)
	}
	return all[i].URL(host)
}
