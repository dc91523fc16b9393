package suggest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The conditions for the suggestion of `challenge`.
const (
	stormOver   = 60 // pages of lone addresses in a minute: the default of `over`
	stormPages  = 3  // at most, of an address: programs that poll are alone too
	stormOthers = 20 // pages of other paths, which show that people's addresses are not alone
	maxStormed  = 5  // patterns
)

// stormed is paths with what challenge would have done there.
type stormed struct {
	pattern string // /blame/*
	audit.Storm
}

// challenge returns the suggestion of `challenge` for the paths that strangers stormed, if
// there are any. Every path of the site has fewer lone addresses than others while nobody
// storms it.
func (s *suggester) challenge(ctx context.Context) (list []audit.Suggestion, err error) {
	patterns := s.mayBeStormed()
	if set := &s.site.Rules.Challenge; len(patterns) == 0 || len(s.Hosts) > 0 || set.Disallowed || len(set.Paths) > 0 {
		return nil, nil
	}
	storms, err := audit.Storms(ctx, s.Options, s.Report, s.index, stormOver, patterns)
	if err != nil {
		return nil, err
	}
	rest := storms[len(patterns)] // at first the whole site
	var sets [3][]stormed         // by the number of segments * at their begin
	for i, pattern := range patterns {
		if storm := storms[i]; storm.Minutes > 0 && storm.Held.Requests <= stormPages*storm.Addresses {
			n := (len(pattern) - len(strings.TrimLeft(pattern, "/*"))) / 2
			sets[min(n, 2)] = append(sets[min(n, 2)], stormed{pattern, storm})
		}
	}
	var chosen []stormed
	for _, set := range sets {
		if other := narrowest(set); worth(other) > worth(chosen) {
			chosen = other
		}
	}
	c := audit.Suggestion{Kind: challenge, Where: caddyfile, Text: challenge, Sure: "medium", Crawlers: []string{}}
	minutes := 0
	for _, one := range chosen {
		rest.Pages, rest.Lone = rest.Pages-one.Pages, rest.Lone-one.Lone
		c.Text += " " + one.pattern
		c.Sum.Add(one.Held)
		c.Addresses += int(one.Addresses)
		c.Asked += one.Others
		minutes = max(minutes, one.Minutes)
	}
	if minutes == 0 {
		return nil, nil
	}
	if rest.Pages < stormOthers || 2*rest.Lone > rest.Pages {
		s.note("Most pages of other paths are those of addresses that request nothing else too: no challenge is suggested.")
		return nil, nil
	}
	c.Text += fmt.Sprintf(" {\n\tover %d/1m\n}", stormOver)
	c.Share, c.Addresses = c.Sum.Share(s.Report.Costs.All), min(c.Addresses, maxAddresses)
	c.Why = fmt.Sprintf("asks browsers there to show that they are browsers, while many addresses request nothing else: in %s of this log. "+
		"It would have asked %s once", words.Plural(minutes, "minute", "minutes"), words.Plural(c.Asked, "other address", "other addresses"))
	return []audit.Suggestion{c}, nil
}

// mayBeStormed returns the paths of the report that lone addresses requested, those above
// them, and those of the same name elsewhere, as in /*/*/blame/*, in robots.txt syntax, at
// most maxTried.
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
		return lone[p] <= stormOver || !isPlain(strings.TrimRight(p, "$?"))
	})
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(lone[b], lone[a]), strings.Compare(b, a)) })
	return list[:min(len(list), maxTried)]
}

// narrowest chooses the paths with most held pages, and of those with nearly as many the
// narrowest, so that no two overlap.
func narrowest(all []stormed) (chosen []stormed) {
	for len(all) > 0 && len(chosen) < maxStormed {
		most := int64(0)
		for _, one := range all {
			most = max(most, one.Held.Requests)
		}
		near := slices.DeleteFunc(slices.Clone(all), func(one stormed) bool { return 10*one.Held.Requests < 9*most })
		best := slices.MinFunc(near, func(a, b stormed) int {
			return cmp.Or(cmp.Compare(a.Pages, b.Pages), cmp.Compare(len(b.pattern), len(a.pattern)), strings.Compare(b.pattern, a.pattern))
		})
		chosen = append(chosen, best)
		all = slices.DeleteFunc(all, func(one stormed) bool { return overlap(one.pattern, best.pattern) })
	}
	return chosen
}

// worth returns how many more pages of lone addresses than of others the paths have, less
// 5 % for each pattern.
func worth(list []stormed) (n int64) {
	for _, one := range list {
		n += 2*one.Lone - one.Pages
	}
	return n * int64(20-len(list)) / 20
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
