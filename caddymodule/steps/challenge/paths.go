package challenge

import (
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

// stormed returns the patterns of the latest pages of lone addresses, of a host or all, and the doubt
// that they say something of a storm, "" for none.
func (c *Check) stormed(s *Storm, host string) (patterns []string, doubt string) {
	latest, not := s.kept(host)
	now := s.evaluated.Load()
	embeds := func(one *sample) bool {
		v := c.memory.memos.Get(one.address)
		if v == nil {
			return false
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		return now-v.embedded < day
	}
	var targets, ofPrograms []string
	for _, one := range append(latest, not...) {
		if one.isSure && c.page != nil || one.isLone && !embeds(&one) { // many people may share an address
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
		if embeds(one) {
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
