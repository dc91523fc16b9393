package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Selection has the values of --config, --site and --handler.
type Selection struct {
	Module     Module
	Path, Host string
	Handler    int // from 1; 0: not given
}

// Add adds the flags to a command.
func (c *Selection) Add(cmd *cobra.Command, m Module) {
	cmd.Flags().StringVarP(&c.Path, "config", "c", "", "configuration file: a Caddyfile, or JSON if its name ends in .json")
	c.Module = m
	cmd.Flags().StringVar(&c.Host, "site", "", "host of the site, if the configuration has several; * is the site for any host")
	cmd.Flags().IntVar(&c.Handler, "handler", 0, "number of the robots handler, in the order of the configuration, if the site has several")
}

// settingFlags are the flags for settings that a configuration has.
var settingFlags = []string{"dialect", "http-clients", "programs", "no-user-triggered", "strict", "registry", "grace"}

// AnyHandler is the condition of commands for which every robots handler is suitable.
func AnyHandler(*Site) bool { return true }

// Validate checks that the flags of a command fit together.
func (c *Selection) Validate(cmd *cobra.Command) error {
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
func (c *Selection) Handlers(all []Site, at *url.URL, kind string, suitable func(*Site) bool) ([]Site, error) {
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
			SitesAre(handlerNames(list)), ShellWord(list[0].Hosts[0]))
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
func (c *Selection) hostOf(at *url.URL) string {
	if c.Host == "" && at != nil {
		return at.Hostname()
	}
	return c.Host
}

// Group returns the handlers of the site that --site names, or that serves the
// host of at. It returns nil if there are none, or if no host is given. Of the
// Handlers for a host, it returns those of the servers at the port of at, if
// there are any.
func (c *Selection) Group(all []Site, at *url.URL) []Site {
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

// One returns the one robots handler that the flags select from those for which
// suitable returns true. kind describes these in errors, such as " with a policy".
func (c *Selection) One(kind string, suitable func(*Site) bool) (*Site, error) {
	all, err := c.Module.Sites(c.Path)
	if err != nil {
		return nil, err
	}
	list, err := c.Handlers(all, nil, kind, suitable)
	if err != nil {
		return nil, err
	}
	if len(list) > 1 {
		texts := words.Map(list, func(s Site) string { return s.Describe() })
		return nil, fmt.Errorf("%s has several robots handlers%s for %s: select one with --handler. The handlers are %s", c.Path, kind,
			list[0].Name(), strings.Join(texts, "; "))
	}
	return &list[0], nil
}

// Replace replaces settings by those of the robots handler that the flags select,
// if there is a --config.
func (c *Selection) Replace(cmd *cobra.Command, settings *judge.Settings) error {
	if err := c.Validate(cmd); err != nil || c.Path == "" {
		return err
	}
	site, err := c.One("", AnyHandler)
	if err == nil {
		*settings = site.Rules
	}
	return err
}
