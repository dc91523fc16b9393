package suggest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// candidate is a change that may be suggested.
type candidate struct {
	audit.Suggestion
	proposal propose.Proposal
	group    *robots.Group // of proposal.Paths; nil without

	// What the replay finds: the addresses whose requests it would have refused, and whether it would
	// have refused requests of search engines or people, or its paths have feeds, or people come to
	// them from other sites. Then it is not suggested.
	addresses audit.Distinct
	harms     bool
	tools     int64 // requests of feed readers and link previews that it would have refused
	// If it asks: the pages of a fleet, the other addresses, and the minutes in which it does.
	fleet   int64
	others  audit.Distinct
	minutes int64
	minute  int64 // the latest, since 1970
}

// The conditions for suggestions.
const (
	minAddresses = 20
	toolShare    = 10 // 1/toolShare of the refused requests may be those of feed readers and link previews
	maxTried     = 24 // candidates that the engine judges
)

// candidates returns the changes that may save enough, the most promising first, at most
// maxTried.
func (s *suggester) candidates() (list []*candidate, err error) {
	var short []string
	days := 0
	for _, name := range step.Names(false) {
		one := step.New(name)
		if i := slices.IndexFunc(s.Steps, func(s step.Step) bool { return nameOf(s) == name }); i >= 0 {
			one = s.Steps[i]
		}
		proposer, ok := one.(propose.Proposer)
		if !ok {
			continue
		}
		proposals, err := proposer.Propose(&s.about)
		if err != nil {
			return nil, err
		}
		for _, p := range proposals {
			switch {
			case !p.Small && p.Estimate.Share(s.about.Whole) < propose.MinShare:
			case s.about.Period >= time.Duration(p.Days)*24*time.Hour:
				list = append(list, newCandidate(p))
			case !slices.Contains(short, name):
				short, days = append(short, name), max(days, p.Days)
			}
		}
	}
	s.isShort = len(short) > 0
	if s.isShort {
		for i, name := range short {
			if slices.ContainsFunc(list, func(c *candidate) bool { return c.Kind == name }) {
				short[i] = "another " + name
			}
		}
		s.about.Note("%s of a log are not enough to suggest %s, because the pace of robots varies with the day: %d days are.",
			words.Seconds(s.about.Period.Seconds()), strings.Join(short, " or "), days)
	}
	if len(s.Hosts) > 0 {
		s.about.Note("The block robots has other hosts too: only what can be written for %s alone is suggested. For more, "+
			"give it a block of its own.", words.List(s.Hosts, 5))
	}
	if untimed := s.Report.Costs.Untimed(); untimed != "" {
		s.about.Note("%s", untimed)
	}
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Compare(b.proposal.Estimate.Share(s.about.Whole), a.proposal.Estimate.Share(s.about.Whole))
	})
	return list[:min(len(list), maxTried)], nil
}

func newCandidate(p propose.Proposal) *candidate {
	c := &candidate{proposal: p}
	c.Suggestion = audit.Suggestion{Kind: nameOf(p.Step), Once: !p.Step.Info().Repeatable, Text: p.Text, Why: p.Why, Crawlers: append([]string{}, p.Crawlers...)}
	if len(p.Paths) > 0 {
		c.group = target.Group(p.Paths...)
	}
	return c
}

// add adds a request that the candidate would have refused.
func (c *candidate) add(sum cost.Sum, client uint64) {
	c.Saved.Add(sum)
	c.addresses.Add(client)
}

// isAbout reports whether a change would refuse requests of a crawler.
func (c *candidate) isAbout(who *audit.Crawler) bool {
	return slices.Contains(c.Crawlers, who.Name) || slices.Contains(c.proposal.Held, who.Name)
}

// complete says what the replay found.
func (c *candidate) complete() {
	c.Addresses = min(c.addresses.Count(), c.Requests)
	if c.tools > 0 {
		c.Why += ". It would have refused " + words.Plural(c.tools, "request", "requests") + " of feed readers and link previews"
	}
	if c.Asks {
		c.Asked = c.others.Count()
		c.Why += ": in " + words.Seconds(float64(60*c.minutes)) + " of this log. It would have asked " +
			words.Plural(c.Asked, "other address", "other addresses") + " once"
	}
}

// nameOf returns the name of a step.
func nameOf(s step.Step) string { return s.CaddyModule().ID.Name() }
