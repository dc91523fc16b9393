package limits

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// spared says which crawlers of a registry a limit does not hold, by
// crawler.Crawler.Index.
type spared struct {
	registry *crawler.Registry
	rows     []bool
}

// sparedIn returns the crawlers of a registry that the limit does not hold. A 429 slows
// the whole host, so search engines and ads are among them.
func (l *limit) sparedIn(registry *crawler.Registry) []bool {
	if known := l.spared.Load(); known != nil && known.registry == registry {
		return known.rows
	}
	all := &spared{registry: registry}
	for row := range registry.All() {
		byName, byPurpose := judge.Lists(registry, l.Except, row)
		isEngine := slices.Contains(row.Purposes, crawler.Search) || slices.Contains(row.Purposes, crawler.Ads)
		all.rows = append(all.rows, byName || byPurpose || isEngine)
	}
	l.spared.Store(all)
	return all.rows
}

// holds reports whether the line holds a subject. An impostor is none of the crawlers of
// the registry.
func (l *line) holds(s *judge.Subject, registry *crawler.Registry) bool {
	row := s.Agent.Crawler
	if row != nil && s.Claim.State != claim.Impostor && l.sparedIn(registry)[row.Index()] {
		return false
	}
	return !l.invented || isInvented(&s.Agent)
}

// isInvented reports whether anybody can invent the name of an agent: neither the registry
// nor a group has it.
func isInvented(a *crawler.Agent) bool { return a.Crawler == nil && a.Class != crawler.Named }
