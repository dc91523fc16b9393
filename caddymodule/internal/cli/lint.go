package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// exitErrors is the exit status of lint where a finding is an error.
const exitErrors = 3

// lintOptions are the flags of `caddy robots lint`.
type lintOptions struct {
	dialect     string
	json, sarif bool
	fix, write  bool
	config      string
	headerRules func(path string) ([]headers.Rule, error)
	rules       []headers.Rule // x_robots_tag, of config
}

func lintCommand(m Module) *cobra.Command {
	o := lintOptions{headerRules: m.HeaderRules}
	cmd := &cobra.Command{
		Use:   "lint [--json | --sarif] [--fix [--write]] <file|url|->...",
		Short: "Tells what is wrong with robots.txt files",
		Long: `
Tells what in a robots.txt does not do what it was written for, what some
crawlers read otherwise than others, and what to write instead: each finding
with its line, why it matters and to whom. - is standard input; of a URL
without a path, /robots.txt is read.

--fix makes the corrections after which every crawler that follows RFC 9309
gets the same verdicts and limits as before, and prints the file. With --write
it is written back instead. The findings are then those that are left; without
--write they go to standard error.

With --config the x_robots_tag lines of a Caddyfile (or JSON configuration)
are held against the files: a noindex header on a path that is disallowed to
all crawlers that would read it is never seen.

--sarif writes SARIF 2.1.0, which code hosts show beside the lines.

The exit status is that of the worst finding: 0 for none or infos, 2 for
warnings, 3 for errors; 1 if a file can't be read.`,
		Example: `  caddy robots lint robots.txt
  caddy robots lint https://example.com
  caddy robots lint --fix --write robots.txt
  caddy robots lint --fix - < old.txt > new.txt
  caddy robots lint --config Caddyfile public/robots.txt
  caddy robots lint --sarif public/robots.txt > robots.sarif`,
		Args: cobra.MinimumNArgs(1),
		RunE: run(func(cmd *cobra.Command, args []string) (int, error) { return o.lint(cmd, args) }),
	}
	f := cmd.Flags()
	addDialectFlag(cmd, &o.dialect)
	f.BoolVar(&o.json, "json", false, "print one JSON object a line")
	f.BoolVar(&o.sarif, "sarif", false, "print a SARIF 2.1.0 log")
	f.StringVarP(&o.config, "config", "c", "", "a Caddyfile whose x_robots_tag lines are held against the files")
	f.BoolVar(&o.fix, "fix", false, "print the file with all safe corrections made")
	f.BoolVar(&o.write, "write", false, "with --fix: write the file back in place of printing it")
	cmd.MarkFlagsMutuallyExclusive("json", "sarif")
	return cmd
}

func (o *lintOptions) lint(cmd *cobra.Command, args []string) (int, error) {
	if err := o.validate(args); err != nil {
		return exitFailed, err
	}
	dialect, err := dialectFlag(o.dialect)
	if err != nil {
		return exitFailed, err
	}
	if o.config != "" {
		if o.rules, err = o.headerRules(o.config); err != nil {
			return exitFailed, err
		}
	}
	out := cmd.OutOrStdout()
	if o.fix && !o.write {
		out = cmd.ErrOrStderr()
	}
	var docs []*report.Document
	status := 0
	for _, name := range args {
		d, err := o.document(cmd, name, dialect)
		if err != nil {
			return exitFailed, err
		}
		if worst, ok := d.Worst(); ok {
			status = max(status, severityStatus[worst])
		}
		docs = append(docs, d)
		switch {
		case o.sarif:
		case o.json:
			err = report.JSON(out, d)
		default:
			err = report.Text(out, d, paintFor(out))
		}
		if err != nil {
			return exitFailed, err
		}
	}
	if o.sarif {
		return status, report.SARIF(out, version(), docs, findings.UnseenNoindex)
	}
	return status, nil
}

// severityStatus are the exit statuses of findings.
var severityStatus = map[robots.Severity]int{
	robots.Info:    0,
	robots.Warning: exitFinding,
	robots.Error:   exitErrors,
}

func (o *lintOptions) validate(args []string) error {
	if o.write && !o.fix {
		return errors.New("--write goes with --fix")
	}
	if o.fix && !o.write && len(args) > 1 {
		return errors.New("--fix prints one file: give one, or --write to write them all back")
	}
	if !o.write {
		return nil
	}
	for _, name := range args {
		if name == "-" || isURL(name) {
			return fmt.Errorf("--write can't write %s back: it is no file", name)
		}
	}
	return nil
}

// document reads a robots.txt, corrects it where that is wanted, and lints it.
func (o *lintOptions) document(cmd *cobra.Command, name string, dialect robots.Dialect) (*report.Document, error) {
	body, err := readInput(cmd.Context(), name, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	parse := func(body []byte) *robots.File {
		return robots.Parse(body, robots.WithDialect(dialect), robots.WithMaxSize(maxInput))
	}
	d := &report.Document{Name: shown(name), File: parse(body)}
	if o.fix {
		fixed, err := robots.Fix(d.File)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		d.File = parse(fixed)
		if o.write {
			err = rewrite(name, body, fixed)
		} else {
			_, err = cmd.OutOrStdout().Write(fixed)
		}
		if err != nil {
			return nil, err
		}
	}
	d.Findings = robots.Lint(d.File, lintOptionsFor(name)...)
	d.Findings = append(d.Findings, findings.Unseen(o.rules, d.File, crawler.Builtin())...)
	return d, nil
}

// lintOptionsFor are what is known of crawlers and of the place of a file.
func lintOptionsFor(name string) []robots.LintOption {
	opts := findings.LintOptions(crawler.Builtin())
	if isURL(name) {
		opts = append(opts, robots.WithLocation(robotsAddress(shown(name))))
	}
	return opts
}

// rewrite puts a corrected file in the place of the old one, at once, so that
// nobody reads half of it.
func rewrite(name string, old, fixed []byte) error {
	if string(old) == string(fixed) {
		return nil
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("--write can't write %s back: it is no regular file", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".robots-*.txt")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it was renamed
	_, err = tmp.Write(fixed)
	err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return os.Rename(tmp.Name(), path)
}

// version is that of this module in the binary, "" where it has none.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && strings.HasPrefix(m.Version, "v") {
			return m.Version
		}
	}
	return ""
}

const modulePath = "github.com/caddy-robots/caddy-robots"
