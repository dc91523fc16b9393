package findings

import (
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Crawlers returns the option that gives the linter the crawlers of a registry.
func Crawlers(registry *crawler.Registry) lint.Option {
	return lint.WithCrawlers(crawlers{registry})
}

// crawlers implements the linter's interface for crawlers with a registry.
type crawlers struct{ *crawler.Registry }

// Lookup returns the crawler with a product token.
func (c crawlers) Lookup(token string) (lint.Crawler, bool) {
	row := c.Registry.Lookup(token)
	if row == nil {
		return lint.Crawler{}, false
	}
	return facts(row), true
}

// SearchEngines returns the first crawler of each operator of a large search engine.
// A search engine counts as large if its operator publishes how to verify the
// crawler.
func (c crawlers) SearchEngines() []lint.Crawler {
	var engines []lint.Crawler
	seen := map[string]bool{}
	for row := range c.All() {
		if row.CountsAs(crawler.Search) && !row.ControlOnly && verifiable(row) && !seen[row.Operator] {
			seen[row.Operator] = true
			engines = append(engines, facts(row))
		}
	}
	return engines
}

// WellKnown returns the robots.txt tokens of the crawlers that can be verified.
func (c crawlers) WellKnown() (tokens []string) {
	seen := map[string]bool{}
	for row := range c.All() {
		if !verifiable(row) {
			continue
		}
		for _, token := range row.Robots {
			if !seen[token] {
				seen[token] = true
				tokens = append(tokens, token)
			}
		}
	}
	return tokens
}

// facts converts an entry of the registry for the linter.
func facts(row *crawler.Crawler) lint.Crawler {
	return lint.Crawler{
		Name: row.Name, Tokens: row.Robots, ControlOnly: row.ControlOnly,
		NoDelay: row.CrawlDelay == crawler.No, NoAllow: row.LacksAllow, NoWildcards: row.LacksWildcards,
	}
}

// verifiable reports whether the operator of a crawler publishes hosts or addresses
// with which the crawler can be verified.
func verifiable(row *crawler.Crawler) bool {
	return len(row.Verify.Hosts)+len(row.Verify.Ranges) > 0
}
