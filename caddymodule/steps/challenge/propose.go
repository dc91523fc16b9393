package challenge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The conditions for a proposal.
const (
	leastLone   = 61 // pages of lone addresses
	pollPages   = 3  // at most, of an address or a target: programs that poll are alone too
	leastElse   = 20 // pages of other paths, which show that people's addresses are not alone
	maxProposed = 10 // patterns
)

// proposedOver are the values of `over` that are proposed: the default, and those for slower storms.
var proposedOver = []string{defaultOver, "20/1m", "60/10m"}

// stormers are clients that stormed paths.
type stormers struct {
	who, while string // in words
	paths      []string
	sum, fleet cost.Sum // of their pages, and those of propose.Site.Fleet
}

// Propose implements propose.Proposer: for the paths that lone addresses or a fleet stormed, and for those
// of both.
func (c *Challenge) Propose(s *propose.Site) (list []propose.Proposal, err error) {
	alone, err := stormedAlone(s)
	if err != nil {
		return nil, err
	}
	fleet, err := stormedByFleet(s)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc([]stormers{alone, fleet}, func(one stormers) bool { return len(one.paths) == 0 })
	if len(s.Hosts) > 0 || len(c.Paths) > 0 {
		for _, one := range all {
			whose := fmt.Sprintf("because %s have most of their pages: %s.", one.who, strings.Join(one.paths, " "))
			if len(s.Hosts) > 0 {
				s.Note("A challenge is for all hosts of a block, so none is suggested. In a block of its own, the host needs one for these paths, %s", whose)
			} else {
				s.Note("The site has a challenge already, so no other is suggested. If its line lacks one of these paths, add it, %s", whose)
			}
		}
		return nil, nil
	}
	if len(all) == 2 {
		both := stormers{while: alone.while + " or " + fleet.while, paths: slices.Clone(alone.paths), sum: alone.sum, fleet: fleet.fleet}
		both.sum.Add(fleet.sum)
		for _, path := range fleet.paths {
			if !slices.Contains(both.paths, path) {
				both.paths = append(both.paths, path)
			}
		}
		all = append(all, both)
	}
	for _, one := range all {
		for i := range proposedOver {
			list = append(list, one.proposal(i))
		}
	}
	return list, nil
}

// proposal returns a proposal with one of proposedOver.
func (s *stormers) proposal(i int) propose.Proposal {
	over := proposedOver[i]
	p := propose.Proposal{
		Step: &Challenge{Paths: s.paths, Over: over}, Text: fmt.Sprintf("challenge %s {\n\tover %s\n}", strings.Join(s.paths, " "), over),
		Why:      "asks browsers there to show that they are browsers, while " + s.while,
		Estimate: s.sum, Fleet: s.fleet, Small: i == 0, Asks: s.paths,
	}
	if s.who != "" && i == len(proposedOver)-1 {
		p.Otherwise = func(asked bool) string {
			why := "had fewer than 60 pages there in each ten minutes"
			if asked {
				why = fmt.Sprintf("would have been asked for less than %.0f %% of all costs", 100*propose.MinShare)
			}
			return fmt.Sprintf("No challenge is suggested for %s: %s %s. If only robots request these pages, write the line always below challenge.",
				words.List(s.paths, maxProposed), s.who, why)
		}
	}
	return p
}

// stormedByFleet returns what a fleet stormed; no paths without one.
func stormedByFleet(s *propose.Site) (found stormers, err error) {
	if s.Fleet == nil {
		return found, nil
	}
	counts, err := s.Count(s.Fleet.Patterns)
	if err != nil {
		return found, err
	}
	found = stormers{who: "clients with one User-Agent", while: "one User-Agent has many of the pages", paths: s.Fleet.Patterns}
	for _, one := range counts[:len(counts)-1] {
		found.sum.Add(one.Fleet)
	}
	found.fleet = found.sum
	return found, nil
}

// stormedAlone returns what lone addresses stormed; no paths if they did not.
func stormedAlone(s *propose.Site) (found stormers, err error) {
	if !slices.ContainsFunc(s.Lone, func(p propose.Pages) bool { return isLonely(p, 100) }) {
		return found, nil
	}
	counts, rest, err := countOf(s, mayBeStormed(s.Lone, s.Targets))
	if err != nil {
		return found, err
	}
	found.who, found.while = "addresses that request nothing else", "many addresses request nothing else"
	for _, one := range counts {
		if !isLonely(one, leastLone) || one.Lone.Requests > pollPages*max(one.Addresses, one.Targets) {
			rest.Pages, rest.Lone.Requests = rest.Pages+one.Pages, rest.Lone.Requests+one.Lone.Requests
			continue
		}
		found.paths = append(found.paths, one.Pattern)
		found.sum.Add(one.Lone)
	}
	switch {
	case len(found.paths) == 0:
		s.Note("No challenge is suggested for the pages of addresses that request nothing else: they are the front page or all pages, " +
			"or the same few addresses request them again and again.")
	case 2*rest.Lone.Requests > rest.Pages:
		s.Note("Most pages of other paths are those of addresses that request nothing else too: no challenge is suggested.")
		found.paths = nil
	case rest.Pages < leastElse && !s.IsFew:
		s.Note("Too few to tell for certain: other paths have only %s in this log, so it is hardly known whether people's addresses "+
			"request nothing else too.", words.Plural(rest.Pages, "page", "pages"))
	}
	return found, nil
}

// isLonely reports whether mostly lone addresses requested pages, and often.
func isLonely(p propose.Pages, least int64) bool {
	return p.Lone.Requests >= least && 2*p.Lone.Requests > p.Pages
}

// storms are patterns of pages that lone addresses requested, with those of the other names in their
// paths: /*/*/blame/* of /*/app/*.
type storms map[string][]string

// mayBeStormed returns the patterns of the pages that lone addresses requested. A name that they
// requested in several folders says what is stormed: /*/*/blame/*. others are targets of all pages.
func mayBeStormed(all []propose.Pages, others []string) storms {
	lone, found := make(map[string]int64), make(storms)
	for _, p := range all {
		for _, pattern := range patternsOf(p.Pattern, others) {
			lone[pattern] += p.Lone.Requests
		}
	}
	for _, p := range all {
		best, part := "", ""
		for _, pattern := range patternsOf(p.Pattern, others) {
			if 9*lone[pattern] > 10*lone[best] { // else the one before is as good, and says more
				best, pattern = pattern, best
			}
			part = cmp.Or(pattern, part)
		}
		if cost.IsWhole(best) || !isLonely(p, 1) {
			continue
		}
		parts := found[best]
		if strings.HasPrefix(best, "/*/") && part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
		found[best] = parts
	}
	return found
}

// countOf counts pages of storms, those that lone addresses requested most first, and the others.
// Where others read pages that have a name, but none of the other names, these say what is
// stormed, and the name says whose it is, or what is in it.
func countOf(s *propose.Site, all storms) (list []propose.Pages, rest propose.Pages, err error) {
	var asked []string
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		asked = append(asked, all[name]...)
	}
	counts, err := s.Count(append(asked, names...))
	if err != nil {
		return nil, rest, err
	}
	wide := counts[len(asked):]
	for i, name := range names {
		parts := counts[:len(all[name])]
		counts = counts[len(parts):]
		sum := wide[i]
		for _, part := range parts {
			sum.Pages += part.Pages
			sum.Lone.Add(part.Lone)
			sum.Addresses, sum.Targets = sum.Addresses+part.Addresses, sum.Targets+part.Targets
		}
		if others := wide[i].Pages - wide[i].Lone.Requests; len(parts) == 0 || 100*others <= sum.Lone.Requests {
			parts = []propose.Pages{sum}
		} else {
			parts = append(slices.Clone(parts), wide[i])
		}
		list = append(list, parts...)
	}
	slices.SortStableFunc(list, func(a, b propose.Pages) int { return cmp.Compare(b.Lone.Requests, a.Lone.Requests) })
	most := min(len(list), maxProposed)
	rest = wide[len(names)]
	for _, one := range list[most:] {
		rest.Pages, rest.Lone.Requests = rest.Pages+one.Pages, rest.Lone.Requests+one.Lone.Requests
	}
	return list[:most], rest, nil
}

// patternsOf returns the pattern of a row of costs, and those of the names in it wherever they are:
// the second and the third, as users and repositories of a forge come first. Where the first name
// varies, these alone. others are targets of all pages.
func patternsOf(row string, others []string) (list []string) {
	list = append(list, cost.PatternOf(row, false, others...))
	names := strings.Split(list[0], "/")
	most := 3
	for i := 2; i <= most && i < len(names)-1; i++ {
		switch names[i] {
		case "*":
		case "-": // stands before names in GitLab
			most++
		default:
			list = append(list, strings.Repeat("/*", i-1)+"/"+names[i]+"/*")
		}
	}
	if names[1] == "*" && len(list) > 1 {
		list = list[1:]
	}
	return list
}
