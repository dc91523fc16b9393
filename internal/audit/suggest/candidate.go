package suggest

import (
	"cmp"
	"fmt"
	"net/http"
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
	"github.com/caddy-robots/caddy-robots/robots"
)

// The kinds of suggestions: the subdirectives that they are.
const policy, limit, challenge = "policy", "limit", "challenge"

// candidate is a change that may be suggested.
type candidate struct {
	audit.Suggestion
	estimate cost.Sum // of the requests that it is about
	// One of these is the change.
	policy managed.Policy
	limit  *limits.Limit
	*unit  // that the limit is for; nil for a policy

	// What the replay finds: hashes of the addresses whose requests it would have refused, at
	// most maxAddresses, and whether a limit's paths have feeds, or people come to them from
	// other sites. Then it is not suggested.
	addresses map[uint64]struct{}
	free      bool
}

// maxAddresses is the largest number of addresses that are told apart.
const maxAddresses = 1000

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

// candidates returns the changes that may save enough, the most promising first, at most
// maxTried.
func (s *suggester) candidates() (list []*candidate) {
	list = s.policies()
	if len(s.site.Limits) < limits.Max {
		for _, u := range units(s.Report) {
			if !slices.ContainsFunc(s.site.Limits, u.isIn) {
				list = append(list, s.limitTo(u))
			}
		}
	}
	list = slices.DeleteFunc(list, func(c *candidate) bool { return c.estimate.Share(s.whole) < minShare })
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Compare(b.estimate.Share(s.whole), a.estimate.Share(s.whole))
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
	var file *robots.File
	if r := s.site.Robots[0].Response; r.Status == http.StatusOK {
		file = robots.Parse(r.Body)
	}
	all := slices.Clone(s.Report.Crawlers)
	slices.SortStableFunc(all, func(a, b *audit.Crawler) int { return cmp.Compare(b.Share(s.whole), a.Share(s.whole)) })
	for _, p := range purposes {
		c := s.candidate(policy, snippet.Deny(string(p)))
		c.policy.Deny = []managed.Statement{{Values: []string{string(p)}}}
		if p == crawler.AITraining {
			c.Text, c.policy = "policy no-training", managed.Policy{Presets: []managed.Statement{{Values: []string{"no-training"}}}}
		}
		var own, much []string
		for _, who := range all {
			row := who.Row()
			switch {
			case !isNameable(row) || !row.CountsAs(p) && (p != crawler.AITraining || !row.CountsAs(crawler.AIData)):
				continue
			case file != nil && file.Named(row.Robots[0]) != nil:
				own = append(own, row.Name)
				continue
			case who.Share(s.whole) >= minShare:
				much = append(much, snippet.Name(row.Name))
			}
			c.estimate.Add(who.Sum)
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
		list = append(list, c)
	}
	return list
}

// limitTo returns a limit that lets a quarter of the requests of robots pass.
func (s *suggester) limitTo(u *unit) *candidate {
	rate := snippet.Rate(float64(u.robots.Requests) / s.period.Minutes() / keptPart)
	lines := []string{"all " + rate.String()}
	if len(s.Hosts) > 0 {
		lines = append(lines, "hosts "+strings.Join(s.Hosts, " "))
	}
	c := s.candidate(limit, snippet.Limit(u.patterns, lines...))
	c.unit, c.estimate = u, u.robots
	c.limit = &limits.Limit{Paths: u.patterns, All: rate.String(), Hosts: s.Hosts}
	c.Why = fmt.Sprintf("bounds what robots fetch of %s to a quarter of their pace. It holds no person and no search "+
		"engine, but feed readers and link previews", strings.Join(u.patterns, " "))
	return c
}

// candidate returns a candidate without evidence.
func (s *suggester) candidate(kind, text string) *candidate {
	return &candidate{Suggestion: audit.Suggestion{Kind: kind, Text: text, Crawlers: []string{}}, addresses: make(map[uint64]struct{})}
}

// isSure reports whether the evidence for a candidate is large.
func (s *suggester) isSure(c *candidate) bool {
	return s.period >= sureDays*24*time.Hour && s.whole.Seconds > 0 && len(c.addresses) >= sureFrom
}
