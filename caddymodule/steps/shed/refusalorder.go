package shed

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// kind is a kind of robots.
type kind struct {
	name     string
	purposes []crawler.Purpose
}

// kinds is the order, from those that are refused first. The first one has all robots that
// belong to no other, the last one the purposes that bring people to the site.
var kinds = []kind{
	{"self-declared", nil},
	{"ai-*", []crawler.Purpose{crawler.AITraining, crawler.AIData, crawler.AISearch, crawler.AIUser, crawler.AIAgent}},
	{"seo", []crawler.Purpose{crawler.SEO, crawler.Intelligence, crawler.Data, crawler.Research, crawler.Plagiarism, crawler.Security}},
	{"archive", []crawler.Purpose{crawler.Archive}},
	{"preview", []crawler.Purpose{
		crawler.Preview, crawler.Social, crawler.Feed, crawler.ImageProxy, crawler.UserRequest, crawler.Monitor, crawler.Validator,
	}},
	{"search", []crawler.Purpose{crawler.Search, crawler.Ads, crawler.Shopping, crawler.Favicon}},
}

// Steps are the names of the steps, such as "ai-*", in the order in which their robots
// are refused.
var Steps = append(words.Map(kinds, func(k kind) string { return k.name }), "verified search engines")

// verifiedStep is the step of search engines that are verified, and claimStep the one of other
// clients with the name of one.
var verifiedStep, claimStep = len(kinds), len(kinds) - 1

// StepOf returns the index of the step of the client of a request that is let through. ok is
// false for clients that are never refused, such as people, and for requests that are no
// crawling.
func StepOf(q *judge.Request, d *judge.Decision) (step int, ok bool) {
	switch d.Reason {
	case judge.Person, judge.Exempt, judge.ExemptPath:
		return 0, false
	}
	switch d.Agent.Class {
	case crawler.SelfDeclared, crawler.Registered, crawler.Named, crawler.UserTriggered, crawler.Scraper:
	default:
		return 0, false
	}
	if d.Reason.Info().NoCrawling || q.IsNoCrawling(&d.Agent) {
		return 0, false
	}
	row := d.Agent.Crawler
	switch {
	case row == nil || d.Claim.State == claim.Impostor:
		return 0, true
	case row.CountsAs(crawler.Search):
		step = claimStep
	default:
		step = max(0, slices.IndexFunc(kinds, func(k kind) bool { return slices.Contains(k.purposes, row.Purpose()) }))
	}
	if step == claimStep && d.Claim.State == claim.Verified {
		step = verifiedStep
	}
	return step, true
}
