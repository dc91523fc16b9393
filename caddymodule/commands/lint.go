package commands

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// lintFlags are the flags of `caddy robots lint`.
type lintFlags struct {
	dialect        string
	json, info     bool
	selected       []string
	ignored        []string
	failOn         string
	least          lint.Severity // of failOn
	config         string
	headerRules    func(path string) ([]headers.Setting, error)
	rules          []headers.Setting // x_robots_tag, of config
	dialectOfFiles robots.Dialect
}

func lintCommand(m cli.Module) *cobra.Command {
	o := lintFlags{headerRules: m.HeaderRules}
	cmd := cli.NewCommand("lint [flags] <file|url|->...", "Finds mistakes in robots.txt files",
		cli.Needs(1, "a robots.txt: a file, a URL or - for standard input"), o.lint)
	f := cmd.Flags()
	cli.AddDialectFlag(cmd, &o.dialect)
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	f.StringSliceVar(&o.selected, "select", nil, "report only these checks, separated by commas")
	f.StringSliceVar(&o.ignored, "ignore", nil, "do not report these checks, separated by commas")
	f.StringVar(&o.failOn, "fail-on", "warning", "lowest severity that changes the exit status: info, warning, error or never")
	f.BoolVar(&o.info, "info", false, "report infos too")
	f.StringVarP(&o.config, "config", "c", "", "Caddyfile whose x_robots_tag lines are checked against the files")
	return cmd
}

// exitErrors is the exit status if a finding is an error.
const exitErrors cli.ExitStatus = 3

func (o *lintFlags) lint(cmd *cobra.Command, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	failed := false
	var status cli.ExitStatus
	for _, name := range args {
		d, err := o.document(cmd, name)
		if err != nil {
			failed = true
			cli.PrintError(cmd, cli.Redacted(cli.InWords(err)))
			continue
		}
		status = max(status, o.status(d))
		if o.json {
			err = report.JSON(out, d)
		} else {
			err = report.Text(out, d, cli.PaintFor(out))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case failed:
		return cli.ErrReported
	case status > 0:
		return status
	}
	return nil
}

// status returns the exit status for the findings in a file.
func (o *lintFlags) status(d *report.Document) cli.ExitStatus {
	worst, ok := d.Worst()
	if !ok || o.failOn == "never" || worst < o.least {
		return 0
	}
	if worst == lint.Error {
		return exitErrors
	}
	return cli.ExitFinding
}

// validate checks the flags and reads the configuration.
func (o *lintFlags) validate() error {
	if err := o.least.UnmarshalText([]byte(o.failOn)); err != nil && o.failOn != "never" {
		return fmt.Errorf("--fail-on: unknown severity %q: want info, warning, error or never", o.failOn)
	}
	for _, code := range slices.Concat(o.selected, o.ignored) {
		if err := knownCheck(code); err != nil {
			return err
		}
	}
	var err error
	if o.dialectOfFiles, err = cli.ParseDialect(o.dialect); err == nil && o.config != "" {
		o.rules, err = o.headerRules(o.config)
	}
	return err
}

// document reads a robots.txt and lints it.
func (o *lintFlags) document(cmd *cobra.Command, name string) (*report.Document, error) {
	answer, err := cli.ReadInput(cmd.Context(), name, cmd.InOrStdin())
	err = cmp.Or(err, cli.Missing(name, answer))
	if err != nil {
		return nil, err
	}
	file := robots.Parse(answer.Body, robots.WithDialect(o.dialectOfFiles), robots.WithMaxSize(cli.MaxInput))
	d := &report.Document{Name: cli.Shown(name), File: file, Findings: lint.Lint(file, o.options(name)...)}
	d.Findings = slices.DeleteFunc(d.Findings, func(f lint.Finding) bool {
		hide := f.Severity == lint.Info && !o.info && o.failOn != "info" && !slices.Contains(o.selected, f.Code)
		if hide {
			d.Hidden++
		}
		return hide
	})
	return d, nil
}

// options returns the linter's options for a file.
func (o *lintFlags) options(name string) []lint.Option {
	opts := []lint.Option{
		findings.Crawlers(crawler.Builtin()), findings.WithUnseenNoindex(o.rules, crawler.Builtin()),
		lint.WithSelect(o.selected...), lint.WithIgnore(o.ignored...),
	}
	if cli.IsURL(name) {
		opts = append(opts, lint.WithLocation(cli.RobotsAddress(cli.Shown(name))))
	}
	return opts
}

func explainCommand(cli.Module) *cobra.Command {
	return cli.NewCommand("explain [code]...", "Explains the checks of the linter", cobra.ArbitraryArgs, explain)
}

// explain prints the pages of checks or, without arguments, a list of all checks.
func explain(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return listChecks(cmd.OutOrStdout())
	}
	for i, code := range args {
		if err := knownCheck(code); err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		r, _ := lint.CheckFor(code)
		if _, err := io.WriteString(cmd.OutOrStdout(), r.Page()); err != nil {
			return err
		}
	}
	return nil
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
	codes := words.Map(lint.Checks(), func(c lint.Check) string { return c.Code })
	near := cli.DidYouMean(editdistance.Nearest(code, slices.Values(codes)))
	return fmt.Errorf("the linter has no check %q%s", code, cmp.Or(near, ": \"caddy robots explain\" lists all"))
}
