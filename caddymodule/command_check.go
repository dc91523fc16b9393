package caddymodule

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// checkOptions are the flags of `caddy robots check`.
type checkOptions struct {
	agent, robots, dialect string
	json                   bool
	rules                  enforce.Rules
}

func checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check --agent <user-agent> [--robots <file|url|->] [--json] <url>...",
		Short: "Tells what robots.txt says to a crawler about URLs",
		Long: `
Tells for each URL what the robots handler would decide about a request of a
User-Agent: the verdict, who it is taken for, the group of the robots.txt that
binds it, the line that decides, and the Crawl-delay that it is held to.

Without --robots, the robots.txt of each URL's own site is fetched. A URL may
be a path alone where --robots is given.

The exit status is 0 if all URLs are let through, 2 if one is not, and 1 if
that can't be told.`,
		Example: `  caddy robots check --agent GPTBot --robots robots.txt /private/ /blog/
  caddy robots check --agent "Mozilla/5.0 (compatible; bingbot/2.0)" https://example.com/`,
		Args: cobra.MinimumNArgs(1),
		RunE: run(func(cmd *cobra.Command, args []string) (int, error) { return o.check(cmd, args) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.agent, "agent", "a", "", "User-Agent or product token of the crawler (required)")
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt to go by: a file, a URL, or - for standard input")
	f.StringVar(&o.dialect, "dialect", "", "how the file is read: rfc9309, 1994 or 1996")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line")
	f.BoolVar(&o.rules.HTTPClients, "http-clients", false, "hold HTTP libraries to the group for all, as http_clients on does")
	f.BoolVar(&o.rules.IgnoreUserTriggered, "no-user-triggered", false, "free user-triggered fetchers from the group for all, as user_triggered off does")
	f.BoolVar(&o.rules.Strict, "strict", false, "hold every crawler to everything, as strict on does")
	if err := cmd.MarkFlagRequired("agent"); err != nil {
		panic(err)
	}
	return cmd
}

// checked is what check prints of one URL.
type checked struct {
	URL        string  `json:"url"`
	Action     string  `json:"action"`
	Reason     string  `json:"reason"`
	Crawler    string  `json:"crawler,omitempty"`
	Class      string  `json:"class"`
	Group      string  `json:"group,omitempty"`
	Rule       string  `json:"rule,omitempty"`
	Line       int     `json:"line,omitempty"`
	CrawlDelay float64 `json:"crawl_delay,omitempty"` // seconds
}

func (o *checkOptions) check(cmd *cobra.Command, args []string) (int, error) {
	if o.dialect != "" {
		var err error
		if o.rules.Dialect, err = robots.ParseDialect(o.dialect); err != nil {
			return exitFailed, err
		}
	}
	files := make(map[string][]byte)
	status := 0
	for _, arg := range args {
		name, err := o.robotsFor(arg)
		if err != nil {
			return exitFailed, err
		}
		body, ok := files[name]
		if !ok {
			if body, err = readRobots(cmd.Context(), name, cmd.InOrStdin()); err != nil {
				return exitFailed, err
			}
			files[name] = body
		}
		d, err := o.decide(cmd.Context(), body, arg)
		if err != nil {
			return exitFailed, err
		}
		if d.Action != enforce.Pass {
			status = exitFinding
		}
		if err := o.print(cmd.OutOrStdout(), arg, d); err != nil {
			return exitFailed, err
		}
	}
	return status, nil
}

// robotsFor names the robots.txt that a URL is checked by. The URL itself may
// be as broken as those that crawlers send, if it need not be fetched from.
func (o *checkOptions) robotsFor(arg string) (string, error) {
	if o.robots != "" {
		return o.robots, nil
	}
	u, err := url.Parse(arg)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is not an http or https URL: give --robots to check a path", arg)
	}
	return u.Scheme + "://" + u.Host + "/robots.txt", nil
}

// decide asks an engine of its own for each URL, so that only the path and the
// time of day decide, and not the pace.
func (o *checkOptions) decide(ctx context.Context, body []byte, target string) (*enforce.Decision, error) {
	limiter := throttle.NewMemory(1)
	defer limiter.Close()
	engine, err := enforce.NewEngine(o.rules, enforce.Inline(body), limiter, enforce.PoliciesConfig{})
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	d, now := new(enforce.Decision), time.Now()
	engine.Policies().Get(ctx, enforce.Origin{}, now)
	req := &enforce.Request{Target: target, UserAgents: []string{o.agent}, Time: now}
	if engine.Decide(ctx, req, d); d.Reason == enforce.Person && isProductToken(o.agent) {
		req.UserAgents[0] = "Mozilla/5.0 (compatible; " + o.agent + "/1.0)"
		engine.Decide(ctx, req, d)
	}
	return d, nil
}

// isProductToken reports whether an --agent is a product token alone, which no
// browser sends: it stands for a crawler that names itself so.
func isProductToken(agent string) bool {
	return agent != "" && strings.Trim(agent, productTokenOctets) == ""
}

// productTokenOctets are those of RFC 9309, section 2.2.1, and the digits and
// dots of real tokens.
const productTokenOctets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-0123456789."

func (o *checkOptions) print(w io.Writer, target string, d *enforce.Decision) error {
	rec := &record{*d}
	c := checked{
		URL: target, Action: d.Action.String(), Reason: d.Reason.String(), Crawler: rec.name(),
		Class: d.Agent.Class.String(), Group: d.GroupToken(), Rule: rec.rule(), Line: d.Line,
	}
	if delay, ok := d.Group.CrawlDelay(); ok && d.Terms != nil {
		c.CrawlDelay = delay.Delay.Seconds()
	}
	if o.json {
		return json.NewEncoder(w).Encode(c)
	}
	_, err := fmt.Fprintln(w, c.sentence())
	return err
}

// sentence writes a verdict for people.
func (c *checked) sentence() string {
	s := fmt.Sprintf("%-8s %s  %s", c.Action, c.URL, c.Reason)
	if c.Crawler != "" {
		s += fmt.Sprintf("  crawler %s (%s)", c.Crawler, c.Class)
	}
	if c.Group != "" {
		s += fmt.Sprintf("  group %s", c.Group)
	}
	if c.Line != 0 {
		s += fmt.Sprintf("  line %d", c.Line)
	}
	if c.Rule != "" {
		s += fmt.Sprintf("  %q", c.Rule)
	}
	if c.CrawlDelay != 0 {
		s += fmt.Sprintf("  crawl-delay %gs", c.CrawlDelay)
	}
	return s
}
