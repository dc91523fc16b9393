package findings

import (
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// LintOptions tells the linter what the registry knows: the tokens
// that no request carries, and the first crawler of each search engine of some
// size, which is one that publishes how its crawler is told from impostors.
func LintOptions(registry *crawler.Registry) []robots.LintOption {
	var control []string
	var engines [][]string
	seen := map[string]bool{}
	for row := range registry.All() {
		switch {
		case row.ControlOnly:
			control = append(control, row.Robots...)
		case row.Purpose == crawler.Search && verifiable(row) && !seen[row.Operator]:
			seen[row.Operator] = true
			engines = append(engines, row.Robots)
		}
	}
	return []robots.LintOption{robots.WithControlTokens(control...), robots.WithSearchEngines(engines...)}
}

func verifiable(row *crawler.Crawler) bool {
	return len(row.Verify.Hosts)+len(row.Verify.Ranges) > 0
}
