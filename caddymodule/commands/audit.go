package commands

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/suggest"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// auditOptions has the flags of `caddy robots audit`.
type auditOptions struct {
	robots, against    []string
	zone               string
	dialect            string
	json, full, verify bool
	html               string
	suggest            bool
	hosts              []string
	proxies            proxies
	config             cli.Selection
	rules              judge.Settings
	location           *time.Location
	decided            bool
	requests           string
	steps              [][]step.Step // of the sites of --config, in the order of audit.Options.Sites
}

func auditCommand(m cli.Module) *cobra.Command {
	var o auditOptions
	cmd := cli.NewCommand("audit [--robots <file|url>] [--config <file>] [--against <file|url>] [--host "+
		"<host>] [--decided [--requests <name>]] [--suggest] [--verify] [--json] [--html <file>] <log>...",
		"Shows from access logs what robots did, and what robots.txt would have refused",
		cli.Needs(1, "an access log, or - for standard input"), o.audit)
	f := cmd.Flags()
	f.StringArrayVarP(&o.robots, "robots", "r", nil, "robots.txt to judge by: a file, a URL, or none; or DATE=FILE, which may be repeated")
	f.StringArrayVar(&o.against, "against", nil, "robots.txt to compare with, in the forms of --robots")
	f.StringVar(&o.zone, "zone", "", "time zone for times without one: Europe/Berlin, +02:00, Local (default UTC)")
	o.proxies.addTo(cmd)
	f.BoolVar(&o.verify, "verify", false, "verify the crawlers with published address lists and DNS")
	f.BoolVar(&o.json, "json", false, "print the report as JSON")
	f.StringVar(&o.html, "html", "", "also write the report as an HTML page to this file")
	f.BoolVar(&o.full, "full", false, "show client addresses and the values of queries")
	f.BoolVar(&o.suggest, "suggest", false, "print changes that would have saved costs, as a Caddyfile, instead of the report")
	f.StringArrayVar(&o.hosts, "host", nil, "host whose requests count; may be repeated; default: all hosts")
	f.BoolVar(&o.decided, "decided", false, "say what Caddy really refused, by the decisions in its log, instead of the report")
	f.StringVar(&o.requests, "requests", "", "with --decided: the requests of this crawler that a rule forbade, one a line, with the rule")
	for _, other := range []string{"suggest", "html", "against"} {
		cmd.MarkFlagsMutuallyExclusive("decided", other)
	}
	cli.AddDialectFlag(cmd, &o.dialect)
	o.config.Add(cmd, m)
	cli.AddRuleFlags(cmd, m.ReadRegistry, &o.rules)
	return cmd
}

func (o *auditOptions) audit(cmd *cobra.Command, args []string) error {
	var again []string
	if o.suggest {
		again = append(again, "--suggest")
	}
	if o.verify {
		again = append(again, "--verify")
	}
	files, err := openLogs(args, cmd.InOrStdin(), again...)
	if err != nil {
		return err
	}
	if o.requests != "" && !o.decided {
		return errors.New("--requests needs --decided")
	}
	if o.location, err = parseZone(o.zone); err != nil {
		return err
	}
	options := audit.Options{
		Files: files, Zone: o.location, Hosts: o.hosts, Verify: o.verify, Full: o.full, Decided: o.decided,
		IsProxy: o.proxies.trusts,
	}
	if o.html != "" {
		if err := checkPage(o.html); err != nil {
			return err
		}
	}
	if err := cmp.Or(o.addSites(cmd, &options), o.checkSite(&options)); err != nil {
		return err
	}
	if o.verify {
		verifier := verify.New(verify.Config{Lists: true, DNS: true, Resolver: net.DefaultResolver})
		defer verifier.Close()
		if err := o.addVerification(verifier, &options); err != nil {
			return err
		}
	}
	if o.requests != "" {
		return o.printForbidden(cmd, options)
	}
	r, err := audit.Run(cmd.Context(), options)
	if err != nil {
		return err
	}
	if o.suggest {
		if err := o.addSuggestions(cmd, options, r); err != nil {
			return err
		}
	}
	if o.html != "" { // first, because the text may go to a program that stops reading
		if err := writePage(o.html, r); err != nil {
			return err
		}
	}
	return cmp.Or(o.print(cmd.OutOrStdout(), r), cli.FindingIf(r.Against != nil && r.Against.Bad))
}

// print writes the report.
func (o *auditOptions) print(w io.Writer, r *audit.Report) error {
	switch {
	case o.json:
		return cli.WriteJSON(w, r)
	case o.suggest:
		return report.Suggestions(w, r)
	}
	return report.Audit(w, r, cli.PaintFor(w))
}

// parseZone reads --zone: the name of a zone, or an offset from UTC.
func parseZone(s string) (*time.Location, error) {
	switch {
	case s == "":
		return nil, nil
	case s[0] == '+' || s[0] == '-':
		if t, err := time.Parse("-07:00", s); err == nil {
			return t.Location(), nil
		}
	default:
		if l, err := time.LoadLocation(s); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("--zone %q: want the name of a zone such as Europe/Berlin, an offset such as +02:00, UTC or Local", s)
}

// addSuggestions adds suggestions to the report.
func (o *auditOptions) addSuggestions(cmd *cobra.Command, options audit.Options, r *audit.Report) error {
	in := &suggest.Input{Options: options, Report: r}
	if o.config.Path != "" {
		in.Hosts = words.Map(o.hosts, routes.PlainHost)
		index := slices.IndexFunc(options.Sites, func(s audit.Site) bool { return len(s.Robots) > 0 })
		in.Steps = o.steps[index]
	}
	return suggest.Add(cmd.Context(), in)
}

// checkSite checks that suggestions can be made: there is one site with a robots.txt, or one that has
// none, as --robots none says.
func (o *auditOptions) checkSite(to *audit.Options) error {
	switch known := slices.DeleteFunc(slices.Clone(to.Sites), func(s audit.Site) bool { return len(s.Robots) == 0 }); {
	case !o.suggest || len(known) == 1:
		return nil
	case len(known) > 1:
		return errors.New("--suggest is for one site: select it with --site or --host")
	}
	return errors.New("--suggest needs the robots.txt of the site: give the file with --robots FILE, or --robots none if there is none")
}

// printForbidden prints the requests of a crawler that a rule forbade.
func (o *auditOptions) printForbidden(cmd *cobra.Command, q audit.Options) error {
	w := bufio.NewWriter(cmd.OutOrStdout())
	n := int64(0)
	err := audit.Forbidden(cmd.Context(), q, o.requests, func(r *audit.Request) error {
		n++
		if o.json {
			return json.NewEncoder(w).Encode(r)
		}
		return report.Forbidden(w, r)
	})
	err = cmp.Or(err, w.Flush())
	if err == nil && n == 0 {
		return fmt.Errorf("the logs have no request of %s that a published rule forbade. --decided alone counts what was refused for other reasons", o.requests)
	}
	return err
}
