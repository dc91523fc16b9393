package suggest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Input is what suggestions are made from.
type Input struct {
	// Options are those of the audit. The logs must not be such as can be read only
	// once, and exactly one site must have a robots.txt.
	Options audit.Options
	// Report is the report of that audit. Add adds the suggestions to it.
	Report *audit.Report
	// Hosts are those that the log was read for, in lower case. Where the site's settings
	// are those of other hosts too, nothing that is suggested touches these.
	Hosts []string
}

// maxSuggestions is the largest number of suggestions besides that of challenge.
const maxSuggestions = 9

// suggester makes the suggestions for a site.
type suggester struct {
	*Input
	index  int        // of the site in Options.Sites
	whole  cost.Sum   // what all requests cost
	site   audit.Site // as it is now
	period time.Duration
}

// Add adds suggestions to the report. It reads the logs at most four times.
func Add(ctx context.Context, in *Input) error {
	s := &suggester{Input: in}
	s.findSite()
	r := in.Report
	r.Suggested = &audit.Suggested{Hosts: s.hosts(), Notes: []string{}}
	if r.Period.From != nil {
		s.period = r.Period.To.Sub(*r.Period.From)
	}
	if i := slices.IndexFunc(r.Findings, func(f audit.Finding) bool { return f.Code == "too_few" }); i >= 0 {
		s.note("%s", r.Findings[i].Text)
	}
	last, err := s.challenge(ctx)
	if err != nil {
		return err
	}
	defer func() { r.Suggestions = append(r.Suggestions, last...) }()
	if len(s.Hosts) > 0 {
		s.note("The block robots has other hosts too: only what can be written for %s alone is suggested. For a policy or challenge, "+
			"give it a block of its own.", words.List(s.Hosts, 5))
	}
	if s.period < minDays*24*time.Hour {
		s.note("%s of a log are not enough for a pace: only challenge can be suggested. From %d days on, limits and policies are, too.",
			words.Seconds(s.period.Seconds()), minDays)
		return nil
	}
	s.whole = r.Costs.All
	s.findConditions()
	chosen, err := s.judge(ctx, s.candidates())
	if err != nil {
		return err
	}
	r.Suggestions = append(r.Suggestions, words.Map(chosen, func(c *candidate) audit.Suggestion { return c.Suggestion })...)
	s.explain(chosen, last)
	if len(chosen) == 0 {
		return nil
	}
	all := s.candidate("", "")
	if _, err := s.try(ctx, []*candidate{all}, s.with(chosen...)); err != nil {
		return err
	}
	r.Suggested.Together = all.Saved
	return nil
}

func (s *suggester) note(format string, args ...any) {
	s.Report.Suggested.Notes = append(s.Report.Suggested.Notes, fmt.Sprintf(format, args...))
}

// findSite finds the site with a robots.txt.
func (s *suggester) findSite() {
	s.index = slices.IndexFunc(s.Options.Sites, func(site audit.Site) bool { return len(site.Robots) > 0 })
	s.site = s.Options.Sites[s.index]
	latest := slices.MaxFunc(s.site.Robots, func(a, b audit.Version) int { return a.From.Compare(b.From) })
	latest.From = time.Time{}
	s.site.Robots = []audit.Version{latest}
	isOne := func(host string) bool { return slices.Contains(s.Hosts, host) }
	if len(s.site.Hosts) > 0 && !slices.ContainsFunc(s.site.Hosts, func(host string) bool { return !isOne(host) }) {
		s.Hosts = nil // the site has no others
	}
}

// hosts returns the hosts of the site: those of its settings, or the one with most
// requests.
func (s *suggester) hosts() []string {
	list := slices.Clone(s.site.Hosts)
	if len(list) == 0 && len(s.Report.Hosts) > 0 && !s.Report.Hosts[0].Rest {
		list = append(list, s.Report.Hosts[0].Name)
	}
	list = slices.DeleteFunc(list, func(host string) bool { // with characters that mean something else in a Caddyfile
		return host == "" || strings.Trim(host, "*abcdefghijklmnopqrstuvwxyz0123456789-.") != ""
	})
	return append([]string{}, list...)
}

// findConditions finds out which kinds of changes can be suggested.
func (s *suggester) findConditions() {
	s.Report.Suggested.Whole = s.whole
	if s.site.Rules.Edit != nil {
		s.note("The site has a policy already: no policy is suggested.")
	}
	if len(s.site.Limits) > 0 {
		s.note("The site has limits already: no other limit is suggested for their paths.")
	}
	if s.whole.Seconds == 0 {
		s.note("The log does not have the durations of requests: costs are requests and octets.")
	}
}

// with returns the site with changes.
func (s *suggester) with(changes ...*candidate) audit.Site {
	site := s.site
	site.Rules.ID = "" // other settings
	var all managed.Policy
	held := slices.Clone(site.Limits)
	for _, c := range changes {
		all.Presets = append(all.Presets, c.policy.Presets...)
		all.Deny = append(all.Deny, c.policy.Deny...)
		if c.limit != nil && len(held) < limits.Max {
			held = append(held, *c.limit)
		}
	}
	if len(all.Presets)+len(all.Deny) > 0 {
		site.Rules.Edit = all.Additions
	}
	site.Limits = held
	return site
}

// trial says what several candidates would have done.
type trial struct {
	list  []*candidate
	whole cost.Sum // what all requests to the site cost
	// together has the requests by the candidates that would have refused them, a bit for
	// each.
	together map[uint64]cost.Sum
}

// try replays the log with a version of the site for each of the candidates, at most 63, and
// sets what each would have saved.
func (s *suggester) try(ctx context.Context, list []*candidate, versions ...audit.Site) (*trial, error) {
	t := &trial{list: list, together: make(map[uint64]cost.Sum)}
	if err := audit.Replay(ctx, s.Options, s.index, append([]audit.Site{s.site}, versions...), t.count); err != nil {
		return nil, err
	}
	for _, c := range list {
		c.Share = c.Sum.Share(t.whole)
	}
	return t, nil
}

// count counts a request by the decisions on it, first that without a change.
func (t *trial) count(r *audit.Judged) {
	t.whole.Add(r.Sum)
	d := &r.Rulings[0]
	if d.Action != judge.Pass {
		return
	}
	isPerson := d.Agent.Class == crawler.Person
	frees := r.Status > 0 && r.Status < 400 && (isPerson && isFromElsewhere(r) || target.IsFeed(r.Target))
	refused := uint64(0)
	for i, c := range t.list {
		c.free = c.free || frees && c.unit != nil && target.Matches(c.group, r.Target)
		if r.Rulings[i+1].Action == judge.Pass {
			continue
		}
		refused |= 1 << i
		c.Saved.Add(r.Sum)
		if len(c.addresses) < maxAddresses {
			c.addresses[xxhash.Sum64String(r.Client)] = struct{}{}
		}
		if isSearch(d.Agent.Crawler) && d.Claim.State != claim.Impostor {
			c.SearchEngines++
		}
		if isPerson {
			c.People++
		}
	}
	if refused != 0 {
		sum := t.together[refused]
		sum.Add(r.Sum)
		t.together[refused] = sum
	}
}

// judge replays the log with each candidate, and returns those that are worth it, the
// best first.
func (s *suggester) judge(ctx context.Context, list []*candidate) (chosen []*candidate, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	t, err := s.try(ctx, list, words.Map(list, func(c *candidate) audit.Site { return s.with(c) })...)
	if err != nil {
		return nil, err
	}
	s.whole, s.Report.Suggested.Whole = t.whole, t.whole
	taken := t.choose(policy, len(list)) | t.choose(limit, limits.Max-len(s.site.Limits))
	for i, c := range list {
		if taken>>i&1 == 1 {
			c.Addresses, c.Sure = len(c.addresses), "medium"
			if s.isSure(c) {
				c.Sure = "high"
			}
			chosen = append(chosen, c)
		}
	}
	slices.SortStableFunc(chosen, func(a, b *candidate) int { return cmp.Compare(b.Share, a.Share) })
	return chosen[:min(len(chosen), maxSuggestions)], nil
}

// choose returns the best of the candidates of a kind, a bit for each: one after the other,
// as long as each saves enough that those before it do not, and at least a quarter of what
// it saves. The best one saves much with few requests, so that /*/*/blame/ is better than what
// has cheap pages too.
func (t *trial) choose(kind string, atMost int) (taken uint64) {
	for range atMost {
		best, most := -1, 0.0
		for i, c := range t.list {
			if taken>>i&1 == 1 || c.Kind != kind || c.SearchEngines+c.People > 0 || c.free || len(c.addresses) < minAddresses {
				continue
			}
			saved := t.more(i, taken)
			share := saved.Share(t.whole)
			worth := share * share / float64(max(saved.Requests, 1))
			if share >= minShare && worth > most && 4*share >= c.Share {
				best, most = i, worth
			}
		}
		if best < 0 {
			break
		}
		taken |= 1 << best
	}
	return taken
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
