package audit

import "github.com/caddy-robots/caddy-robots/internal/audit/cost"

// Suggested has the changes that package suggest proposes.
type Suggested struct {
	// Hosts are the hosts of the site, for the site block; empty if they are not known.
	Hosts []string `json:"hosts"`
	// Software is the software that was recognised by its paths, such as MediaWiki.
	Software []string `json:"software"`
	// Together is what the Suggestions would have saved if all of them had been in
	// force, of alternatives (InsteadOf) those that save more.
	Together Saved `json:"together"`
	// Whole is what all requests to the site cost.
	Whole cost.Sum `json:"whole"`
	// Notes say why a kind of suggestion is missing, or why there is none.
	Notes []string `json:"notes"`
}

// Saved is what a change would have saved: the requests that would have been refused
// and were not refused without it.
type Saved struct {
	cost.Sum
	// Share is the part of the whole costs, from 0 to 1: of the time if the log has
	// durations, else of the requests or the octets.
	Share float64 `json:"share"`
	// SearchEngines is the number of these requests that name a search engine, and
	// People that of those with browsers' User-Agents. Both are 0 in Suggestions.
	SearchEngines int64 `json:"search_engines"`
	People        int64 `json:"people"`
}

// Suggestion is a change that would have saved costs.
type Suggestion struct {
	Kind  string `json:"kind"`  // policy, disallow, limit or crawl_delay
	Where string `json:"where"` // robots_txt: add Text at the end of that file; caddyfile: add it to the robots block
	Text  string `json:"text"`  // one or several lines
	Why   string `json:"why"`   // what the change is for, in one sentence
	Saved
	// Crawlers are the crawlers that the change is about; empty for a limit.
	Crawlers []string `json:"crawlers"`
	// InsteadOf are the policies among the suggestions, numbered from 1, that deny these
	// crawlers the whole site: one of the two is enough.
	InsteadOf []int `json:"instead_of,omitempty"`
	// Addresses is the number of different addresses that sent the requests for which
	// the change is proposed, at most 1,000.
	Addresses int `json:"addresses"`
	// Sure is high with at least a week of log, 100 addresses and durations of
	// requests; else medium.
	Sure string `json:"sure"`
}
