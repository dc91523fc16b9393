package cli

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/headers"
)

func headersImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "headers-import <file|->",
		Short: "Turns X-Robots-Tag headers of Apache and nginx into x_robots_tag lines",
		Long: `
Reads an Apache or nginx configuration, finds the places that set the header
X-Robots-Tag (Header set, append, add in <Files> and <FilesMatch>; add_header
in location), and prints the x_robots_tag lines that do the same. What can't be
turned is told on standard error, with its line.

The exit status is 0 if everything was turned, 2 if something was not, and 1 if
the file can't be read.`,
		Example: `  caddy robots headers-import .htaccess
  caddy robots headers-import /etc/nginx/sites-enabled/example.conf`,
		Args: cobra.ExactArgs(1),
		RunE: run(importHeaders),
	}
}

func importHeaders(cmd *cobra.Command, args []string) (int, error) {
	config, err := readInput(cmd.Context(), args[0], cmd.InOrStdin())
	if err != nil {
		return exitFailed, err
	}
	rules, problems := headers.Import(config)
	out := bufio.NewWriter(cmd.OutOrStdout())
	for _, r := range rules {
		fmt.Fprintf(out, "x_robots_tag %s\n", r.Rule)
	}
	if err := out.Flush(); err != nil {
		return exitFailed, err
	}
	for _, p := range problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", shown(args[0]), p)
	}
	if len(problems) > 0 {
		return exitFinding, nil
	}
	return 0, nil
}
