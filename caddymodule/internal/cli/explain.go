package cli

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

func explainCommand() *cobra.Command {
	return newCommand("explain [code]...", "Explains the checks of the linter", cobra.ArbitraryArgs, explain)
}

// explain prints the pages of checks or, without arguments, a list of all checks.
func explain(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 {
		return 0, listChecks(cmd.OutOrStdout())
	}
	for i, code := range args {
		if err := knownCheck(code); err != nil {
			return exitFailed, err
		}
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		r, _ := lint.CheckFor(code)
		if _, err := io.WriteString(cmd.OutOrStdout(), r.Page()); err != nil {
			return exitFailed, err
		}
	}
	return 0, nil
}

// listChecks prints a line for each check.
func listChecks(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range lint.Checks() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.Code, r.Severity, r.Title)
	}
	return table.Flush()
}

// knownCheck returns an error for an unknown code. The error suggests a similar
// code.
func knownCheck(code string) error {
	if _, ok := lint.CheckFor(code); ok {
		return nil
	}
	var codes []string
	for _, r := range lint.Checks() {
		codes = append(codes, r.Code)
	}
	if near := editdistance.Nearest(code, slices.Values(codes)); near != "" {
		return fmt.Errorf("the linter has no check %q; did you mean %s?", code, near)
	}
	return fmt.Errorf("the linter has no check %q: \"caddy robots explain\" lists all", code)
}
