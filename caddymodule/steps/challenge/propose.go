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
	leastLone     = 61 // pages of lone addresses
	pollPages     = 3  // at most, of an address: programs that poll are alone too
	leastElse     = 20 // pages of other paths, which show that people's addresses are not alone
	maxProposed   = 10 // patterns
	maxCandidates = 48 // patterns that are counted
)

// proposedOver are the values of `over` that are proposed: the default, and those for slower storms.
var proposedOver = []string{defaultOver, "20/1m", "60/10m"}

// Propose implements propose.Proposer: for the paths that lone addresses stormed.
func (c *Challenge) Propose(s *propose.Site) ([]propose.Proposal, error) {
	switch {
	case !slices.ContainsFunc(s.Lone, func(p propose.Pages) bool { return isLonely(p, 100) }) || len(s.Hosts) > 0:
		return nil, nil
	case len(c.Paths) > 0:
		s.Note("The site has a challenge already: no other is suggested for the pages of addresses that request nothing else.")
		return nil, nil
	}
	counts, err := s.Count(mayBeStormed(s.Lone))
	if err != nil {
		return nil, err
	}
	rest, sum := counts[len(counts)-1], cost.Sum{}
	chosen := narrowest(slices.DeleteFunc(counts[:len(counts)-1], func(p propose.Pages) bool {
		return !isLonely(p, leastLone) || p.Lone.Requests > pollPages*p.Addresses
	}))
	for _, one := range chosen {
		rest.Pages, rest.Lone.Requests = rest.Pages-one.Pages, rest.Lone.Requests-one.Lone.Requests
		sum.Add(one.Lone)
	}
	switch {
	case len(chosen) == 0:
		s.Note("No challenge is suggested for the pages of addresses that request nothing else: they are the front page or all pages, " +
			"or the same few addresses request them again and again.")
		return nil, nil
	case 2*rest.Lone.Requests > rest.Pages:
		s.Note("Most pages of other paths are those of addresses that request nothing else too: no challenge is suggested.")
		return nil, nil
	}
	if rest.Pages < leastElse && !s.IsFew {
		s.Note("Too few to tell for certain: other paths have only %s in this log, so it is hardly known whether people's addresses "+
			"request nothing else too.", words.Plural(rest.Pages, "page", "pages"))
	}
	var list []propose.Proposal
	patterns := words.Map(chosen, func(one propose.Pages) string { return one.Pattern })
	for i, over := range proposedOver {
		list = append(list, propose.Proposal{
			Step: &Challenge{Paths: patterns, Over: over}, Text: fmt.Sprintf("challenge %s {\n\tover %s\n}", strings.Join(patterns, " "), over),
			Why:      "asks browsers there to show that they are browsers, while many addresses request nothing else",
			Estimate: sum, Small: i == 0,
			Otherwise: fmt.Sprintf("No challenge is suggested for %s: addresses that request nothing else had fewer than 60 pages there in each "+
				"ten minutes, or less than %.0f %% of all costs. If only robots request these pages, write the line always below challenge.",
				words.List(patterns, maxProposed), 100*propose.MinShare),
		})
	}
	return list, nil
}

// isLonely reports whether mostly lone addresses requested pages, and often.
func isLonely(p propose.Pages, least int64) bool {
	return p.Lone.Requests >= least && 2*p.Lone.Requests > p.Pages
}

// mayBeStormed returns the paths that lone addresses requested, those above them, and those of the
// same name elsewhere, as in /*/*/blame/*, in robots.txt syntax, at most maxCandidates.
func mayBeStormed(all []propose.Pages) (list []string) {
	lone := make(map[string]int64)
	for _, p := range all {
		path, _, hasQuery := strings.Cut(p.Pattern, "?")
		above, isFolder := strings.CutSuffix(path, "/*")
		if !isFolder {
			above = path[:strings.LastIndexByte(path, '/')]
			if path == "/" && !hasQuery {
				continue // the front page
			}
			end := "$"
			if hasQuery {
				end = "?"
			}
			lone[path+end] += p.Lone.Requests
		}
		folder := ""
		for i, name := range strings.Split(above, "/") {
			if folder += "/" + name; name == "*" || name == "" {
				continue
			}
			lone[folder[1:]+"/*"] += p.Lone.Requests
			if elsewhere := strings.Repeat("/*", i-1) + "/" + name + "/*"; i == 2 || i == 3 {
				lone[elsewhere] += p.Lone.Requests
			}
		}
	}
	list = slices.DeleteFunc(slices.Collect(maps.Keys(lone)), func(p string) bool {
		return lone[p] < leastLone || !propose.IsPlain(strings.TrimRight(p, "$?"))
	})
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(lone[b], lone[a]), strings.Compare(b, a)) })
	return list[:min(len(list), maxCandidates)]
}

// narrowest chooses the paths with most pages of lone addresses, and of those with nearly as many the
// narrowest, so that no two overlap. Of two that have the same pages, the one that says more
// of whose they are is the narrower one; after * it says whose they are not, and the shorter
// one names what is stormed: /*/*/blame/*.
func narrowest(all []propose.Pages) (chosen []propose.Pages) {
	for len(all) > 0 && len(chosen) < maxProposed {
		most := int64(0)
		for _, one := range all {
			most = max(most, one.Lone.Requests)
		}
		near := slices.DeleteFunc(slices.Clone(all), func(one propose.Pages) bool { return 10*one.Lone.Requests < 9*most })
		best := slices.MinFunc(near, func(a, b propose.Pages) int {
			length := cmp.Compare(len(b.Pattern), len(a.Pattern))
			if strings.HasPrefix(a.Pattern, "/*") && strings.HasPrefix(b.Pattern, "/*") {
				length = -length
			}
			return cmp.Or(cmp.Compare(a.Pages, b.Pages), length, strings.Compare(b.Pattern, a.Pattern))
		})
		chosen = append(chosen, best)
		all = slices.DeleteFunc(all, func(one propose.Pages) bool { return overlap(one.Pattern, best.Pattern) })
	}
	return chosen
}

// overlap reports whether two patterns may match the same path.
func overlap(a, b string) bool {
	for more := true; more; {
		var nameA, nameB string
		var moreB bool
		nameA, a, more = strings.Cut(a, "/")
		nameB, b, moreB = strings.Cut(b, "/")
		nameA, nameB = strings.TrimRight(nameA, "$?"), strings.TrimRight(nameB, "$?")
		if nameA != nameB && nameA != "*" && nameB != "*" {
			return false
		}
		more = more && moreB
	}
	return true
}
