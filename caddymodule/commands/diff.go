package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// diffOptions are the flags of `caddy robots diff`.
type diffOptions struct {
	dialect string
	json    bool
	full    bool
}

func diffCommand(cli.Module) *cobra.Command {
	var o diffOptions
	cmd := cli.NewCommand("diff [--json] [--full] <old> <new>", "Shows what a new robots.txt changes, and for which crawlers",
		cli.Needs(2, "two robots.txt files"),
		o.diff)
	cli.AddDialectFlag(cmd, &o.dialect)
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line, with all crawlers")
	cmd.Flags().BoolVar(&o.full, "full", false, fullUsage)
	return cmd
}

// fullUsage is the usage of the flag --full of diff and policy.
const fullUsage = "list all crawlers of a change, not only the first ones"

// errIncomplete is the message of diff for files with very many rules.
var errIncomplete = errors.New("the comparison is not complete, because too many rules differ or some are hard to " +
	"compare: there may be more changes")

func (o *diffOptions) diff(cmd *cobra.Command, args []string) error {
	if args[0] == "-" && args[1] == "-" {
		return errors.New("only one of the two can be standard input")
	}
	dialect, err := cli.ParseDialect(o.dialect)
	if err != nil {
		return err
	}
	var files [2]*robots.File
	for i, name := range args {
		body, err := cli.ReadRobots(cmd.Context(), name, cmd.InOrStdin())
		if err != nil {
			return err
		}
		files[i] = robots.Parse(body, robots.WithDialect(dialect))
		if files[i].Truncated() {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: only the first %d KiB are compared, because crawlers do not read more\n", name, robots.MaxSize>>10)
		}
	}
	r := diff.Compare(files[0], files[1], judge.Comparable(crawler.Builtin())...)
	out := cmd.OutOrStdout()
	if o.json {
		err = cli.WriteLines(out, r.Changes)
	} else {
		err = report.Changes(out, r.Changes, o.full, cli.PaintFor(out))
	}
	switch {
	case err != nil:
		return err
	case len(r.Changes) > 0:
		if !r.Complete {
			fmt.Fprintln(cmd.ErrOrStderr(), errIncomplete)
		}
		return cli.ExitFinding
	case !r.Complete:
		return errIncomplete
	}
	return nil
}
