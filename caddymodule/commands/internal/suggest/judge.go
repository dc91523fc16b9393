package suggest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// trial says what several candidates would have done.
type trial struct {
	list  []*candidate
	fleet uint64   // see suggester
	whole cost.Sum // what all requests to the site cost
	// together has the requests by the candidates that would have refused them, a bit for
	// each.
	together map[uint64]cost.Sum
}

// judge replays the log with each candidate, and returns those that are worth it, the
// best first, and last those that ask clients. It sets what these would have saved.
func (s *suggester) judge(ctx context.Context, list []*candidate) (chosen []*candidate, err error) {
	t := &trial{list: list, fleet: s.fleet, together: make(map[uint64]cost.Sum)}
	sites := []audit.Site{s.site}
	for _, c := range list {
		site, err := s.with(&c.proposal)
		if err != nil {
			return nil, err
		}
		sites = append(sites, site)
	}
	if err := audit.Replay(ctx, s.Options, s.index, sites, t.count, t.countPage); err != nil {
		return nil, err
	}
	for _, c := range list {
		c.Share = c.Sum.Share(t.whole)
	}
	s.about.Whole, s.Report.Suggested.Whole = t.whole, t.whole
	taken := t.choose()
	for i, c := range list {
		if taken>>i&1 == 1 {
			chosen = append(chosen, c)
		}
	}
	slices.SortStableFunc(chosen, func(a, b *candidate) int { return cmp.Compare(b.Share, a.Share) })
	chosen = chosen[:min(len(chosen), maxSuggestions)]
	together, shown := &s.Report.Suggested.Together, uint64(0)
	for _, c := range chosen {
		i := slices.Index(list, c)
		if t.more(i, shown).Share(t.whole) < propose.MinShare {
			c.Why += ". With the lines above it, it would have saved hardly anything more"
		}
		shown |= 1 << i
	}
	for refused, sum := range t.together {
		if refused&shown != 0 {
			together.Add(sum)
		}
	}
	together.Share = together.Sum.Share(t.whole)
	var asked []string
	if asks := s.chooseAsking(list); asks != nil {
		chosen, asked = append(chosen, asks), asks.proposal.Asks
	}
	for _, c := range list {
		if c.proposal.Otherwise != nil && slices.ContainsFunc(c.proposal.Asks, func(path string) bool { return !slices.Contains(asked, path) }) {
			s.about.Note("%s", c.proposal.Otherwise(c.minutes > 0))
		}
	}
	for _, c := range chosen {
		c.complete()
	}
	return chosen, nil
}

// count counts a request by the decisions on it, first that without a change.
func (t *trial) count(r *audit.Judged) {
	t.whole.Add(r.Sum)
	d := &r.Rulings[0]
	if d.Action != judge.Pass {
		return
	}
	isPerson := d.Agent.Class == crawler.Person
	frees := r.Entry.Status > 0 && r.Entry.Status < 400 && (isPerson && r.FromElsewhere() || target.IsFeed(r.Target))
	refused := uint64(0)
	for i, c := range t.list {
		c.harms = c.harms || frees && c.group != nil && target.Matches(c.group, r.Target)
		switch r.Rulings[i+1].Action {
		case judge.Ask: // see countPage
			c.Asks = true
			continue
		case judge.Pass:
			continue
		}
		refused |= 1 << i
		c.add(r.Sum, xxhash.Sum64String(r.Client))
		if d.Agent.Class == crawler.UserTriggered {
			c.tools++
		}
		c.harms = c.harms || isPerson || isSearch(d.Agent.Crawler) && d.Claim.State != claim.Impostor
	}
	if refused != 0 {
		sum := t.together[refused]
		sum.Add(r.Sum)
		t.together[refused] = sum
	}
}

// countPage counts a page by those that would have asked first whether the client is a browser.
func (t *trial) countPage(p *audit.Page) {
	if p.Asked&1 != 0 {
		return
	}
	for i, c := range t.list {
		if p.Asked>>(i+1)&1 == 0 {
			continue
		}
		if minute := p.At / int64(time.Minute); minute > c.minute {
			c.minute = minute
			c.minutes++
		}
		isFleet := p.Agent == t.fleet
		if isFleet {
			c.fleet++
		}
		if p.Lone || isFleet {
			c.add(p.Sum, p.Client)
		} else {
			c.others.Add(p.Client)
		}
	}
}

// isHarmless reports whether a candidate would have refused enough clients, none that it must not, and
// hardly any that fetch for people.
func (c *candidate) isHarmless() bool {
	return !c.harms && c.addresses.Count() >= minAddresses && toolShare*c.tools <= c.Requests
}

// chooseAsking returns the candidate that asks clients, nil if none is worth it: the first one that
// holds half of the requests that it is about, or else the one that holds most.
func (s *suggester) chooseAsking(list []*candidate) (chosen *candidate) {
	for _, c := range list {
		isWorthIt := c.Asks && c.isHarmless() && 4*c.fleet >= c.proposal.Fleet.Requests && (c.proposal.Small || c.Share >= propose.MinShare)
		if isWorthIt && (chosen == nil || 2*chosen.Requests < c.proposal.Estimate.Requests && c.Requests > chosen.Requests) {
			chosen = c
		}
	}
	return chosen
}

// choose returns the best of the candidates that refuse requests, a bit for each.
func (t *trial) choose() (taken uint64) {
	kinds := slices.Compact(slices.Sorted(slices.Values(words.Map(t.list, func(c *candidate) string { return c.Kind }))))
	for _, kind := range kinds {
		taken |= t.chooseOf(kind)
	}
	return taken
}

// chooseOf returns the best of the candidates of a kind, a bit for each: one after the other,
// as long as each saves enough that those before it do not, and at least a quarter of what
// it saves. The best one saves much with few requests, so that /*/*/blame/ is better than what
// has cheap pages too.
func (t *trial) chooseOf(kind string) (taken uint64) {
	for n := 0; ; n++ {
		best, most := -1, 0.0
		for i, c := range t.list {
			isFull := c.proposal.AtMost > 0 && n >= c.proposal.AtMost
			if taken>>i&1 == 1 || c.Kind != kind || c.Asks || isFull || !c.isHarmless() {
				continue
			}
			saved := t.more(i, taken)
			share := saved.Share(t.whole)
			worth := share * share / float64(max(saved.Requests, 1))
			if share >= propose.MinShare && worth > most && 4*share >= c.Share {
				best, most = i, worth
			}
		}
		if best < 0 {
			return taken
		}
		taken |= 1 << best
	}
}

// more returns what a candidate would have saved that those of a set would not.
func (t *trial) more(candidate int, than uint64) (sum cost.Sum) {
	for refused, n := range t.together {
		if refused>>candidate&1 == 1 && refused&than == 0 {
			sum.Add(n)
		}
	}
	return sum
}
