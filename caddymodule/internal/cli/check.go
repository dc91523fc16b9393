package cli

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

func checkCommand(m Module) *cobra.Command {
	o := checker{answers: make(map[string]judge.Response), said: make(map[string]bool)}
	cmd := NewCommand("check --agent <user-agent> [--robots <file|url|->] [--before <file|url|->] [--config <file>] "+
		"[--client <address>] [--json] <url>...",
		"Shows whether robots.txt allows a crawler to fetch URLs", Needs(1, "a URL, or a path"), o.check)
	AddAgentFlag(cmd, &o.agent, "User-Agent or product token of the crawler (required)")
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt to check with: a file, a URL, or - for standard input")
	f.StringVar(&o.before, "before", "", "robots.txt that was replaced: a file, a URL, or - for standard input")
	f.StringVar(&o.grace, "grace", judge.GraceSearch.String(),
		"crawlers for which the file of --before still applies for a while: off, search or all")
	f.StringVar(&o.client, "client", "", "IP address of the client, for \"exempt ... from\" in the configuration")
	AddDialectFlag(cmd, &o.dialect)
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	o.config.Add(cmd, m)
	AddRuleFlags(cmd, m.ReadRegistry, &o.rules)
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
			found = found || made.Action != judge.Pass.String()
			if err := c.print(made); err != nil {
				return err
			}
		}
	}
	return FindingIf(found)
}

//go:embed check.txt
var checkTemplate string

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
}

// checker makes the decisions of `caddy robots check`. It has the flags.
type checker struct {
	agent, robots, dialect string
	before, grace, client  string
	config                 Selection
	json                   bool
	rules                  judge.Settings

	cmd     *cobra.Command
	sites   []Site                    // of the configuration; nil without --config
	answers map[string]judge.Response // robots.txt that were read, by their names; see rulesOf
	said    map[string]bool           // notes
}

// prepare checks the flags and reads the configuration.
func (c *checker) prepare() (err error) {
	if err := c.config.Validate(c.cmd); err != nil {
		return err
	}
	if c.client != "" {
		if _, err := netip.ParseAddr(c.client); err != nil {
			return fmt.Errorf("--client %s: want an IP address, such as 192.0.2.1", c.client)
		}
	}
	if c.rules.MaxDelay <= 0 {
		return fmt.Errorf("--max-crawl-delay %s: want more than 0", c.rules.MaxDelay)
	}
	if c.config.Path != "" {
		return c.useConfig()
	}
	if c.rules.Dialect, err = ParseDialect(c.dialect); err != nil {
		return err
	}
	if c.rules.Grace, err = judge.ParseGrace(c.grace); err != nil {
		return fmt.Errorf("--grace %w", err)
	}
	return nil
}

// useConfig takes the settings from the configuration.
func (c *checker) useConfig() (err error) {
	if c.sites, err = c.config.Module.Sites(c.config.Path); err != nil {
		return err
	}
	for i := range c.sites {
		c.sites[i].Index = i
		if rules := &c.sites[i].Rules; rules.MaxDelay == 0 || c.cmd.Flags().Changed("max-crawl-delay") {
			rules.MaxDelay = c.rules.MaxDelay
		}
	}
	return nil
}

// handlers returns the robots handlers that decide about a URL or path: one,
// unless the site in the configuration has several.
func (c *checker) handlers(arg string) ([]Site, error) {
	if c.config.Path == "" {
		return []Site{{Rules: c.rules}}, nil
	}
	at, err := url.Parse(arg)
	if err != nil || at.Host == "" {
		at = nil // a path; it may be malformed
	}
	return c.config.Handlers(c.sites, at, "", AnyHandler)
}

// decide makes the decision of a handler about one URL, as if it were the
// crawler's first request. The time between requests does not count, but the time
// of day does. With --before, its robots.txt is the one that was replaced.
func (c *checker) decide(site *Site, target string) (*checked, error) {
	rules, err := c.rulesFor(site, target)
	if err != nil {
		return nil, err
	}
	var before *judge.Rules
	if c.before != "" {
		if before, err = c.rulesOf(site, c.before); err != nil {
			return nil, err
		}
	}
	req := &judge.Request{Method: http.MethodGet, Target: target, UserAgents: []string{c.agent}, Client: c.client, Assumed: true,
		Time: time.Now()}
	check, d := verdict.NewCheck(rules, before, req, site.Rules.MaxDelay, statusapi.Explain(site.Explainers))
	made := &checked{URL: target, Check: *check, Hidden: d.HiddenPath(), Unreached: site.Unreached}
	if site.Of > 1 {
		made.Site, made.Handler, made.Handlers, made.Listen, made.Matcher = site.Name(), site.Number, site.Of, site.Server, site.Matcher
	}
	if row := rules.Matcher().Registry().Lookup(c.agent); row != nil && row.ControlOnly {
		c.note("no client sends %s: it is a preference in robots.txt, and not the name of a crawler", row.Name)
	}
	if wrong := verdict.UnknownToken(rules, d, c.agent); wrong != "" {
		return made, fmt.Errorf("--agent %s", wrong)
	}
	return made, nil
}

// rulesFor returns the rules of a handler for a URL: with the robots.txt of --robots
// (unless the configuration itself has the handler's), of the handler's source, of the root folder of its site, or of the URL's site. The
// URL may be malformed, as those of crawlers may be, unless robots.txt is fetched
// from it.
func (c *checker) rulesFor(site *Site, arg string) (*judge.Rules, error) {
	if c.robots != "" && !site.Inline {
		return c.rulesOf(site, c.robots)
	}
	if site.Source != nil {
		if c.robots != "" {
			c.note("--robots does not replace the robots.txt that %s has for %s", Shown(c.config.Path), site.Name())
		}
		return c.rulesOf(site, fromSource)
	}
	u, err := url.Parse(arg)
	switch {
	case strings.HasPrefix(arg, "/"), err == nil && u.Scheme == "" && u.Host == "":
		file, err := c.rootFile(site, arg)
		if err != nil {
			return nil, err
		}
		return c.rulesOf(site, file)
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q is not an http or https URL", arg)
	}
	return c.rulesOf(site, u.Scheme+"://"+u.Host+"/robots.txt")
}

// rootFile returns the robots.txt in the root folder of a site, for a path.
func (c *checker) rootFile(site *Site, path string) (string, error) {
	file := site.RootFile()
	if file == "" {
		host := "example.com"
		if len(site.Hosts) > 0 && !strings.ContainsAny(site.Hosts[0], "*{") {
			host = site.Hosts[0]
		}
		return "", fmt.Errorf("%q is only a path: write the full URL, such as https://%s/%s, to fetch robots.txt from the running site, "+
			"or name the file with --robots", path, host, strings.TrimLeft(path, "/"))
	}
	c.note("robots.txt is %s, in the root folder of %s; --robots can name another file", Shown(file), site.Name())
	return file, nil
}

// note prints a note on standard error, once.
func (c *checker) note(format string, args ...any) {
	text := "note: " + fmt.Sprintf(format, args...)
	if !c.said[text] {
		c.said[text] = true
		Say(c.cmd.ErrOrStderr(), "%s", text)
	}
}

// fromSource stands for the robots.txt of a handler's source.
const fromSource = ""

// rulesOf returns the rules of a handler with the named robots.txt. It reads each source, file and
// URL once.
func (c *checker) rulesOf(site *Site, name string) (*judge.Rules, error) {
	key := name
	if name == fromSource {
		key = fmt.Sprint("handler ", site.Index)
	}
	answer, known := c.answers[key]
	if !known {
		var err error
		if answer, err = c.fetch(site, name); err != nil {
			return nil, err
		}
		c.answers[key] = answer
	}
	return site.Rules.Rules(answer)
}

// fetch reads a robots.txt. If a site has none, everything is allowed.
func (c *checker) fetch(site *Site, name string) (judge.Response, error) {
	if name == fromSource {
		answer, err := site.Source.Fetch(c.cmd.Context(), judge.Origin{})
		if err != nil {
			return answer, fmt.Errorf("reading the robots.txt of %s from %s: %w", site.Name(), site.SourceName, err)
		}
		return answer, nil
	}
	answer, err := ReadAnswer(c.cmd.Context(), name, c.cmd.InOrStdin())
	if err != nil {
		return answer, err
	}
	missing := Missing(name, answer)
	if missing != nil && c.robots != "" {
		return answer, missing
	}
	if missing != nil {
		Say(c.cmd.ErrOrStderr(), "%v: crawlers may fetch everything", missing)
	}
	return answer, nil
}

// print prints the decision of a handler.
func (c *checker) print(made *checked) error {
	w := c.cmd.OutOrStdout()
	if c.json {
		return NewEncoder(w).Encode(made)
	}
	return Layout{Paint: PaintFor(w)}.Execute(w, checkTemplate, nil, made)
}
