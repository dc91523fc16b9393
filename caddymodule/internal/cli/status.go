package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// statusOptions are the flags of `caddy robots status`.
type statusOptions struct {
	address, config, adapter, span string
	sites                          []string
	limit                          int
	json, watch                    bool
	every                          time.Duration
}

func statusCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [--watch] [--json] [--address <address>] [--site <host>]...",
		Short: "Tells what the robots handlers of a running Caddy do",
		Long: `
Asks the admin endpoint of a running Caddy what its robots handlers do now: the
crawlers that came, what was refused and by which line of which robots.txt, the
policies in force, and what is wrong and what to do about it.

The address of the admin endpoint is that of --address, or of the configuration
that --config names, or of the file Caddyfile in this folder, or Caddy's
default, localhost:2019.

The exit status is 0 if all is well, 2 if there is a problem of severity error,
such as a robots.txt that can't be read and of which there is no copy, and 1 if
Caddy can't be asked. With --watch it is 0 once the command is interrupted.`,
		Example: `  caddy robots status
  caddy robots status --watch --site shop.example.com
  caddy robots status --json | jq '.health.problems[].message'`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              run(func(cmd *cobra.Command, _ []string) (int, error) { return o.status(cmd) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.address, "address", "", "address of the admin endpoint")
	f.StringVarP(&o.config, "config", "c", "", "configuration file that has the address of the admin endpoint")
	f.StringVar(&o.adapter, "adapter", "", "adapter of that configuration file")
	f.StringArrayVar(&o.sites, "site", nil, "host of a site to tell of; may be repeated")
	f.StringVar(&o.span, "span", status.SpanDay, "the time that counts are of: hour, day or month")
	f.IntVar(&o.limit, "limit", 10, "rows of each table at most")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVarP(&o.watch, "watch", "w", false, "print it again and again, until interrupted")
	f.DurationVar(&o.every, "every", 2*time.Second, "time between two prints with --watch")
	return cmd
}

// minWatch is the least time between two prints.
const minWatch = 200 * time.Millisecond

func (o *statusOptions) status(cmd *cobra.Command) (int, error) {
	switch {
	case o.span != status.SpanHour && o.span != status.SpanDay && o.span != status.SpanMonth:
		return exitFailed, fmt.Errorf("--span %q: want hour, day or month", o.span)
	case o.limit < 1 || o.limit > status.MaxLimit:
		return exitFailed, fmt.Errorf("--limit %d is not between 1 and %d", o.limit, status.MaxLimit)
	case o.every < minWatch:
		return exitFailed, fmt.Errorf("--every %s is below %s", o.every, minWatch)
	}
	if o.config == "" && o.address == "" {
		if _, err := os.Stat(defaultConfig); err == nil {
			o.config = defaultConfig // as caddy reload does
		}
	}
	address, err := caddycmd.DetermineAdminAPIAddress(o.address, nil, o.config, o.adapter)
	if err != nil {
		return exitFailed, err
	}
	if o.watch {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return 0, o.repeat(ctx, address, cmd.OutOrStdout())
	}
	s, err := o.ask(address)
	if err != nil {
		return exitFailed, err
	}
	if err := o.print(cmd.OutOrStdout(), s); err != nil {
		return exitFailed, err
	}
	if slices.ContainsFunc(s.Health.Problems, func(p status.Problem) bool { return p.Severity == status.Severe }) {
		return exitFinding, nil
	}
	return 0, nil
}

// clearScreen moves the cursor home and clears what follows (ECMA-48, sections
// 8.3.21 and 8.3.39).
const clearScreen = "\x1b[H\x1b[2J"

// repeat prints the status again and again until ctx ends. A Caddy that can't be
// asked for a while, such as during a restart, is asked again.
func (o *statusOptions) repeat(ctx context.Context, address string, w io.Writer) error {
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for {
		var page strings.Builder
		s, err := o.ask(address)
		if err == nil {
			err = o.print(&page, s)
		}
		if err != nil {
			fmt.Fprintf(&page, "Error: %v\n", err)
		}
		if paintFor(w) {
			page.WriteString("\nControl-C ends this.\n")
			fmt.Fprint(w, clearScreen)
		}
		if _, err := io.WriteString(w, page.String()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// statusReport is what `caddy robots status --json` prints.
type statusReport struct {
	*status.Summary
	Busiest []status.Crawler `json:"busiest_crawlers"`
	Rules   []status.Rule    `json:"busiest_rules"`
	Files   []status.Policy  `json:"robots_txt"` // those that are not as they should be first
	Recent  []status.Refusal `json:"recent"`
}

// ask asks a running Caddy.
func (o *statusOptions) ask(address string) (*statusReport, error) {
	s := &statusReport{Summary: new(status.Summary)}
	var (
		crawlers        status.Crawlers
		rules           status.Rules
		policies, wrong status.Policies
		recent          status.Recent
	)
	for _, part := range []struct {
		route string
		into  any
	}{
		{"", s.Summary}, {"crawlers", &crawlers}, {"rules", &rules}, {"policies?broken=1", &wrong}, {"policies", &policies}, {"recent", &recent},
	} {
		if err := o.get(address, part.route, part.into); err != nil {
			return nil, err
		}
	}
	s.Busiest, s.Rules, s.Files, s.Recent = crawlers.Crawlers, rules.Rules, wrong.Policies, recent.Refusals
	for _, p := range policies.Policies {
		if p.OK && len(s.Files) < o.limit {
			s.Files = append(s.Files, p)
		}
	}
	return s, nil
}

// maxStatus is the most octets of one answer that are read.
const maxStatus = 64 << 20

// get asks for one value.
func (o *statusOptions) get(address, route string, into any) error {
	route, query, _ := strings.Cut(route, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	values.Set("limit", fmt.Sprint(o.limit))
	values.Set("span", o.span)
	values["site"] = o.sites
	resp, err := caddycmd.AdminAPIRequest(address, http.MethodGet, "/robots/"+route+"?"+values.Encode(), nil, nil)
	if err != nil {
		return fmt.Errorf("asking Caddy's admin endpoint at %s: %w", address, err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxStatus)).Decode(into); err != nil {
		return fmt.Errorf("the admin endpoint at %s answers no JSON: %w", address, err)
	}
	return nil
}

func (o *statusOptions) print(w io.Writer, s *statusReport) error {
	if o.json {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(s)
	}
	t := statusTables{w: w, span: o.span, paint: paintFor(w)}
	t.print(s)
	return t.err
}
