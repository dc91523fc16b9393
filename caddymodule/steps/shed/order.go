package shed

import (
	"math/rand/v2"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Names of steps.
const (
	selfDeclared = "self-declared" // also all robots that belong to no other step: the first step
	verified     = "verified search engines"
)

// kinds is the default order, from those that are refused first. The last one has
// the purposes that bring people to the site.
var kinds = []struct {
	name     string
	purposes []crawler.Purpose
}{
	{selfDeclared, nil},
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
var Steps, stepOf = func() (names []string, steps map[crawler.Purpose]int) {
	steps = make(map[crawler.Purpose]int)
	for i, k := range kinds {
		for _, p := range k.purposes {
			steps[p] = i
		}
		names = append(names, k.name)
	}
	return append(names, verified), steps
}()

// Rank is the place of a robot among the Steps.
type Rank struct {
	Step     int    // index of Steps
	Engine   uint64 // of the last kind: a hash of the name if it is Verified, otherwise of the address; 0 for others
	Verified bool
}

// clientSeed is a random seed, so that clients can't choose addresses that displace a
// certain one.
var clientSeed = throttle.Key{rand.Uint64(), rand.Uint64()}

// RankOf returns the place of the client of a request that is let through. ok is false
// for clients that are never refused, such as people, and for requests that are no
// crawling.
func RankOf(q *judge.Request, d *judge.Decision) (r Rank, ok bool) {
	switch d.Reason {
	case judge.Person, judge.Exempt, judge.ExemptPath:
		return r, false
	}
	switch d.Agent.Class {
	case crawler.SelfDeclared, crawler.Registered, crawler.Named, crawler.UserTriggered, crawler.Scraper:
	default:
		return r, false
	}
	if d.Reason.Info().NoCrawling || q.IsNoCrawling(&d.Agent) {
		return r, false
	}
	row := d.Agent.Crawler
	if row == nil || d.Claim.State == claim.Impostor {
		return r, true
	}
	main := row.Purpose()
	if row.CountsAs(crawler.Search) {
		main = crawler.Search
	}
	r.Step = stepOf[main]
	switch {
	case r.Step < len(kinds)-1:
	case d.Claim.State == claim.Verified:
		r.Step++
		r.Verified = true
		r.Engine, _ = judge.Origin{}.Hash(0, row.Name)
	default:
		r.Engine = clientSeed.Client(q.Addr())[0]
	}
	return r, true
}
