package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// checker makes the decisions of `caddy robots check`.
type checker struct {
	*checkOptions
	cmd       *cobra.Command
	sites     []Site                      // of the configuration; nil without --config
	responses map[string]enforce.Response // robots.txt that were read, by file or URL
	policies  map[policyKey]*enforce.Rules
}

// policyKey identifies a policy: the place of the handler in checker.sites, and
// the robots.txt.
type policyKey struct {
	handler int
	robots  string
}

// prepare checks the flags and reads the configuration.
func (c *checker) prepare() (err error) {
	if err := c.config.validate(); err != nil {
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
	if c.config.path != "" {
		return c.useConfig()
	}
	if c.rules.Dialect, err = dialectFlag(c.dialect); err != nil {
		return err
	}
	if c.rules.Grace, err = enforce.ParseGrace(c.grace); err != nil {
		return fmt.Errorf("--grace %w", err)
	}
	return nil
}

// useConfig takes the settings from the configuration.
func (c *checker) useConfig() (err error) {
	for _, flag := range []string{"dialect", "http-clients", "no-user-triggered", "strict", "registry", "grace"} {
		if c.cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s can't be used with --config, which has that setting", flag)
		}
	}
	if c.sites, err = c.config.module.Sites(c.config.path); err != nil {
		return err
	}
	for i := range c.sites {
		c.sites[i].index = i
		if rules := &c.sites[i].Rules; rules.MaxDelay == 0 || c.cmd.Flags().Changed("max-crawl-delay") {
			rules.MaxDelay = c.rules.MaxDelay
		}
	}
	return nil
}

// handlers returns the robots handlers that decide about a URL or path: one,
// unless the site in the configuration has several.
func (c *checker) handlers(arg string) ([]Site, error) {
	if c.config.path == "" {
		return []Site{{Rules: c.rules}}, nil
	}
	at, err := url.Parse(arg)
	if err != nil || at.Host == "" {
		at = nil // a path; it may be malformed
	}
	return c.config.handlers(c.sites, at, "", func(*Site) bool { return true })
}

// decide makes the decision of a handler about one URL, as if it were the
// crawler's first request. The time between requests does not count, but the time
// of day does. With --before, its robots.txt is the one that was replaced.
func (c *checker) decide(site *Site, target string) (*enforce.Decision, error) {
	policy, err := c.policyFor(site, target)
	if err != nil {
		return nil, err
	}
	var before *enforce.Rules
	if c.before != "" {
		if before, err = c.policy(site, c.before); err != nil {
			return nil, err
		}
	}
	d := new(enforce.Decision)
	req := &enforce.Request{Method: http.MethodGet, Target: target, UserAgents: []string{c.agent}, Client: c.client, Assumed: true, Time: time.Now()}
	policy.CheckFirst(req, before, d)
	return d, nil
}

// policyFor returns the policy of a handler for a URL: with the robots.txt of
// --robots, of the handler's source, or of the URL's site. The URL may be
// malformed, as those of crawlers may be, unless robots.txt is fetched from it.
func (c *checker) policyFor(site *Site, arg string) (*enforce.Rules, error) {
	if c.robots != "" {
		return c.policy(site, c.robots)
	}
	if site.Source != nil {
		return c.policyOfSource(site)
	}
	if strings.HasPrefix(arg, "/") {
		return c.policyOfRoot(site, arg)
	}
	u, err := url.Parse(arg)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme == "" && u.Host == "":
		return c.policyOfRoot(site, arg)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q is not an http or https URL", arg)
	}
	return c.policy(site, u.Scheme+"://"+u.Host+"/robots.txt")
}

// policyOfRoot returns the policy of a handler with the robots.txt in the root
// folder of its site, for a path. It prints on standard error which file it is.
func (c *checker) policyOfRoot(site *Site, path string) (*enforce.Rules, error) {
	key := policyKey{handler: site.index}
	if c.policies[key] != nil {
		return c.policies[key], nil
	}
	file := ""
	if c.config.path != "" {
		var err error
		if file, err = c.config.rootFile(site); err != nil {
			return nil, err
		}
	}
	if file == "" {
		host := "example.com"
		if len(site.Hosts) > 0 && !strings.ContainsAny(site.Hosts[0], "*{") {
			host = site.Hosts[0]
		}
		return nil, fmt.Errorf("%q is only a path: write the full URL, such as https://%s/%s, to fetch robots.txt from the running site, "+
			"or name the file with --robots", path, host, strings.TrimLeft(path, "/"))
	}
	fmt.Fprintf(c.cmd.ErrOrStderr(), "note: robots.txt is %s, in the root folder of %s; --robots can name another file\n", shown(file), site.name())
	policy, err := c.policy(site, file)
	c.policies[key] = policy
	return policy, err
}

// policyOfSource returns the policy of a handler whose source is known.
func (c *checker) policyOfSource(site *Site) (*enforce.Rules, error) {
	key := policyKey{handler: site.index}
	if c.policies[key] == nil {
		answer, err := site.Source.Fetch(c.cmd.Context(), enforce.Origin{})
		if err != nil {
			return nil, fmt.Errorf("reading the robots.txt of %s from %s: %w", site.name(), site.SourceName, err)
		}
		if c.policies[key], err = site.Rules.Rules(answer); err != nil {
			return nil, err
		}
	}
	return c.policies[key], nil
}

// policy returns the policy of a handler with the named robots.txt.
func (c *checker) policy(site *Site, name string) (*enforce.Rules, error) {
	key := policyKey{site.index, name}
	if c.policies[key] == nil {
		answer, err := c.read(name)
		if err != nil {
			return nil, err
		}
		if c.policies[key], err = site.Rules.Rules(answer); err != nil {
			return nil, err
		}
	}
	return c.policies[key], nil
}

// read reads the named robots.txt, once. If a site has none, everything is
// allowed.
func (c *checker) read(name string) (enforce.Response, error) {
	if answer, ok := c.responses[name]; ok {
		return answer, nil
	}
	body, err := readRobots(c.cmd.Context(), name, c.cmd.InOrStdin())
	answer := enforce.Response{Status: http.StatusOK, Body: body}
	if status, ok := errors.AsType[*statusError](err); ok && c.robots == "" && status.missing() {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "%v: crawlers may fetch everything\n", err)
		answer.Status = status.code
	} else if err != nil {
		return answer, err
	}
	c.responses[name] = answer
	return answer, nil
}

// print prints the decision of a handler.
func (c *checker) print(site *Site, target string, d *enforce.Decision) error {
	out := newChecked(site, target, d)
	if c.client == "" && d.Reason != enforce.Exempt {
		for _, prefix := range d.Rules.ExemptFrom(&d.Agent) {
			out.ExemptFrom = append(out.ExemptFrom, prefix.String())
		}
	}
	w := c.cmd.OutOrStdout()
	if c.json {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(out)
	}
	_, err := fmt.Fprintln(w, out.sentence(paintFor(w)))
	return err
}
