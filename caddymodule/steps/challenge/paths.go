package challenge

import (
	"maps"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// What makes it doubtful that lone addresses storm a site.
const (
	tooEarly  = "it is not known yet whether other visitors fetch style sheets and images there"
	elsewhere = "hardly any visitor of other pages fetches style sheets and images there either, which may be another server's"
	programs  = "most say that they are programs or HTTP libraries, which can't show that they are browsers; `programs on` and `http_clients on` hold them to robots.txt"
)

// The numbers of addresses that say something: of all whose pages are kept; of those with other pages
// than the stormed ones, a share of all; and of those that fetch embedded files, a share of these
// others, for robots want other pages too, and fetch nothing.
const (
	leastAddresses = 16
	otherShare     = 16
	embedShare     = 8
)

// embeds reports whether the address of a page has fetched an embedded file in the last day.
func (c *Check) embeds(s *Storm, one *sample) bool {
	v := c.memory.memos.Get(one.address)
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return s.evaluated.Load()-v.embedded < day
}

// isLone reports whether a page is that of a lone address, as is known by now.
func (c *Check) isLone(s *Storm, one *sample) bool {
	return one.isSure && c.page != nil || one.isLone && !c.embeds(s, one) // many people may share an address
}

// hosts returns the hosts that a storm hits, of those that only a pattern names, with their shares of
// it: each would be stormed without the others.
func (c *Check) hosts(s *Storm) map[string]float64 {
	latest, not := s.kept("")
	shares, all := make(map[string]float64), 0.0
	for _, one := range append(latest, not...) {
		if one.at <= s.last.Load() && c.isLone(s, &one) {
			shares[one.host]++
			all++
		}
	}
	peak := float64(s.peak.Load())
	maps.DeleteFunc(shares, func(host string, n float64) bool { return host == "" || n*peak <= all*float64(c.over) })
	for host := range shares {
		shares[host] /= all
	}
	return shares
}

// stormed returns the patterns of the latest pages of lone addresses, of a host or all, and the doubt
// that they say something of a storm, "" for none.
func (c *Check) stormed(s *Storm, host string) (patterns []string, doubt string) {
	latest, not := s.kept(host)
	var targets, ofPrograms []string
	for _, one := range append(latest, not...) {
		if c.isLone(s, &one) {
			if one.isProgram {
				ofPrograms = append(ofPrograms, one.target)
			} else {
				targets = append(targets, one.target)
			}
		}
	}
	if len(ofPrograms) > len(targets) {
		return cost.Fold(ofPrograms), programs
	}
	patterns = cost.Fold(targets)
	named := slices.DeleteFunc(slices.Clone(patterns), cost.IsWhole) // visitors open the others too
	if len(named) == 0 {
		named = patterns
	}
	paths, _ := judge.PathGroup(named)
	all, others, with := make(map[uint64]bool), make(map[uint64]bool), 0
	for i := range latest {
		one := &latest[i]
		all[one.address] = true
		if others[one.address] || !paths.Match(one.target).Allowed {
			continue
		}
		others[one.address] = true
		if c.embeds(s, one) {
			with++
		}
	}
	switch {
	case len(all) < leastAddresses:
		return patterns, tooEarly
	case otherShare*len(others) >= len(all) && embedShare*with < len(others):
		return patterns, elsewhere
	}
	return patterns, ""
}
