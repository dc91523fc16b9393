package commands

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/atomicfile"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/command"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/input"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/selection"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/release"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// lintFlags are the flags of `caddy robots lint`.
type lintFlags struct {
	dialect        string
	format         string
	json, sarif    bool
	selected       []string
	ignored        []string
	failOn         string
	info           bool
	fix, unsafe    bool
	write, diff    bool
	config         string
	headerRules    func(path string) ([]headers.Setting, error)
	rules          []headers.Setting // x_robots_tag, of config
	dialectOfFiles robots.Dialect
}

// lintFormats are the values of --format.
var lintFormats = []string{"text", "json", "sarif"}

func lintCommand(m selection.Module) *cobra.Command {
	o := lintFlags{headerRules: m.HeaderRules}
	cmd := command.New("lint [flags] <file|url|->...", "Finds mistakes in robots.txt files",
		command.Needs(1, "a robots.txt: a file, a URL or - for standard input"), o.lint)
	f := cmd.Flags()
	command.AddDialectFlag(cmd, &o.dialect)
	f.StringVar(&o.format, "format", "text", "output format: text, json (one object per line) or sarif (2.1.0)")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.BoolVar(&o.sarif, "sarif", false, "the same as --format sarif")
	f.StringSliceVar(&o.selected, "select", nil, "report only these checks, separated by commas")
	f.StringSliceVar(&o.ignored, "ignore", nil, "do not report these checks, separated by commas")
	f.StringVar(&o.failOn, "fail-on", "warning", "lowest severity that changes the exit status: info, warning, error or never")
	f.BoolVar(&o.info, "info", false, "report infos too")
	f.StringVarP(&o.config, "config", "c", "", "Caddyfile whose x_robots_tag lines are checked against the files")
	f.BoolVar(&o.fix, "fix", false, "print the file with all safe corrections")
	f.BoolVar(&o.unsafe, "unsafe-fixes", false, "like --fix, with the unsafe corrections too")
	f.BoolVar(&o.write, "write", false, "with --fix: write the file back")
	f.BoolVar(&o.diff, "diff", false, "with --fix: print what would change, as a unified diff")
	cmd.MarkFlagsMutuallyExclusive("json", "sarif", "format")
	cmd.MarkFlagsMutuallyExclusive("write", "diff")
	return cmd
}

// exitErrors is the exit status if a finding is an error.
const exitErrors command.ExitStatus = 3

func (o *lintFlags) lint(cmd *cobra.Command, args []string) error {
	if err := o.validate(args); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if o.fix && !o.write {
		out = cmd.ErrOrStderr()
	}
	var docs []*report.Document
	var failures []error
	var status command.ExitStatus
	for _, name := range args {
		d, err := o.document(cmd, name)
		if err != nil {
			err = input.Redacted(command.InWords(err), name)
			failures = append(failures, err)
			command.PrintError(cmd, err)
			continue
		}
		status = max(status, o.status(d))
		docs = append(docs, d)
	}
	err := o.print(out, docs, failures)
	switch {
	case err != nil:
		return err
	case len(failures) > 0:
		return command.ErrReported
	case status > 0:
		return status
	}
	return nil
}

// print writes the findings in all files.
func (o *lintFlags) print(out io.Writer, docs []*report.Document, failures []error) (err error) {
	if o.format == "sarif" {
		return report.SARIF(out, release.Version(), docs, failures)
	}
	for _, d := range docs {
		if o.format == "json" {
			err = errors.Join(err, report.JSON(out, d))
		} else {
			err = errors.Join(err, report.Text(out, d, output.PaintFor(out)))
		}
	}
	return err
}

// status returns the exit status for the findings in a file.
func (o *lintFlags) status(d *report.Document) command.ExitStatus {
	worst, ok := d.Worst()
	var least lint.Severity
	if !ok || least.UnmarshalText([]byte(o.failOn)) != nil || worst < least {
		return 0
	}
	if worst == lint.Error {
		return exitErrors
	}
	return command.ExitFinding
}

// validate checks the flags and reads the configuration.
func (o *lintFlags) validate(args []string) error {
	switch {
	case o.json:
		o.format = "json"
	case o.sarif:
		o.format = "sarif"
	case !slices.Contains(lintFormats, o.format):
		return fmt.Errorf("unknown format %q: want %s", o.format, strings.Join(lintFormats, ", "))
	}
	var least lint.Severity
	if err := least.UnmarshalText([]byte(o.failOn)); err != nil && o.failOn != "never" {
		return fmt.Errorf("--fail-on: unknown severity %q: want info, warning, error or never", o.failOn)
	}
	for _, code := range slices.Concat(o.selected, o.ignored) {
		if err := knownCheck(code); err != nil {
			return err
		}
	}
	o.fix = o.fix || o.unsafe
	if err := o.validateFix(args); err != nil {
		return err
	}
	var err error
	if o.dialectOfFiles, err = command.ParseDialect(o.dialect); err == nil && o.config != "" {
		o.rules, err = o.headerRules(o.config)
	}
	return err
}

// validateFix checks the flags for corrections.
func (o *lintFlags) validateFix(args []string) error {
	switch {
	case o.write && !o.fix:
		return errors.New("--write needs --fix or --unsafe-fixes")
	case o.diff && !o.fix:
		return errors.New("--diff needs --fix or --unsafe-fixes")
	case o.fix && !o.write && !o.diff && len(args) > 1:
		return errors.New("--fix prints one file, but there are several: add --write to write them back, or --diff to print the changes")
	case !o.write:
		return nil
	}
	for _, name := range args {
		if name == "-" || input.IsURL(name) {
			return fmt.Errorf("--write can't write %s back: it is not a file", input.Shown(name))
		}
	}
	return nil
}

// document reads a robots.txt, corrects it if the flags say so, and lints it.
func (o *lintFlags) document(cmd *cobra.Command, name string) (*report.Document, error) {
	body, err := input.Read(cmd.Context(), name, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	d := &report.Document{Name: input.Shown(name), File: o.parse(body)}
	opts := o.options(name)
	if o.fix {
		grade := lint.Safe
		if o.unsafe {
			grade = lint.Unsafe
		}
		fixed, err := lint.Fix(d.File, grade, opts...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", input.Shown(name), err)
		}
		d.File = o.parse(fixed)
		switch {
		case o.write:
			err = rewrite(name, body, fixed)
		case o.diff:
			d.Unchanged = bytes.Equal(body, fixed)
			err = report.Unified(cmd.OutOrStdout(), input.Shown(name), string(body), string(fixed))
		default:
			_, err = cmd.OutOrStdout().Write(fixed)
		}
		if err != nil {
			return nil, err
		}
	}
	d.Findings = lint.Lint(d.File, opts...)
	d.Findings = slices.DeleteFunc(d.Findings, func(f lint.Finding) bool {
		hide := f.Severity == lint.Info && !o.info && o.failOn != "info" && !slices.Contains(o.selected, f.Code)
		if hide {
			d.Hidden = append(d.Hidden, f)
		}
		return hide
	})
	return d, nil
}

func (o *lintFlags) parse(body []byte) *robots.File {
	return robots.Parse(body, robots.WithDialect(o.dialectOfFiles), robots.WithMaxSize(input.MaxSize))
}

// options returns the linter's options for a file.
func (o *lintFlags) options(name string) []lint.Option {
	opts := []lint.Option{
		findings.Crawlers(crawler.Builtin()), findings.WithUnseenNoindex(o.rules, crawler.Builtin()),
		lint.WithSelect(o.selected...), lint.WithIgnore(o.ignored...),
	}
	if input.IsURL(name) {
		opts = append(opts, lint.WithLocation(input.RobotsAddress(input.Shown(name))))
	}
	return opts
}

// rewrite replaces a file atomically with its corrected content. It does not
// write a file that needs no correction.
func rewrite(name string, old, fixed []byte) error {
	if string(old) == string(fixed) {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("--write can't write %s back: it is not a regular file", name)
	}
	return atomicfile.Write(name, info.Mode(), func(w io.Writer) error {
		_, err := w.Write(fixed)
		return err
	})
}

func explainCommand(selection.Module) *cobra.Command {
	return command.New("explain [code]...", "Explains the checks of the linter", cobra.ArbitraryArgs, explain)
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
	near := command.DidYouMean(editdistance.Nearest(code, slices.Values(codes)))
	return fmt.Errorf("the linter has no check %q%s", code, cmp.Or(near, ": \"caddy robots explain\" lists all"))
}
