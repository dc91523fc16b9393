package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// checkOptions has the flags of `caddy robots check`.
type checkOptions struct {
	agent, robots, dialect string
	before, grace, client  string
	config                 configFlags
	json                   bool
	rules                  enforce.Settings
}

func checkCommand(m Module) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check --agent <user-agent> [--robots <file|url|->] [--before <file|url|->] [--config <file>] [--client <address>] [--json] <url>...",
		Short: "Shows whether robots.txt allows a crawler to fetch URLs",
		Long: `
Prints for each URL what the robots handler would decide about a request with a
User-Agent: the action, the reason, the crawler that the User-Agent names, the
group of robots.txt that applies, the line that decides, and the rate limits. The
decision is that about the crawler's first request: the time between requests
does not count.

With --config, the settings are those of the site in a Caddyfile that serves the
URL's host, or of --site, including the lines of its policy and its hidden paths,
which are not in the robots.txt. If several robots handlers of the site serve the
URL, behind different request matchers, the decision of each is printed, with its
number and its matchers; --handler selects one. The matchers are not evaluated:
the admin API of a running server does that (/robots/check).

With --client, the request comes from this address, which counts only for
"exempt ... from". Without it, the output names the addresses for which the
crawler is exempt. "caddy robots verify" checks whether an address belongs to a
crawler.

With --before, the robots.txt has just replaced another one, and the crawler has
not read the new one yet. A path that the old one allows may then be allowed for
a grace period. By default only search engines get it; --grace or the site's
configuration can change that.

Without --robots, the file is that of the site's source in --config. For a site
with source site, and without --config, it is fetched from each URL's own site.
A URL may be only a path if the file need not be fetched, or if --config names a
site whose root folder has a robots.txt. --agent may be only a product token
(GPTBot).

The exit status is 0 if all URLs are allowed, 2 if one is not allowed by one of
its handlers, and 1 if there was an error, such as a robots.txt that can't be
read.`,
		Example: `  caddy robots check --agent GPTBot --robots robots.txt /private/ /blog/
  caddy robots check --agent "Mozilla/5.0 (compatible; bingbot/2.0)" https://example.com/
  caddy robots check --agent bingbot --robots robots.txt --json / | jq .crawl_delay
  caddy robots check --agent GTmetrix --config Caddyfile --client 216.144.248.17 https://example.com/
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
	f.StringVar(&o.client, "client", "", "IP address of the client, for \"exempt ... from\" in the configuration")
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
	c := &checker{checkOptions: o, cmd: cmd, responses: make(map[string]enforce.Response), rootFiles: make(map[int]string), inForce: make(map[rulesKey]*enforce.Rules)}
	if err := c.prepare(); err != nil {
		return exitFailed, err
	}
	status := 0
	for _, arg := range args {
		handlers, err := c.handlers(arg)
		if err != nil {
			return exitFailed, err
		}
		for i := range handlers {
			d, err := c.decide(&handlers[i], arg)
			if err != nil {
				return exitFailed, err
			}
			if d.Action != enforce.Pass {
				status = exitFinding
			}
			if err := c.print(&handlers[i], arg, d); err != nil {
				return exitFailed, err
			}
		}
	}
	return status, nil
}
