package policy

import (
	"embed"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// help has the help of the command.
//
//go:embed help/*.txt
var help embed.FS

// options are the flags of `caddy robots policy`.
type options struct {
	config cli.Selection
	robots string
}

func newCommand(m cli.Module) *cobra.Command {
	var o options
	cmd := cli.NewCommand("policy --config <file> [--site <host>] [--handler <number>] [--robots <file|url|->]",
		"Prints the robots.txt that a site publishes with its policy", cli.NoArgs, o.policy)
	o.config.Add(cmd, m)
	cmd.Flags().StringVarP(&o.robots, "robots", "r", "", "the site's own robots.txt: a file, a URL, or - for standard input")
	cli.Require(cmd, "config")
	return cmd
}

func (o *options) policy(cmd *cobra.Command, _ []string) error {
	if err := o.config.Validate(cmd); err != nil {
		return err
	}
	site, err := o.config.One(" with a policy", func(s *cli.Site) bool { return s.Rules.Edit != nil })
	if err != nil {
		return err
	}
	own := judge.Response{Status: http.StatusNotFound}
	if o.robots == "" {
		cli.Say(cmd.ErrOrStderr(),
			"note: this is the file of a site without a robots.txt of its own. To merge the policy with one, add --robots")
	} else if own.Body, err = cli.ReadRobots(cmd.Context(), o.robots, cmd.InOrStdin()); err != nil {
		return err
	} else {
		own.Status = http.StatusOK
	}
	merged, err := site.Rules.Rules(own)
	if err != nil {
		return err
	}
	if err := merged.MergeError(); err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(merged.Text()); err != nil {
		return err
	}
	m := managed.MergedIn(merged)
	if m == nil {
		return nil
	}
	for _, kept := range m.Kept {
		cli.Say(cmd.ErrOrStderr(), "note: %s: own group in robots.txt kept (line %d of robots.txt)",
			cli.Visible(words.List(kept.Crawlers, 8)), kept.Line)
	}
	return nil
}
