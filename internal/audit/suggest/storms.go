package suggest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The conditions for the suggestion of `challenge`.
const (
	leastLone   = 61 // pages of lone addresses
	stormPages  = 3  // at most, of an address: programs that poll are alone too
	stormOthers = 20 // pages of other paths, which show that people's addresses are not alone
	maxStormed  = 10 // patterns
	maxWatched  = 48 // patterns that are tried
)

// paces are the values of `over` that are tried: the default, and slower storms.
var paces = []struct {
	over   string
	pages  int64
	window time.Duration
}{{"60/1m", 60, time.Minute}, {"20/1m", 20, time.Minute}, {"60/10m", 60, 10 * time.Minute}}

// stormed is paths with what challenge would have done there.
type stormed struct {
	pattern string // /blame/*
	audit.Storm
}

// challenge returns the suggestion of `challenge` for the paths that strangers stormed, if
// there are any; else it notes why there is none for what the report says of them.
func (s *suggester) challenge(ctx context.Context) ([]audit.Suggestion, error) {
	switch said := slices.ContainsFunc(s.Report.Strangers.Paths, audit.StrangerPath.IsLonely); {
	case !said || len(s.Hosts) > 0: // Add has said why
		return nil, nil
	case slices.Contains(s.site.Steps, challenge):
		s.note("The site has a challenge already: no other is suggested for the pages of addresses that request nothing else.")
		return nil, nil
	}
	chosen, rest, err := s.stormedPaths(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range chosen {
		rest.Pages, rest.Lone = rest.Pages-one.Pages, rest.Lone-one.Lone
	}
	switch {
	case len(chosen) == 0:
		s.note("No challenge is suggested for the pages of addresses that request nothing else: they are the front page or all pages, " +
			"or the same few addresses request them again and again.")
		return nil, nil
	case 2*rest.Lone > rest.Pages:
		s.note("Most pages of other paths are those of addresses that request nothing else too: no challenge is suggested.")
		return nil, nil
	}
	if rest.Pages < stormOthers && !s.Report.Strangers.Few {
		s.note("Too few to tell for certain: other paths have only %s in this log, so it is hardly known whether people's addresses "+
			"request nothing else too.", words.Plural(rest.Pages, "page", "pages"))
	}
	patterns := words.Map(chosen, func(one stormed) string { return one.pattern })
	var watches []audit.Watch
	for _, pace := range paces {
		watches = append(watches, audit.Watch{Patterns: patterns, Over: pace.pages, Window: pace.window})
	}
	storms, err := audit.Storms(ctx, s.Options, s.index, watches)
	if err != nil {
		return nil, err
	}
	best := 0
	for i := range storms {
		if held := storms[i].Held.Requests; 2*storms[best].Held.Requests < storms[best].Lone && held > storms[best].Held.Requests {
			best = i
		}
	}
	storm := &storms[best]
	c := audit.Suggestion{Kind: challenge, Sure: "medium", Crawlers: []string{}, Asked: storm.Others,
		Addresses: int(min(storm.Addresses, maxAddresses)), Saved: audit.Saved{Sum: storm.Held, Share: storm.Held.Share(s.Report.Costs.All)}}
	if storm.Held.Requests == 0 || best > 0 && c.Share < minShare {
		s.note("No challenge is suggested for %s: addresses that request nothing else had fewer than 60 pages there in each ten minutes, "+
			"or less than %.0f %% of all costs. If only robots request these pages, write the line always below challenge.",
			words.List(patterns, maxStormed), 100*minShare)
		return nil, nil
	}
	c.Text = fmt.Sprintf("challenge %s {\n\tover %s\n}", strings.Join(patterns, " "), paces[best].over)
	c.Why = fmt.Sprintf("asks browsers there to show that they are browsers, while many addresses request nothing else: in %s of this log. "+
		"It would have asked %s once", words.Seconds(storm.Time.Seconds()), words.Plural(c.Asked, "other address", "other addresses"))
	return []audit.Suggestion{c}, nil
}

// stormedPaths returns the paths where most pages were those of lone addresses, whatever their
// pace. rest is what all paths of the site have.
func (s *suggester) stormedPaths(ctx context.Context) (chosen []stormed, rest audit.Storm, err error) {
	patterns := s.mayBeStormed()
	if len(patterns) == 0 {
		return nil, rest, nil
	}
	watches := words.Map(append(patterns, "/"), func(p string) audit.Watch { return audit.Watch{Patterns: []string{p}, Window: time.Minute} })
	storms, err := audit.Storms(ctx, s.Options, s.index, watches)
	if err != nil {
		return nil, rest, err
	}
	var all []stormed
	for i, pattern := range patterns {
		if storm := storms[i]; 2*storm.Lone > storm.Pages && storm.Held.Requests <= stormPages*storm.Addresses {
			all = append(all, stormed{pattern, storm})
		}
	}
	return narrowest(all), storms[len(patterns)], nil
}

// mayBeStormed returns the paths of the report that lone addresses requested, those above
// them, and those of the same name elsewhere, as in /*/*/blame/*, in robots.txt syntax, at
// most maxWatched.
func (s *suggester) mayBeStormed() (list []string) {
	lone := make(map[string]int64)
	for _, p := range s.Report.Strangers.Paths {
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
			lone[path+end] += p.Lone
		}
		folder := ""
		for i, name := range strings.Split(above, "/") {
			if folder += "/" + name; name == "*" || name == "" {
				continue
			}
			lone[folder[1:]+"/*"] += p.Lone
			if elsewhere := strings.Repeat("/*", i-1) + "/" + name + "/*"; i == 2 || i == 3 {
				lone[elsewhere] += p.Lone
			}
		}
	}
	list = slices.DeleteFunc(slices.Collect(maps.Keys(lone)), func(p string) bool {
		return lone[p] < leastLone || !isPlain(strings.TrimRight(p, "$?"))
	})
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(lone[b], lone[a]), strings.Compare(b, a)) })
	return list[:min(len(list), maxWatched)]
}

// narrowest chooses the paths with most held pages, and of those with nearly as many the
// narrowest, so that no two overlap. Of two that have the same pages, the one that says more
// of whose they are is the narrower one; after * it says whose they are not, and the shorter
// one names what is stormed: /*/*/blame/*.
func narrowest(all []stormed) (chosen []stormed) {
	for len(all) > 0 && len(chosen) < maxStormed {
		most := int64(0)
		for _, one := range all {
			most = max(most, one.Held.Requests)
		}
		near := slices.DeleteFunc(slices.Clone(all), func(one stormed) bool { return 10*one.Held.Requests < 9*most })
		best := slices.MinFunc(near, func(a, b stormed) int {
			length := cmp.Compare(len(b.pattern), len(a.pattern))
			if strings.HasPrefix(a.pattern, "/*") && strings.HasPrefix(b.pattern, "/*") {
				length = -length
			}
			return cmp.Or(cmp.Compare(a.Pages, b.Pages), length, strings.Compare(b.pattern, a.pattern))
		})
		chosen = append(chosen, best)
		all = slices.DeleteFunc(all, func(one stormed) bool { return overlap(one.pattern, best.pattern) })
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
		if nameA, nameB = strings.TrimRight(nameA, "$?"), strings.TrimRight(nameB, "$?"); nameA != nameB && nameA != "*" && nameB != "*" {
			return false
		}
		more = more && moreB
	}
	return true
}
