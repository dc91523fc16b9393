package findings

import (
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Crawlers tells the linter what a registry knows of crawlers.
func Crawlers(registry *crawler.Registry) lint.Option {
	return lint.WithCrawlers(crawlers{registry})
}

// crawlers is a registry as the linter asks it.
type crawlers struct{ *crawler.Registry }

func (c crawlers) Lookup(token string) (lint.Crawler, bool) {
	row := c.Registry.Lookup(token)
	if row == nil {
		return lint.Crawler{}, false
	}
	return facts(row), true
}

// SearchEngines returns the first crawler of each search engine of some size,
// which is one that publishes how its crawler is told from impostors.
func (c crawlers) SearchEngines() []lint.Crawler {
	var engines []lint.Crawler
	seen := map[string]bool{}
	for row := range c.All() {
		if row.Purpose == crawler.Search && !row.ControlOnly && verifiable(row) && !seen[row.Operator] {
			seen[row.Operator] = true
			engines = append(engines, facts(row))
		}
	}
	return engines
}

func facts(row *crawler.Crawler) lint.Crawler {
	return lint.Crawler{
		Name: row.Name, Tokens: row.Robots, ControlOnly: row.ControlOnly,
		NoDelay: row.CrawlDelay == crawler.No, NoAllow: row.LacksAllow, NoWildcards: row.LacksWildcards,
	}
}

func verifiable(row *crawler.Crawler) bool {
	return len(row.Verify.Hosts)+len(row.Verify.Ranges) > 0
}
