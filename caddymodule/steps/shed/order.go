package shed

import (
	"math/rand/v2"
	"net/http"
	"slices"

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

// isProtected reports whether crawlers with this main purpose lose only few
// requests: those that bring people to the site.
func isProtected(p crawler.Purpose) bool { return slices.Contains(kinds[len(kinds)-1].purposes, p) }

// Rank is the place of a robot among the Steps.
type Rank struct {
	Step     int    // index of Steps
	Engine   string // the name of a protected crawler, such as a search engine; otherwise ""
	Verified bool   // Engine is verified
	Client   uint64 // the client that is not, as a hash of its address
}

// clientSeed is a random seed, so that clients can't choose addresses that displace a
// certain one.
var clientSeed = throttle.Key{rand.Uint64(), rand.Uint64()}

// clientOf returns a hash of the address of a client.
func clientOf(q *judge.Request) uint64 { return clientSeed.Client(q.Addr())[0] }

// RankOf returns the place of the client of a request that is let through. ok is false
// for clients that are never refused, such as people, and for requests that are no
// crawling.
func RankOf(q *judge.Request, d *judge.Decision) (r Rank, ok bool) {
	switch d.Reason {
	case judge.Person, judge.Exempt, judge.ExemptPath:
		return r, false
	}
	if d.Reason.Info().NoCrawling {
		return r, false
	}
	switch d.Agent.Class {
	case crawler.SelfDeclared:
		if q.Authorized || q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch ||
			q.Method == http.MethodDelete {
			return r, false
		}
	case crawler.Registered, crawler.Named, crawler.UserTriggered, crawler.Scraper:
	default:
		return r, false
	}
	row := d.Agent.Crawler
	if row == nil || d.Claim.State == claim.Impostor {
		return Rank{}, true
	}
	main := row.Purpose()
	if row.CountsAs(crawler.Search) {
		main = crawler.Search
	}
	if isProtected(main) {
		r = Rank{Engine: row.Name, Verified: d.Claim.State == claim.Verified}
		if r.Verified {
			r.Step = len(Steps) - 1
		} else {
			r.Step, r.Client = stepOf[main], clientOf(q)
		}
		return r, true
	}
	r.Step = len(Steps)
	for _, p := range row.Purposes {
		if step, ok := stepOf[p]; ok {
			r.Step = min(r.Step, step)
		}
	}
	if r.Step == len(Steps) {
		r.Step = 0
	}
	return r, true
}
