package verify

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// options are the flags of `caddy robots verify`.
type options struct {
	agent, resolver string
	json            bool
	rules           judge.Settings // only its Registry
	config          cli.Selection
}

// help has the help of the command.
//
//go:embed help/*.txt
var help embed.FS

func newCommand(m cli.Module) *cobra.Command {
	var o options
	cmd := cli.NewCommand("verify --agent <user-agent> [--config <file>] [--resolver <address>] [--json] <address>...",
		"Checks whether addresses belong to the crawler that a User-Agent names", cli.Needs(1, "an address"), o.verify)
	cli.AddAgentFlag(cmd, &o.agent, "User-Agent, product token or name of the crawler (required)")
	f := cmd.Flags()
	f.StringVar(&o.resolver, "resolver", "", "address of a DNS server to use instead of the system's")
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	cli.AddRegistryFlag(cmd, m.ReadRegistry, &o.rules.Registry, "file of crawlers to add to the built-in registry, like registry")
	o.config.Add(cmd, m)
	return cmd
}

func (o *options) verify(cmd *cobra.Command, args []string) error {
	if err := o.config.Replace(cmd, &o.rules); err != nil {
		return err
	}
	o.rules.Registry = cmp.Or(o.rules.Registry, crawler.Builtin())
	rows, err := o.crawlers()
	if err != nil {
		return err
	}
	addrs := make([]netip.Addr, len(args))
	for i, arg := range args {
		if addrs[i], err = netip.ParseAddr(arg); err != nil {
			return fmt.Errorf("%q is not an IP address", arg)
		}
	}
	resolver, err := verify.NewServerResolver(o.resolver)
	if err != nil {
		return fmt.Errorf("--resolver: %w", err)
	}
	verifier := verify.New(verify.Config{Lists: true, DNS: true, Signatures: true, Resolver: resolver})
	defer verifier.Close()
	checker, err := verifier.Bind(o.rules.Registry)
	if err != nil {
		return err
	}
	found := false
	for _, addr := range addrs {
		for _, row := range rows {
			e := checker.Explain(cmd.Context(), row, addr)
			found = found || e.State != claim.Verified.String()
			if err := o.print(cmd.OutOrStdout(), e); err != nil {
				return err
			}
		}
	}
	return cli.FindingIf(found)
}

// crawlers returns the crawlers of the registry that --agent names.
func (o *options) crawlers() ([]*crawler.Crawler, error) {
	var id crawler.Identity
	crawler.NewCache(1).Identify(o.rules.Registry.Matcher(nil), o.agent, &id)
	var rows []*crawler.Crawler
	for i := range id.Len() {
		if row := id.At(i).Crawler; row != nil {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		if row := o.rules.Registry.Lookup(o.agent); row != nil {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%q names no crawler of the registry, so its addresses are unknown", o.agent)
	}
	return rows, nil
}

//go:embed verify.txt
var template string

func (o *options) print(w io.Writer, e verify.Explanation) error {
	if o.json {
		return cli.NewEncoder(w).Encode(e)
	}
	return cli.Layout{Paint: cli.PaintFor(w)}.Execute(w, template, nil, e)
}
