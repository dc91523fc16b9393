package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/command"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/input"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/selection"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// policyOptions are the flags of `caddy robots policy`.
type policyOptions struct {
	config selection.Flags
	robots string
	check  []string
	full   bool
}

func policyCommand(m selection.Module) *cobra.Command {
	var o policyOptions
	cmd := command.New("policy --config <file> [--site <host>] [--handler <number>] [--robots <file|url|->] [--check <url>]... [--full]",
		"Prints the robots.txt that a site publishes with its policy, and the changes", command.NoArgs, o.policy)
	o.config.Add(cmd, m)
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "the site's own robots.txt: a file, a URL, or - for standard input")
	f.StringArrayVar(&o.check, "check", nil, "compare with the robots.txt that the site of this URL publishes; may be repeated")
	f.BoolVar(&o.full, "full", false, fullUsage)
	command.Require(cmd, "config")
	return cmd
}

func (o *policyOptions) policy(cmd *cobra.Command, _ []string) error {
	if err := o.config.Validate(cmd); err != nil {
		return err
	}
	site, err := o.config.One(" with a policy", func(s *selection.Site) bool { return s.Rules.Managed != nil })
	if err != nil {
		return err
	}
	own := judge.Response{Status: http.StatusNotFound}
	if o.robots != "" {
		if own.Body, err = input.Robots(cmd.Context(), o.robots, cmd.InOrStdin()); err != nil {
			return err
		}
		own.Status = http.StatusOK
	}
	if len(o.check) > 0 {
		return o.compare(cmd, site, own)
	}
	if o.robots == "" {
		command.Say(cmd.ErrOrStderr(),
			"note: this is the file of a site without a robots.txt of its own. To merge the policy with one, add --robots")
	}
	merged, err := merge(site, own)
	if err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(merged.Text()); err != nil {
		return err
	}
	return o.printChanges(cmd.ErrOrStderr(), site, own.Body, merged)
}

// merge merges the policy of a site with the site's own file.
func merge(site *selection.Site, own judge.Response) (*judge.Rules, error) {
	p, err := site.Rules.Rules(own)
	if err != nil {
		return nil, err
	}
	if err := p.MergeError(); err != nil {
		return nil, err
	}
	return p, nil
}

// printChanges prints the changes that the policy makes, the crawlers that they
// apply to, and notes.
func (o *policyOptions) printChanges(w io.Writer, site *selection.Site, own []byte, merged *judge.Rules) error {
	registry := cmp.Or(site.Rules.Registry, crawler.Builtin())
	before := robots.Parse(own, robots.WithDialect(site.Rules.Dialect))
	r := diff.Compare(before, merged.File(), judge.Comparable(registry)...)
	if err := report.Changes(w, r.Changes, o.full, output.PaintFor(w)); err != nil {
		return err
	}
	if !r.Complete {
		fmt.Fprintln(w, errIncomplete)
	}
	if m := managed.MergedIn(merged); m != nil {
		for _, n := range m.Notes {
			command.Say(w, "note: %s", output.Visible(n.String()))
		}
		for _, b := range m.Beyond {
			command.Say(w, "note: a preset can't prevent this use: %s", b)
		}
	}
	return nil
}

// compare compares the published files of URLs with the expected ones.
func (o *policyOptions) compare(cmd *cobra.Command, site *selection.Site, own judge.Response) error {
	found := false
	for _, url := range o.check {
		if !input.IsURL(url) {
			return fmt.Errorf("--check %s is not an http or https URL", url)
		}
		answer, err := input.Answer(input.Robots(cmd.Context(), url, nil))
		if err != nil {
			return err
		}
		published, source := answer.Body, own
		if o.robots == "" {
			source = judge.Response{Status: http.StatusOK, Body: published}
		}
		want, err := merge(site, source)
		if err != nil {
			return err
		}
		if bytes.Equal(published, want.Text()) {
			fmt.Fprintf(cmd.OutOrStdout(), "%s publishes the policy\n", input.Shown(url))
			continue
		}
		found = true
		fmt.Fprintf(cmd.OutOrStdout(), "%s publishes a different robots.txt. With the policy, it would have these changes:\n", input.Shown(url))
		if err := o.printChanges(cmd.OutOrStdout(), site, published, want); err != nil {
			return err
		}
	}
	return command.FindingIf(found)
}
