package limits

import (
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// pool says which crawlers share a budget of a limit. The numbers are in keys.
type pool uint8

const (
	crawlers pool = iota
	claims        // search engines and ads that are included, and not verified
	verified      // search engines and ads that are included, and verified
	invented      // crawlers with a name that anybody can invent
	free          // those that the line does not hold
)

// pools are the pools of the crawlers of a registry that are not verified, by
// crawler.Crawler.Index.
type pools struct {
	registry *crawler.Registry
	of       []pool
}

// poolsIn returns the pools of the crawlers of a registry.
func (l *limit) poolsIn(registry *crawler.Registry) *pools {
	if known := l.pools.Load(); known != nil && known.registry == registry {
		return known
	}
	all := &pools{registry: registry}
	for row := range registry.All() {
		exceptName, exceptPurpose := judge.Lists(registry, l.Except, row)
		includeName, includePurpose := judge.Lists(registry, l.Include, row)
		of := crawlers
		switch {
		case exceptName, !includeName && exceptPurpose, isSpared(row.Purposes) && !includeName && !includePurpose:
			of = free
		case isSpared(row.Purposes):
			of = claims
		}
		all.of = append(all.of, of)
	}
	l.pools.Store(all)
	return all
}

// poolOf returns the pool of a subject. An impostor is none of the crawlers of the registry.
func (l *line) poolOf(s *judge.Subject, registry *crawler.Registry) (of pool) {
	if row := s.Agent.Crawler; row != nil && s.Claim.State != claim.Impostor {
		of = l.poolsIn(registry).of[row.Index()]
	}
	switch {
	case l.invented && of == crawlers && isInvented(&s.Agent):
		return invented
	case l.invented:
		return free
	case of == claims && s.Claim.State == claim.Verified:
		return verified
	}
	return of
}

// isInvented reports whether anybody can invent the name of an agent: neither the registry
// nor a group has it.
func isInvented(a *crawler.Agent) bool { return a.Crawler == nil && a.Class != crawler.Named }
