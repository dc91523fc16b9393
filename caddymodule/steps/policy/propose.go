package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// purposes are those that a policy is proposed for; the preset no-training denies the
// first one, with ai-data.
var purposes = []crawler.Purpose{crawler.AITraining, crawler.SEO, "data", "intelligence", "research", "plagiarism", "archive", "security"}

const (
	proposedDays = 3  // of log that a proposal takes
	maxNamed     = 20 // crawlers of one policy
)

// Propose implements propose.Proposer: a policy for each purpose, if the site has none. Its Why
// names the crawlers that cost much, if others of the purpose do not.
func (p *Policy) Propose(s *propose.Site) (list []propose.Proposal, err error) {
	switch {
	case p.isGiven():
		s.Note("The site has a policy already: no policy is suggested.")
		return nil, nil
	case len(s.Hosts) > 0:
		return nil, nil
	}
	all := slices.Clone(s.Crawlers)
	slices.SortStableFunc(all, func(a, b propose.Crawler) int { return cmp.Compare(b.Share(s.Whole), a.Share(s.Whole)) })
	for _, purpose := range purposes {
		one := propose.Proposal{Text: snippet.Deny(string(purpose)), Days: proposedDays}
		policy := managed.Policy{Deny: []managed.Statement{{Values: []string{string(purpose)}}}}
		if purpose == crawler.AITraining {
			one.Text, policy = "policy no-training", managed.Policy{Presets: []managed.Statement{{Values: []string{"no-training"}}}}
		}
		one.Step = &Policy{Policy: policy}
		var own, much []string
		for _, who := range all {
			row := who.Row
			switch {
			case !isNameable(row) || !row.CountsAs(purpose) && (purpose != crawler.AITraining || !row.CountsAs(crawler.AIData)):
				continue
			case s.File != nil && s.File.Named(row.Robots[0]) != nil:
				own = append(own, row.Name)
				continue
			case who.Share(s.Whole) >= propose.MinShare:
				much = append(much, snippet.Name(row.Name))
			}
			one.Estimate.Add(who.Sum)
			one.Crawlers = append(one.Crawlers, row.Name)
		}
		one.Why = "denies the site to crawlers of a purpose that these have: " + words.List(one.Crawlers, 3)
		if len(much) > 0 && len(much) < len(one.Crawlers) {
			one.Why += ". To deny only those that cost much, write: deny " + strings.Join(much[:min(len(much), maxNamed)], " ")
		}
		if len(own) > 0 {
			one.Why += ". It does not deny " + words.List(own, 3) + ", which robots.txt has a group for; to deny them too, add their names to deny"
		}
		one.Crawlers = one.Crawlers[:min(len(one.Crawlers), maxNamed)]
		list = append(list, one)
	}
	return list, nil
}

// isGiven reports whether the policy has statements.
func (p *Policy) isGiven() bool { return p.Publishes() || len(p.Hidden)+len(p.Allow)+len(p.Usage) > 0 }

// isNameable reports whether a policy may name the crawler.
// The others bring people to the site, or act for them.
func isNameable(row *crawler.Crawler) bool {
	return row != nil && row.Class == crawler.Registered && !row.ControlOnly && len(row.Robots) > 0 && len(row.Purposes) > 0 &&
		(row.Purposes[0] == crawler.AIData || slices.Contains(purposes, row.Purposes[0])) && !row.CountsAs(crawler.Search)
}
