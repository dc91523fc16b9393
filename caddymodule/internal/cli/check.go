package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/enforce"
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
	cmd := newCommand("check --agent <user-agent> [--robots <file|url|->] [--before <file|url|->] [--config <file>] [--client <address>] [--json] <url>...",
		"Shows whether robots.txt allows a crawler to fetch URLs", cobra.MinimumNArgs(1), o.check)
	addAgentFlag(cmd, &o.agent, "User-Agent or product token of the crawler (required)")
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt to check with: a file, a URL, or - for standard input")
	f.StringVar(&o.before, "before", "", "robots.txt that was replaced: a file, a URL, or - for standard input")
	f.StringVar(&o.grace, "grace", enforce.GraceSearch.String(),
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

func (o *checkOptions) check(cmd *cobra.Command, args []string) (int, error) {
	c := &checker{checkOptions: o, cmd: cmd, responses: make(map[string]enforce.Response), rootFiles: make(map[int]string),
		inForce: make(map[rulesKey]*enforce.Rules)}
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
			d, limits, err := c.decide(&handlers[i], arg)
			if err != nil {
				return exitFailed, err
			}
			if d.Action != enforce.Pass {
				status = exitFinding
			}
			if err := c.print(&handlers[i], arg, d, limits); err != nil {
				return exitFailed, err
			}
		}
	}
	return status, nil
}

// checked is the output of `caddy robots check` for one URL. Line numbers are
// those of the site's robots.txt or, for another layer, of the configuration.
type checked struct {
	URL       string `json:"url"`
	Action    string `json:"action"`
	Reason    string `json:"reason"`
	Crawler   string `json:"crawler,omitempty"`
	Class     string `json:"class"`
	Group     string `json:"group,omitempty"`
	GroupLine int    `json:"group_line,omitempty"`
	Rule      string `json:"rule,omitempty"`
	Layer     string `json:"layer,omitempty"` // policy, hidden or limit; absent for the site's own file
	// name of the file of the configuration that has Line, or source inline; absent for the site's own file
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Hidden  string `json:"hidden_path,omitempty"`
	Version string `json:"version,omitempty"` // of the robots.txt that decided; absent without a file
	Reading string `json:"reading,omitempty"` // google: google/robotstxt reads the file differently, and allows the URL
	Shed    string `json:"shed,omitempty"`    // when the crawler is refused while the server is busy; absent if never
	checkedPace
	// Limits are the lines of limits in the configuration that hold such a request.
	Limits []checkedLimit `json:"limits,omitempty"`

	// ExemptFrom has the addresses for which the crawler is exempt, unless
	// --client gives an address.
	ExemptFrom []string `json:"exempt_from,omitempty"`
	// Site, Handler (from 1), Handlers, Listen and Matcher identify the handler of
	// a site that has several. Listen are the addresses of its server; absent if
	// all handlers are in one server.
	Site     string `json:"site,omitempty"`
	Handler  int    `json:"handler,omitempty"`
	Handlers int    `json:"handlers,omitempty"`
	Listen   string `json:"listen,omitempty"`
	Matcher  string `json:"matcher,omitempty"`
	// Monitored says that the request passes all the same, because the mode is monitor.
	Monitored bool `json:"monitored,omitempty"`
	// Unreached says that no request reaches the handler.
	Unreached bool `json:"unreached,omitempty"`

	graced  bool   // Version is that of --before
	handler string // from Site.handler
}

// checkedPace holds the rate limits of a crawler whose request is allowed.
type checkedPace struct {
	CrawlDelay      float64  `json:"crawl_delay,omitempty"`       // seconds, as enforced
	CrawlDelayAsked float64  `json:"crawl_delay_asked,omitempty"` // seconds, in the file; absent unless it is more
	CrawlDelayLine  int      `json:"crawl_delay_line,omitempty"`
	RequestRates    []string `json:"request_rates,omitempty"`
	VisitTimes      []string `json:"visit_times,omitempty"`
}

func newChecked(site *Site, target string, d *enforce.Decision) *checked {
	reading := ""
	if d.Reading != 0 {
		reading = d.Reading.String()
	}
	layer, file := "", ""
	if d.Layer != enforce.FileLayer {
		layer = d.Layer.String()
	}
	if d.Layer != enforce.FileLayer || site.Inline {
		file = d.File()
	}
	_, groupLine := d.Rules.Origin(d.Group.Line())
	c := &checked{
		Version: d.VersionTag(), graced: d.Version != nil,
		Layer: layer, File: file, Hidden: d.HiddenPath(), Reading: reading, URL: target, Action: d.Action.String(), Reason: d.Reason.String(),
		Crawler: d.Name(),
		Class:   d.Agent.Class.String(), Group: d.GroupToken(), GroupLine: groupLine,
		Rule: d.RuleText(), Line: d.Line, checkedPace: newCheckedPace(d, site.Rules.MaxDelay),
		Monitored: d.Monitored && d.Action != enforce.Pass, Unreached: site.Unreached, handler: site.handler(),
	}
	if site.Shed != nil && d.Action == enforce.Pass {
		c.Shed = site.Shed.Describe(new(enforce.Request), d)
	}
	if c.handler != "" {
		c.Site, c.Handler, c.Handlers, c.Listen, c.Matcher = site.name(), site.number, site.of, site.server, site.Matcher
	}
	return c
}

// checkedLimit is a line of a limit, and the place of the limit.
type checkedLimit struct {
	Rule string `json:"rule"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// newCheckedPace returns the rate limits of a decision, none if the group's
// limits do not apply to the crawler. longest is the longest Crawl-delay that is
// enforced.
func newCheckedPace(d *enforce.Decision, longest time.Duration) (p checkedPace) {
	if d.Limits == nil {
		return p
	}
	if delay, ok := d.Group.CrawlDelay(); ok && delay.Delay > 0 {
		p.CrawlDelay = min(delay.Delay, longest).Seconds()
		_, p.CrawlDelayLine = d.Rules.Origin(delay.Line)
		if delay.Delay > longest {
			p.CrawlDelayAsked = delay.Delay.Seconds()
		}
	}
	for _, r := range d.Group.RequestRates() {
		p.RequestRates = append(p.RequestRates, r.String())
	}
	for _, v := range d.Group.VisitTimes() {
		p.VisitTimes = append(p.VisitTimes, v.Window.String())
	}
	return p
}

// sentence returns the decision as one line of text.
func (c *checked) sentence(paint report.Paint) string {
	var b strings.Builder
	colour := map[string]func(string) string{
		enforce.Pass.String(): paint.Good, enforce.Deny.String(): paint.Bad, enforce.Throttle.String(): paint.Odd,
	}[c.Action]
	b.WriteString(colour(fmt.Sprintf("%-8s", c.Action)))
	part := func(given bool, format string, args ...any) {
		if given {
			fmt.Fprintf(&b, format, args...)
		}
	}
	part(true, " %s  %s", report.Visible(c.URL), c.Reason)
	part(c.Crawler != "", "  crawler %s (%s)", report.Visible(c.Crawler), c.Class)
	part(c.Group != "", "  group %s", report.Visible(c.Group))
	part(c.Group != "" && c.GroupLine != 0, " (line %d)", c.GroupLine)
	part(c.Layer != "", "  %s", c.Layer)
	part(c.Line != 0, "  line %d", c.Line)
	part(c.Line != 0 && c.File != "", " of %s", report.Visible(c.File))
	part(c.Hidden != "", "  %q", c.Hidden)
	part(c.Rule != "", "  %q", c.Rule)
	part(c.Reading != "", "  as google/robotstxt reads the file")
	part(c.graced, "  by the version before (%s), for at most 24 hours", cmp.Or(c.Version, "no robots.txt"))
	part(c.CrawlDelay != 0, "  crawl-delay %gs", c.CrawlDelay)
	part(c.CrawlDelay != 0 && c.CrawlDelayAsked != 0, " instead of %gs", c.CrawlDelayAsked)
	part(c.CrawlDelay != 0, " (line %d)", c.CrawlDelayLine)
	for _, r := range c.RequestRates {
		part(true, "  request-rate %s", r)
	}
	for _, v := range c.VisitTimes {
		part(true, "  visit-time %s", v)
	}
	for _, l := range c.Limits {
		part(true, "  %s", report.Visible(l.Rule))
		part(l.Line != 0, " (line %d", l.Line)
		part(l.Line != 0 && l.File != "", " of %s", report.Visible(l.File))
		part(l.Line != 0, ")")
	}
	part(c.Shed != "", "  refused while the server is busy, %s", c.Shed)
	part(c.Monitored, "  but it passes in mode monitor")
	part(c.ExemptFrom != nil, "  but exempt for requests from %s (--client)", strings.Join(c.ExemptFrom, ", "))
	part(c.handler != "", "  [%s]", report.Visible(c.handler))
	part(c.Unreached, "  but no request reaches the robots handler, because handlers before it answer all of them")
	return b.String()
}
