package suggest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The kinds of suggestions: the subdirectives that they are.
const policy, limit, challenge = "policy", "limit", "challenge"

// candidate is a change that may be suggested.
type candidate struct {
	audit.Suggestion
	estimate cost.Sum // at most what it saves
	targets  uint64   // see tally
	// One of these is the change.
	policy managed.Policy
	limit  *limits.Limit
	held   map[string]bool // the names of the robots that the limit would have held
}

// The conditions for suggestions.
const (
	minShare     = 0.02 // of the whole costs
	minDays      = 3    // of log
	minAddresses = 20
	sureDays     = 7
	sureFrom     = 100 // addresses
	maxNamed     = 20  // crawlers of one policy
	maxTried     = 24  // candidates that the engine judges
	keptPart     = 4   // a limit lets one of so many requests pass
)

// candidates returns the changes for which the log has enough evidence, the most
// promising first, at most maxTried.
func (s *suggester) candidates() (list []*candidate) {
	list = s.policies()
	for _, u := range s.units {
		list = append(list, s.limits(u)...)
	}
	list = slices.DeleteFunc(list, func(c *candidate) bool {
		return c.estimate.Share(s.whole) < minShare || c.Addresses < minAddresses
	})
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Compare(b.estimate.Share(s.whole), a.estimate.Share(s.whole))
	})
	list = slices.CompactFunc(list, func(a, b *candidate) bool { // other patterns for the same requests
		return a.Kind == b.Kind && a.estimate == b.estimate && a.targets == b.targets
	})
	return list[:min(len(list), maxTried)]
}

// purposes are those that a policy is suggested for; the policy no-training denies the
// first one, with ai-data.
var purposes = []crawler.Purpose{crawler.AITraining, crawler.SEO, "data", "intelligence", "research", "plagiarism", "archive", "security"}

// policies returns a policy for each purpose, if the site has none. Its Why names the
// crawlers that cost much, if others of the purpose do not.
func (s *suggester) policies() (list []*candidate) {
	if s.site.Rules.Edit != nil || len(s.Hosts) > 0 {
		return nil
	}
	for _, p := range purposes {
		c, sum := s.candidate(policy, snippet.Deny(string(p))), new(tally)
		if c.policy.Deny = []managed.Deny{{Crawlers: []string{string(p)}}}; p == crawler.AITraining {
			c.Text, c.policy = "policy no-training", managed.Policy{Presets: []managed.Preset{{Name: "no-training"}}}
		}
		var own, much []string
		for _, row := range s.costly(s.crawlers) {
			t := s.crawlers[row]
			switch {
			case !row.CountsAs(p) && (p != crawler.AITraining || !row.CountsAs(crawler.AIData)):
				continue
			case t.names(row):
				own = append(own, row.Name)
				continue
			case t.Share(s.whole) >= minShare:
				much = append(much, snippet.Name(row.Name))
			}
			sum.merge(t)
			c.Crawlers = append(c.Crawlers, row.Name)
		}
		c.Why = "denies the site to crawlers of a purpose that these have: " + words.List(c.Crawlers, 3)
		if len(much) > 0 && len(much) < len(c.Crawlers) {
			c.Why += ". To deny only those that cost much, write: deny " + strings.Join(much[:min(len(much), maxNamed)], " ")
		}
		if len(own) > 0 {
			c.Why += ". It does not deny " + words.List(own, 3) + ", which robots.txt has a group for; to deny them too, add their names to deny"
		}
		c.Crawlers = c.Crawlers[:min(len(c.Crawlers), maxNamed)]
		list = append(list, c.from(sum))
	}
	return list
}

// names reports whether robots.txt has a group for the crawler.
func (t *tally) names(row *crawler.Crawler) bool {
	return t.file != nil && t.file.Named(row.Robots[0]) != nil
}

// limits returns a limit that lets a quarter of the requests of robots pass.
func (s *suggester) limits(u *unit) (list []*candidate) {
	if u.free || len(s.site.Limits) >= limits.Max || slices.ContainsFunc(s.site.Limits, u.isIn) {
		return nil
	}
	rate := snippet.Rate(float64(u.robots.Requests) / s.period.Minutes() / keptPart)
	lines := []string{"all " + rate.String()}
	if len(s.Hosts) > 0 {
		lines = append(lines, "hosts "+strings.Join(s.Hosts, " "))
	}
	c := s.candidate(limit, snippet.Limit(u.patterns, lines...))
	c.held = u.held
	c.limit = &limits.Limit{Paths: u.patterns, All: rate.String(), Hosts: s.Hosts}
	c.Why = fmt.Sprintf("bounds what robots fetch of %s to a quarter of their pace. It holds no person and no search "+
		"engine, but feed readers and link previews",
		strings.Join(u.patterns, " "))
	return append(list, c.from(&u.robots))
}

// candidate returns a candidate without evidence.
func (s *suggester) candidate(kind, text string) *candidate {
	c := &candidate{Suggestion: audit.Suggestion{Kind: kind, Text: text, Crawlers: []string{}}}
	c.Sure = "medium"
	if s.period >= sureDays*24*time.Hour && s.whole.Seconds > 0 {
		c.Sure = "high"
	}
	return c
}

// from sets the evidence for a candidate.
func (c *candidate) from(t *tally) *candidate {
	c.Addresses, c.estimate, c.targets = len(t.addresses), t.Sum, t.targets
	if c.Addresses < sureFrom {
		c.Sure = "medium"
	}
	return c
}

// costly returns crawlers, the most expensive first.
func (s *suggester) costly(list map[*crawler.Crawler]*tally) []*crawler.Crawler {
	return slices.SortedFunc(maps.Keys(list), func(a, b *crawler.Crawler) int {
		return cmp.Or(cmp.Compare(list[b].Share(s.whole), list[a].Share(s.whole)), strings.Compare(a.Name, b.Name))
	})
}
