package report

import (
	_ "embed"
	"io"
	"math"
	"slices"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

//go:embed changes.txt
var changesTemplate string

// Changes writes the changes between two files as text: for each change the
// affected crawlers, the lines that make it, and example paths. Unless full is
// set, it names at most 12 crawlers of a change.
func Changes(w io.Writer, changes []diff.Change, full bool, paint cli.Paint) error {
	limit := maxCrawlers
	if full {
		limit = math.MaxInt
	}
	return cli.Layout{Paint: paint}.Execute(w, changesTemplate, template.FuncMap{
		"excerpt": excerpt,
		"limit":   func() int { return limit },
		"beyond":  func(list []string) int { return max(0, len(list)-limit) },
		// Lines outside of groups apply to all crawlers.
		"isOutside": func(what string) bool {
			return slices.Contains([]string{"sitemap", "host", "license", "clean-param"}, what)
		},
	}, changes)
}

// maxCrawlers is the maximum number of crawlers that are listed for a change.
const maxCrawlers = 12
