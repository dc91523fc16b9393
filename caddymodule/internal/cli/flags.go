package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/robots"
)

// addDialectFlag adds --dialect, with its values as completions.
func addDialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "how the file is read: rfc9309 (default), 1994 or 1996")
	complete(cmd, "dialect", cobra.FixedCompletions([]cobra.Completion{
		cobra.CompletionWithDesc("rfc9309", "the longest rule wins; * and $"),
		cobra.CompletionWithDesc("1994", "the first rule wins; no wildcards"),
		cobra.CompletionWithDesc("1996", "as 1994, with lists separated by blanks"),
	}, cobra.ShellCompDirectiveNoFileComp))
}

// complete registers shell completion for the value of a flag.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // there is no such flag
	}
}

// dialectFlag is robots.ParseDialect with a default.
func dialectFlag(s string) (robots.Dialect, error) {
	if s == "" {
		return robots.RFC9309, nil
	}
	return robots.ParseDialect(s)
}

// paintFor returns a Paint that uses colours if w is a terminal with colours, unless
// NO_COLOR is set (https://no-color.org).
func paintFor(w io.Writer) report.Paint {
	return report.Paint(isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}
