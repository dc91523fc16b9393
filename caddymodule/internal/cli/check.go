package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// checkOptions has the flags of `caddy robots check`.
type checkOptions struct {
	agent, robots, dialect string
	before, grace          string
	config                 configFlags
	json                   bool
	rules                  enforce.Rules
}

func checkCommand(m Module) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check --agent <user-agent> [--robots <file|url|->] [--before <file|url|->] [--config <file>] [--json] <url>...",
		Short: "Shows whether robots.txt allows a crawler to fetch URLs",
		Long: `
Prints for each URL what the robots handler would decide about a request with a
User-Agent: the action, the reason, the crawler that the User-Agent names, the
group of robots.txt that applies, the line that decides, and the rate limits. The
decision is that about the crawler's first request: the time between requests
does not count.

With --config, the settings are those of a site in a Caddyfile, including the
lines of its policy and its hidden paths, which are not in the robots.txt.

With --before, the robots.txt has just replaced another one, and the crawler has
not read the new one yet. A path that the old one allows may then be allowed for
a grace period. By default only search engines get it; --grace or the site's
configuration can change that.

Without --robots, the robots.txt of each URL's own site is fetched. With
--robots, a URL may be only a path. --agent may be only a product token (GPTBot).

The exit status is 0 if all URLs are allowed, 2 if one is not, and 1 if there was
an error, such as a robots.txt that can't be read.`,
		Example: `  caddy robots check --agent GPTBot --robots robots.txt /private/ /blog/
  caddy robots check --agent "Mozilla/5.0 (compatible; bingbot/2.0)" https://example.com/
  caddy robots check --agent bingbot --robots robots.txt --json / | jq .crawl_delay
  caddy robots check --agent Googlebot --robots robots.txt --before robots.txt.old /archive/`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              run(func(cmd *cobra.Command, args []string) (int, error) { return o.check(cmd, args) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.agent, "agent", "a", "", "User-Agent or product token of the crawler (required)")
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt to check with: a file, a URL, or - for standard input")
	f.StringVar(&o.before, "before", "", "robots.txt that was replaced: a file, a URL, or - for standard input")
	f.StringVar(&o.grace, "grace", enforce.GraceSearch.String(), "crawlers for which the file of --before still applies for a while: off, search or all")
	addDialectFlag(cmd, &o.dialect)
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	o.config.add(cmd, m)
	addRuleFlags(cmd, m, &o.rules)
	f.DurationVar(&o.rules.MaxDelay, "max-crawl-delay", throttle.DefaultMaxDelay, "limit for the Crawl-delay of the file, like max in crawl_delay")
	if err := cmd.MarkFlagRequired("agent"); err != nil {
		panic(err)
	}
	complete(cmd, "grace", cobra.FixedCompletions([]cobra.Completion{
		cobra.CompletionWithDesc(enforce.GraceSearch.String(), "those of search engines"),
		enforce.GraceOff.String(), enforce.GraceAll.String(),
	}, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "agent", completeCrawlers)
	return cmd
}

// completeCrawlers completes the User-Agent tokens of the crawlers in the registry.
func completeCrawlers(_ *cobra.Command, _ []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for row := range crawler.Builtin().All() {
		if len(row.UserAgents) > 0 && strings.HasPrefix(strings.ToLower(row.UserAgents[0]), strings.ToLower(begin)) {
			list = append(list, cobra.CompletionWithDesc(row.UserAgents[0], row.Operator))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func (o *checkOptions) check(cmd *cobra.Command, args []string) (int, error) {
	var err error
	if o.config.path != "" {
		if err := o.useConfig(cmd); err != nil {
			return exitFailed, err
		}
	} else if err := o.useFlags(); err != nil {
		return exitFailed, err
	}
	if o.rules.MaxDelay <= 0 {
		return exitFailed, fmt.Errorf("--max-crawl-delay %s: want more than 0", o.rules.MaxDelay)
	}
	var before *enforce.Policy
	if o.before != "" {
		if before, err = o.policy(cmd, o.before); err != nil {
			return exitFailed, err
		}
	}
	policies := make(map[string]*enforce.Policy)
	status := 0
	for _, arg := range args {
		name, err := o.robotsFor(arg)
		if err != nil {
			return exitFailed, err
		}
		if policies[name] == nil {
			if policies[name], err = o.policy(cmd, name); err != nil {
				return exitFailed, err
			}
		}
		d := o.decide(policies[name], before, arg)
		if d.Action != enforce.Pass {
			status = exitFinding
		}
		if err := o.print(cmd.OutOrStdout(), arg, d); err != nil {
			return exitFailed, err
		}
	}
	return status, nil
}

// useConfig takes the settings from a site of the configuration.
func (o *checkOptions) useConfig(cmd *cobra.Command) error {
	for _, flag := range []string{"dialect", "http-clients", "no-user-triggered", "strict", "registry", "grace"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s can't be used with --config, which has that setting", flag)
		}
	}
	site, err := o.config.site(func(*Site) bool { return true })
	if err != nil {
		return err
	}
	longest := o.rules.MaxDelay
	if o.rules = site.Rules; o.rules.MaxDelay == 0 || cmd.Flags().Changed("max-crawl-delay") {
		o.rules.MaxDelay = longest
	}
	return nil
}

// useFlags takes the settings from flags.
func (o *checkOptions) useFlags() (err error) {
	if o.rules.Dialect, err = dialectFlag(o.dialect); err != nil {
		return err
	}
	if o.rules.Grace, err = enforce.ParseGrace(o.grace); err != nil {
		return fmt.Errorf("--grace %w", err)
	}
	return nil
}

// robotsFor returns the name of the robots.txt to check a URL with. The URL may
// be malformed, as those of crawlers may be, unless robots.txt is fetched from
// it.
func (o *checkOptions) robotsFor(arg string) (string, error) {
	if o.robots != "" {
		return o.robots, nil
	}
	u, err := url.Parse(arg)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is not an http or https URL: use --robots to check a path", arg)
	}
	return u.Scheme + "://" + u.Host + "/robots.txt", nil
}

// policy reads the named robots.txt. If a site has none, everything is allowed.
func (o *checkOptions) policy(cmd *cobra.Command, name string) (*enforce.Policy, error) {
	body, err := readRobots(cmd.Context(), name, cmd.InOrStdin())
	answer := enforce.Response{Status: http.StatusOK, Body: body}
	if status, ok := errors.AsType[*statusError](err); ok && o.robots == "" && status.missing() {
		fmt.Fprintf(cmd.ErrOrStderr(), "%v: crawlers may fetch everything\n", err)
		answer.Status = status.code
	} else if err != nil {
		return nil, err
	}
	return o.rules.Policy(answer)
}

// decide decides about one URL, as if it were the crawler's first request. The
// time between requests does not count, but the time of day does. If before is
// not nil, it is the policy that the current one replaced.
func (o *checkOptions) decide(policy, before *enforce.Policy, target string) *enforce.Decision {
	d := new(enforce.Decision)
	req := &enforce.Request{Method: http.MethodGet, Target: target, UserAgents: []string{o.agent}, Time: time.Now()}
	check := policy.Check
	if before != nil {
		check = func(req *enforce.Request, d *enforce.Decision) { policy.CheckBefore(req, before, d) }
	}
	enforce.CheckAgent(check, req, d)
	d.PaceFirst(req.Time)
	return d
}

func (o *checkOptions) print(w io.Writer, target string, d *enforce.Decision) error {
	c := o.newChecked(target, d)
	if o.json {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(c)
	}
	_, err := fmt.Fprintln(w, c.sentence(paintFor(w)))
	return err
}
