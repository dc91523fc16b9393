package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

func checkCommand(m Module) *cobra.Command {
	o := checker{responses: make(map[string]judge.Response), rootFiles: make(map[int]string), inForce: make(map[rulesKey]*judge.Rules)}
	cmd := newCommand("check --agent <user-agent> [--robots <file|url|->] [--before <file|url|->] [--config <file>] "+
		"[--client <address>] [--json] <url>...",
		"Shows whether robots.txt allows a crawler to fetch URLs", cobra.MinimumNArgs(1), o.check)
	addAgentFlag(cmd, &o.agent, "User-Agent or product token of the crawler (required)")
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt to check with: a file, a URL, or - for standard input")
	f.StringVar(&o.before, "before", "", "robots.txt that was replaced: a file, a URL, or - for standard input")
	f.StringVar(&o.grace, "grace", judge.GraceSearch.String(),
		"crawlers for which the file of --before still applies for a while: off, search or all")
	f.StringVar(&o.client, "client", "", "IP address of the client, for \"exempt ... from\" in the configuration")
	addDialectFlag(cmd, &o.dialect)
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	o.config.add(cmd, m)
	addRuleFlags(cmd, m, &o.rules)
	f.DurationVar(&o.rules.MaxDelay, "max-crawl-delay", throttle.DefaultMaxDelay,
		"limit for the Crawl-delay of the file, like max in crawl_delay")
	return cmd
}

func (c *checker) check(cmd *cobra.Command, args []string) error {
	c.cmd = cmd
	if err := c.prepare(); err != nil {
		return err
	}
	found := false
	for _, arg := range args {
		handlers, err := c.handlers(arg)
		if err != nil {
			return err
		}
		for i := range handlers {
			made, err := c.decide(&handlers[i], arg)
			if err != nil {
				return err
			}
			found = found || made.action != judge.Pass
			if err := c.print(made); err != nil {
				return err
			}
		}
	}
	return findingIf(found)
}

// checked is the output of `caddy robots check` for one URL. Line numbers are
// those of the site's robots.txt or, for another layer, of the configuration.
type checked struct {
	URL string `json:"url"`
	verdict.Check
	Hidden string `json:"hidden_path,omitempty"`
	// Site, Handler (from 1), Handlers, Listen and Matcher identify the handler of
	// a site that has several. Listen are the addresses of its server; absent if
	// all handlers are in one server.
	Site     string `json:"site,omitempty"`
	Handler  int    `json:"handler,omitempty"`
	Handlers int    `json:"handlers,omitempty"`
	Listen   string `json:"listen,omitempty"`
	Matcher  string `json:"matcher,omitempty"`
	// Unreached says that no request reaches the handler.
	Unreached bool `json:"unreached,omitempty"`

	action  judge.Action
	handler string // from Site.handler
}

func newChecked(site *Site, target string, check *verdict.Check, d *judge.Decision) *checked {
	c := &checked{URL: target, Check: *check, Hidden: d.HiddenPath(), Unreached: site.Unreached, action: d.Action, handler: site.handler()}
	if c.handler != "" {
		c.Site, c.Handler, c.Handlers, c.Listen, c.Matcher = site.name(), site.number, site.of, site.server, site.Matcher
	}
	return c
}

// sentence returns the decision as one line of text.
func (c *checked) sentence(paint report.Paint) string {
	colour := [...]func(string) string{judge.Pass: paint.Good, judge.Deny: paint.Bad, judge.Throttle: paint.Odd}[c.action]
	text := colour(fmt.Sprintf("%-8s", c.Action)) + " " + report.Visible(c.URL+"  "+c.Text())
	if c.Hidden != "" {
		text += fmt.Sprintf(", %q", c.Hidden)
	}
	if c.handler != "" {
		text += "  [" + report.Visible(c.handler) + "]"
	}
	if c.Unreached {
		text += "  but no request reaches the robots handler, because handlers before it answer all of them"
	}
	return text
}
