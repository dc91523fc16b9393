package cli

import "github.com/spf13/cobra"

// NewCommand returns a command that runs f.
func NewCommand(use, short string, args cobra.PositionalArgs, f func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: withFlags(args), RunE: Run(f)}
}

// DefaultConfig is the default configuration file, the same as that of Caddy's
// own commands.
const DefaultConfig = "Caddyfile"
