package cli

import (
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// neverMet reads the logs, and returns the check of the lines of a file that robots just
// missed. All hosts of the logs count.
func (o *lintFlags) neverMet(cmd *cobra.Command, d *report.Document) (lint.Option, error) {
	files, size, err := openLogs(o.logs, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(files, func(f logfile.File) bool { return f.Once }) {
		return nil, errOnce
	}
	r, err := audit.Run(cmd.Context(), audit.Options{
		Files: files, Progress: progressOn(cmd.ErrOrStderr(), size),
		Sites: []audit.Site{{
			Rules:  judge.Settings{Dialect: o.dialectOfFiles},
			Robots: []audit.Version{{Name: d.Name, Response: judge.Response{Status: http.StatusOK, Body: d.File.Bytes()}}},
		}},
	})
	clearProgress(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return lint.WithCheck(func(_ *robots.File, report func(code string, line int, message string)) {
		for i := range r.RobotsLines {
			if l := &r.RobotsLines[i]; len(l.Near) > 0 {
				report("never-met", l.TextLine, "the rule never matched, but "+l.Why)
			}
		}
	}), nil
}
